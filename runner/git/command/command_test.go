package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

func TestMain(m *testing.M) { os.Exit(world.GitMain(m)) }

// repository has one commit of a.txt, which every filter driver named "agent" applies to.
// The drivers of a test leave marks.
func repository(t *testing.T) world.Folder {
	t.Helper()
	p := world.Folder{TB: t, Dir: t.TempDir()}
	p.Git("init", "-q")
	p.Write(".gitattributes", "*.txt filter=agent\n")
	p.Write("a.txt", "a\n")
	p.Commit("first")
	p.Write("a.txt", "b\n") // else git does not read it again
	return p
}

// status runs the clean filters of changed files.
func status(ctx context.Context, p world.Folder) {
	p.Helper()
	p.Write("a.txt", p.Read("a.txt")+"more\n")
	_, err := Run(ctx, p.Dir, "hash-object", "a.txt")
	p.Do(err)
	_, err = Run(ctx, p.Dir, "status", "--porcelain")
	p.Do(err)
}

func trust(p world.Folder) context.Context {
	p.Helper()
	t, err := NewTrust(context.Background(), p.Dir, slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "VENDOR_") }))
	p.Do(err)
	return With(context.Background(), t)
}

func TestRun_driverSetAfterTheTrust_doesNotRun(t *testing.T) {
	for _, kind := range []string{"clean", "process"} {
		for _, how := range []string{"local", "global", "included", "worktree"} {
			t.Run(kind+" "+how, func(t *testing.T) {
				p := repository(t)
				home := t.TempDir()
				t.Setenv("GIT_CONFIG_GLOBAL", home+"/gitconfig")
				ctx := trust(p)
				status(ctx, p)
				command := "touch " + p.Path("mark") + "; cat"
				switch how {
				case "local":
					p.Git("config", "filter.agent."+kind, command)
					p.Git("config", "filter.agent.required", "true")
				case "global":
					p.Git("config", "--global", "filter.agent."+kind, command)
				case "included":
					p.Git("config", "include.path", home+"/more")
					status(ctx, p)
					p.Git("config", "--file", home+"/more", "filter.agent."+kind, command)
				case "worktree":
					p.Git("config", "extensions.worktreeConfig", "true")
					p.Git("config", "--worktree", "filter.agent."+kind, command)
				}
				status(ctx, p)
				if p.Read("mark") != "" || exists(p.Path("mark")) {
					t.Error("the driver ran")
				}
			})
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestRun_trustedDriver_runsAsItWasSet(t *testing.T) {
	p := repository(t)
	p.Git("config", "filter.agent.clean", "touch "+p.Path("good")+"; cat")
	ctx := trust(p)
	status(ctx, p)
	if !exists(p.Path("good")) {
		t.Fatal("it did not run")
	}
	p.Do(os.Remove(p.Path("good")))
	p.Git("config", "filter.agent.clean", "touch "+p.Path("bad")+"; cat")
	status(ctx, p)
	if exists(p.Path("bad")) || !exists(p.Path("good")) {
		t.Error("the changed driver ran, or the trusted one did not")
	}
	p.Git("config", "filter.agent.process", "touch "+p.Path("bad"))
	if _, err := Run(ctx, p.Dir, "hash-object", "a.txt"); err == nil || exists(p.Path("bad")) {
		t.Errorf("git reads the file without the trusted driver: %v", err)
	}
}

func TestRun_withoutTrust_runsOnlyDriversFromOutside(t *testing.T) {
	p := repository(t)
	t.Setenv("GIT_CONFIG_GLOBAL", t.TempDir()+"/gitconfig")
	p.Git("config", "--global", "filter.agent.clean", "touch "+p.Path("user")+"; cat")
	status(context.Background(), p)
	if !exists(p.Path("user")) {
		t.Error("the user's own driver did not run")
	}
	p.Git("config", "filter.agent.clean", "touch "+p.Path("local")+"; cat")
	status(context.Background(), p)
	if exists(p.Path("local")) {
		t.Error("the repository's driver ran")
	}
}

func TestRun_submoduleOfTheAgent_runsNothing(t *testing.T) {
	p := repository(t)
	ctx := trust(p)
	p.Write("sub/.gitattributes", "* filter=agent\n")
	sub := p.In(p.Path("sub"))
	sub.Git("init", "-q")
	sub.Write("x", "x\n")
	sub.Commit("sub")
	sub.Git("config", "filter.agent.clean", "touch "+p.Path("mark")+"; cat")
	p.Git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
	sub.Write("x", "changed\n")
	_, err := Run(ctx, p.Dir, append([]string{"status", "--porcelain=v2"}, Submodules(ctx, p.Dir)...)...)
	p.Do(err)
	if exists(p.Path("mark")) {
		t.Error("the driver ran")
	}
}

func TestRun_programGetsNoSecrets(t *testing.T) {
	t.Setenv("VENDOR_API_KEY", "secret")
	t.Setenv("MY_SETTING", "kept")
	p := repository(t)
	p.Git("config", "filter.agent.clean", "env > "+p.Path("env")+"; cat")
	status(trust(p), p)
	if env := p.Read("env"); strings.Contains(env, "VENDOR_API_KEY") || !strings.Contains(env, "MY_SETTING=kept") {
		t.Errorf("it gets %s", env)
	}
}

func TestRun_otherProgramsInTheSettings_doNotRun(t *testing.T) {
	p := repository(t)
	ctx := trust(p)
	touch := "touch " + p.Path("mark") + ";"
	p.Write(".gitattributes", "*.txt diff=agent\n")
	p.Write("program", "#!/bin/sh\n"+touch+"\n")
	p.Do(os.Chmod(p.Path("program"), 0o755))
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.agent.textconv", "diff.agent.command", "gpg.program", "core.pager"} {
		p.Git("config", key, p.Path("program"))
	}
	p.Git("config", "log.showSignature", "true")
	p.Git("config", "commit.gpgSign", "true")
	p.Write(".git/hooks/post-index-change", "#!/bin/sh\n"+touch+"\n")
	p.Do(os.Chmod(p.Path(".git/hooks/post-index-change"), 0o755))
	tree, err := Run(ctx, p.Dir, "rev-parse", "HEAD^{tree}")
	p.Do(err)
	for _, args := range [][]string{
		{"status", "--porcelain=v2"}, {"log", "-z", "--format=%H%n%B"}, {"update-index", "--refresh", "-q"},
		{"diff", "--no-ext-diff", "--no-textconv", "HEAD"}, {"commit-tree", "-m", "x", strings.TrimSpace(tree)}} {
		_, _ = Run(ctx, p.Dir, args...) // refresh says that a file differs
		if exists(p.Path("mark")) {
			t.Fatalf("git %q ran it", args)
		}
	}
}

func TestRun_missingObject_isNotFetched(t *testing.T) {
	p := repository(t)
	p.Git("config", "extensions.partialClone", "origin")
	p.Git("config", "remote.origin.url", "ext::touch "+p.Path("mark"))
	p.Git("config", "remote.origin.promisor", "true")
	p.Git("config", "protocol.ext.allow", "always")
	if _, err := Run(trust(p), p.Dir, "cat-file", "-p", strings.Repeat("1", 40)); err == nil || exists(p.Path("mark")) {
		t.Errorf("git asked a server: %v", err)
	}
}

// A lock that a killed git leaves keeps everybody from deleting branches.
func TestRun_cut_leavesNoLock(t *testing.T) {
	world.Long(t, "commands that are cut")
	p := repository(t)
	oid := strings.TrimSpace(p.Git("rev-parse", "HEAD"))
	var refs, deletions strings.Builder
	for n := range 2_000 {
		fmt.Fprintf(&refs, "%s refs/heads/b%d\n", oid, n)
		if n%10 == 0 {
			fmt.Fprintf(&deletions, "delete refs/heads/b%d\n", n)
		}
	}
	p.Write(".git/packed-refs", "# pack-refs with: peeled fully-peeled \n"+refs.String())
	for n := range 12 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n)*2*time.Millisecond)
		_, err := (Call{Dir: p.Dir, Stdin: deletions.String()}).Run(ctx, "update-ref", "--stdin")
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		locks, _ := filepath.Glob(p.Path(".git/*.lock"))
		more, _ := filepath.Glob(p.Path(".git/refs/heads/*.lock"))
		if all := append(locks, more...); len(all) > 0 {
			t.Fatalf("call %d left %d locks, such as %s", n, len(all), all[0])
		}
	}
	if left := strings.Count(p.Git("for-each-ref", "refs/heads/b*"), "\n"); left > 1_800 {
		t.Errorf("%d branches are left", left)
	}
}

// What git has started may ignore the request to end.
func TestRun_cut_leavesNoProcess(t *testing.T) {
	p := repository(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	script := "!trap '' TERM; echo $$ >" + p.Path("pid") + "; while :; do sleep 1; done"
	_, _ = Run(ctx, p.Dir, "-c", "alias.stubborn="+script, "stubborn")
	pid, err := strconv.Atoi(strings.TrimSpace(p.Read("pid")))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) { // polling
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d is left", pid)
		}
	}
}

// A killed ralph leaves what must finish with all of its input: with a part of it, HEAD moved and the index did not.
func TestRun_mustFinish_hasItsWholeInputFromTheStart(t *testing.T) {
	t.Parallel()
	p := repository(t)
	text := strings.Repeat("an entry\n", 100_000) // more than a pipe holds
	out, err := Call{Dir: p.Dir, Script: "test -f /dev/stdin && wc -c", Stdin: text}.Run(t.Context(), "x")
	if err != nil || strings.TrimSpace(out) != strconv.Itoa(len(text)) {
		t.Errorf("%q, %v", out, err)
	}
}
