package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (p project) wantOut(want string, args ...string) {
	p.Helper()
	if d := cmp.Diff(want, p.Git(args...)); d != "" {
		p.Errorf("git %v: %s", args, d)
	}
}

func (p project) commitFiles(files ...string) Committed {
	p.Helper()
	c, err := Commit(context.Background(), p.Dir, CommitRequest{Files: files, Message: "work"})
	p.Do(err)
	return c
}

func TestCommit_leftOver_takesOnlyWhatTheUserHadNotTouched(t *testing.T) {
	p := newProject(t) // b.txt is changed, dirty.txt untracked
	p.Write("staged.txt", "staged\n")
	p.Git("add", "staged.txt")
	start := p.observe()

	p.Write("a.txt", "a changed\n")
	p.Write("b.txt", "b changed further\n")
	p.Write("new dir/ünï \"q\".txt", "new\n")
	p.Do(os.Remove(p.Path("sub/c.txt")))
	p.Write("sub/d.txt", "d\n")
	files := UserFiles{Files: start.Changes()}.LeftOver(p.observe().Changes())
	if d := cmp.Diff([]string{"a.txt", "new dir/ünï \"q\".txt", "sub/c.txt", "sub/d.txt"}, files); d != "" {
		t.Fatal(d)
	}
	c, err := Commit(context.Background(), p.Path("sub"), CommitRequest{Files: files, Message: "ralph: T3 login",
		Trailers: []Trailer{{"Ralph-Task", "T3"}, {"Ralph-Iteration", "7"}}})
	p.Do(err)
	p.wantOut(c.OID, "rev-parse", "HEAD")
	p.wantOut("ralph: T3 login\n\nRalph-Task: T3\nRalph-Iteration: 7", "log", "-1", "--format=%B")
	p.wantOut("M\x00a.txt\x00A\x00new dir/ünï \"q\".txt\x00D\x00sub/c.txt\x00A\x00sub/d.txt\x00", "show", "--format=", "--name-status", "-z", "--no-renames")
	p.wantOut(" M b.txt\nA  staged.txt\n?? dirty.txt", "status", "--porcelain")
}

// A file that changes twice within the second in which git has looked at it, without a
// change of its size, is one that git compares by content: it goes by the time of the
// index.
func TestCommit_changedWithinTheSecondOfTheIndex_isInTheIndexToo(t *testing.T) {
	p := newProject(t)
	p.Git("config", "core.trustctime", "false") // a test cannot set it
	second := time.Now().Truncate(time.Second).Add(-time.Hour)
	at := func(name string, ms int) {
		moment := second.Add(time.Duration(ms) * time.Millisecond)
		p.Do(os.Chtimes(p.Path(name), moment, moment))
	}
	p.Write("plan.md", "- [ ] one\n")
	at("plan.md", 100)
	p.Git("add", "plan.md")
	p.Git("commit", "-qm", "plan")
	at(".git/index", 200)
	p.Write("plan.md", "- [x] one\n")
	at("plan.md", 300)
	p.commitFiles("plan.md")
	p.wantOut("", "status", "--porcelain", "plan.md")
}

func TestCommit_otherStagedEntries_stayStaged(t *testing.T) {
	p := newProject(t)
	p.Write("staged.txt", "staged\n")
	p.Git("add", "staged.txt", "b.txt")
	p.Write("a.txt", "a changed\n")
	p.commitFiles("a.txt")
	p.wantOut("M  b.txt\nA  staged.txt\n?? dirty.txt", "status", "--porcelain")
	p.wantOut("a.txt", "show", "--format=", "--name-only")
	p.Git("commit", "-q", "-m", "the user's")
	p.wantOut("b.txt\nstaged.txt", "show", "--format=", "--name-only")
}

func TestCommit_fileMarkedAsUnchanged_isCommitted(t *testing.T) {
	for _, mark := range []string{"--assume-unchanged", "--skip-worktree"} {
		p := newProject(t)
		p.Git("update-index", mark, "a.txt")
		p.Write("a.txt", "a changed\n")
		p.Write("b.txt", "b changed\n")
		p.commitFiles("a.txt", "b.txt")
		p.wantOut("a changed", "show", "HEAD:a.txt")
		p.wantOut("a.txt\nb.txt", "show", "--format=", "--name-only")
	}
}

func TestWithCommit_isWhatALookAfterTheCommitSees(t *testing.T) {
	p := newProject(t)
	p.Write("a.txt", "a changed\n")
	p.Write("new/c.txt", "c\n")
	p.Write("stays.txt", "stays\n")
	before := p.observe()
	refs, err := LookAtRefs(t.Context(), p.Dir, before)
	p.Do(err)
	c := p.commitFiles("a.txt", "new/c.txt")
	after, now := before.WithCommit(c), p.observe()
	if !reflect.DeepEqual(after, now) {
		t.Errorf("got %+v, want %+v", after, now)
	}
	want, err := LookAtRefs(t.Context(), p.Dir, now)
	p.Do(err)
	if got := refs.WithCommit(c.OID); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCommit_nothingChanged_makesNoCommit(t *testing.T) {
	p := newProject(t)
	head := p.Git("rev-parse", "HEAD")
	if c := p.commitFiles("a.txt", "never-was.txt"); c.OID != "" || c.Files != nil {
		t.Errorf("%+v", c)
	}
	p.wantOut(head, "rev-parse", "HEAD")
	if _, err := os.Stat(p.Path(".git/index.lock")); err == nil {
		t.Error("the lock is left")
	}
}

func TestCommit_firstOfARepository(t *testing.T) {
	p := newFolder(t)
	p.Git("init", "-q")
	p.Write("a.txt", "a\n")
	p.Write("b.txt", "b\n")
	p.commitFiles("a.txt")
	p.wantOut("?? b.txt", "status", "--porcelain")
	p.wantOut("1", "rev-list", "--count", "main")
}

func TestCommit_hooksAndSigningConfigured_neitherRuns(t *testing.T) {
	p := newProject(t)
	p.Git("config", "commit.gpgSign", "true")
	p.Git("config", "gpg.program", "/bin/false")
	for _, name := range []string{"pre-commit", "commit-msg", "post-commit", "post-index-change"} {
		p.Do(os.WriteFile(p.Path(".git/hooks/"+name), []byte("#!/bin/sh\ntouch hook-ran\nexit 1\n"), 0o755))
	}
	p.Write("a.txt", "x\n")
	p.commitFiles("a.txt")
	if _, err := os.Stat(p.Path("hook-ran")); err == nil {
		t.Error("a hook ran")
	}
}

func TestCommit_noIdentity_isRalphs(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "") // restored after the test
		p.Do(os.Unsetenv(name))
	}
	p.Git("config", "user.useConfigOnly", "true")
	p.Write("a.txt", "x\n")
	p.commitFiles("a.txt")
	p.wantOut("ralph <ralph@localhost>", "log", "-1", "--format=%cn <%ce>")
	p.Git("config", "user.name", "Ann")
	p.Git("config", "user.email", "ann@example.org")
	p.Write("a.txt", "y\n")
	p.commitFiles("a.txt")
	p.wantOut("Ann <ann@example.org>", "log", "-1", "--format=%an <%ae>")
}

func TestCommit_impossible_changesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(p project)
		want string
	}{
		"index locked": {func(p project) { p.Write(".git/index.lock", "") }, "index.lock"},
		"merge":        {func(p project) { p.conflict("merge", "other") }, "a merge is in progress"},
		"rebase":       {func(p project) { p.conflict("rebase", "other") }, "a rebase is in progress"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			tc.make(p)
			p.Write("new.txt", "new\n")
			head, status := p.Git("rev-parse", "HEAD"), p.Git("status", "--porcelain")
			_, err := Commit(context.Background(), p.Dir, CommitRequest{Files: []string{"new.txt"}, Message: "x"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			p.wantOut(head, "rev-parse", "HEAD")
			p.wantOut(status, "status", "--porcelain")
		})
	}
}

func TestCommit_linkedWorkTree_commitsOnItsBranch(t *testing.T) {
	p := newProject(t)
	side := project{p.In(filepath.Join(t.TempDir(), "side"))}
	p.Git("worktree", "add", "-q", "-b", "side", side.Dir)
	side.Write("a.txt", "side\n")
	side.commitFiles("a.txt")
	side.wantOut("", "status", "--porcelain")
	p.wantOut("a.txt", "show", "--format=", "--name-only", "side")
	p.wantOut("first", "log", "-1", "--format=%s", "main")
}

func TestCommit_filters_apply(t *testing.T) {
	p := newProject(t)
	p.Write(".gitattributes", "*.crlf text eol=crlf\n")
	p.Commit("attributes")
	p.Write("x.crlf", "one\r\ntwo\r\n")
	p.commitFiles("x.crlf")
	p.wantOut("one\ntwo", "show", "HEAD:x.crlf")
	p.wantOut("", "status", "--porcelain")
}

// The process that moves HEAD cannot be ended, so it has little time.
func TestCommit_filters_doNotRunWhileHeadMoves(t *testing.T) {
	p := newProject(t)
	group := `ps -o args= -p "$(ps -o pgid= -p $$ | tr -d ' ')"`
	p.Git("config", "--global", "filter.probe.clean", group+" >> '"+p.Path(".git/groups")+"'; cat")
	p.Write(".gitattributes", "*.x filter=probe\n")
	p.Commit("attributes")
	p.Write("one.x", "one\n")
	p.commitFiles("one.x")
	if groups := p.Read(".git/groups"); !strings.Contains(groups, "git") || strings.Contains(groups, "update-ref") {
		t.Errorf("a filter ran in the groups of\n%s", groups)
	}
	p.wantOut("", "status", "--porcelain")
}

func TestNewIndex_folders_areInGitsAndOldOnesAreSwept(t *testing.T) {
	p := newProject(t)
	p.Write(".git/ralph-index-old/index", "")
	p.Write(".git/ralph-index-new/index", "")
	old := time.Now().Add(-25 * time.Hour)
	p.Do(os.Chtimes(p.Path(".git/ralph-index-old"), old, old))
	t.Setenv("TMPDIR", p.Path("none"))
	p.Write("a.txt", "a changed\n")
	p.commitFiles("a.txt")
	left, err := filepath.Glob(p.Path(".git/ralph-index-*"))
	p.Do(err)
	if d := cmp.Diff([]string{p.Path(".git/ralph-index-new")}, left); d != "" {
		t.Error(d)
	}
}

func TestFit_condition(t *testing.T) {
	for name, tc := range map[string]struct {
		c    Condition
		want string // in the error; empty: fit
	}{
		"branch":        {Condition{Repo: true, Branch: "main"}, ""},
		"no repository": {Condition{}, ""},
		"unborn":        {Condition{Repo: true, Branch: "main"}, ""},
		"merge":         {Condition{Repo: true, Branch: "main", Operation: "merge", Root: "/p"}, `git merge --abort`},
		"rebase":        {Condition{Repo: true, Operation: "rebase", Root: "/p"}, `git rebase --abort`},
		"bisect":        {Condition{Repo: true, Operation: "bisect", Root: "/p"}, `git bisect reset`},
		"detached":      {Condition{Repo: true, Root: "/p"}, `git switch`},
	} {
		t.Run(name, func(t *testing.T) {
			err := Ready(tc.c)
			if (err != nil) != (tc.want != "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.ContainsAny(err.Error(), "\n!")) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestGuard_filesThatDoNotBelongInACommit_areRefused(t *testing.T) {
	p := newProject(t)
	p.Write("vendor/known/x.go", "package known\n")
	p.Write("go.mod", "module x\n")
	old := "AKIA" + strings.Repeat("Q", 16)
	p.Write("old.txt", "key "+old+"\n")
	p.Commit("all")

	write := func(name, text string) string { p.Write(name, text); return name }
	refused := []string{
		write("aws.txt", "id = AKIA"+strings.Repeat("7", 16)),
		write("web/key.pem", "-----BEGIN RSA PRIVATE "+"KEY-----\nMIIEpAIBAAKCAQEA\n"),
		write("gh.yml", "token: ghp_"+strings.Repeat("a1", 18)),
		write("ai.ts", `const k = "sk-ant-`+`api03-`+strings.Repeat("x9", 16)+`"`),
		write(".env", "DB_PASSWORD=hunter2\n"),
		write("big.bin", strings.Repeat("x", 1<<20+1)),
		write("web/node_modules/left-pad/index.js", "x"),
		write(".venv/bin/activate", "x"),
		write(".ralphrc", "TEST_COMMAND=true\n"),
		write("sub/.ralph/config.yaml", "test: {command: \"true\"}\n"),
	}
	p.Write("rust/Cargo.toml", "[package]\n")
	refused = append(refused, write("rust/target/debug/x", "x"))
	fine := []string{
		write("vendor/new/x.go", "package x\n"), // the folder is in HEAD
		write("old.txt", "changed, key "+old+"\n"),
		write("doc.md", "AKIAIOSFODNN7"+"EXAMPLE is an example; -----BEGIN PRIVATE "+"KEY----- begins a key"),
		write("src/target/aim.go", "package target\n"),
		write("dist/x.txt", "no package.json beside it\n"),
		write("max.bin", strings.Repeat("x", 1<<20)),
		write("style.css", ".sk-button-primary-very-large-with-icon{}"),
		"gone.txt",
	}
	found, err := guard(context.Background(), p.Dir, slices.Concat(fine, refused))
	p.Do(err)
	var got []string
	for _, r := range found {
		got = append(got, r.File)
		if r.Why == "" || strings.Contains(r.Why, "hunter2") {
			t.Errorf("%+v", r)
		}
	}
	for i, f := range refused { // a whole tree is one
		for _, tree := range []string{"web/node_modules/", ".venv/", "rust/target/"} {
			if strings.HasPrefix(f, tree) {
				refused[i] = tree
			}
		}
	}
	slices.Sort(refused)
	slices.Sort(got)
	if d := cmp.Diff(refused, got); d != "" {
		t.Error(d)
	}
}

func TestCommit_refusedFile_staysAndTheRestIsCommitted(t *testing.T) {
	p := newProject(t)
	p.Write("a.txt", "a changed\n")
	p.Write("key.txt", "AKIA"+strings.Repeat("7", 16))
	p.Git("init", "-q", "nested")
	p.Write("nested/x", "x")
	c := p.commitFiles("a.txt", "key.txt", "nested/")
	if len(c.Refused) != 2 || c.Refused[0].File != "nested/" || c.Refused[1].File != "key.txt" || cmp.Diff([]string{"a.txt"}, c.Files) != "" || c.OID == "" {
		t.Errorf("%+v", c)
	}
	p.wantOut("a.txt", "show", "--format=", "--name-only")
	p.wantOut(" M b.txt\n?? dirty.txt\n?? key.txt\n?? nested/", "status", "--porcelain")
}

// An agent can write in git's folder, also through links.
func TestCommit_lockedIndex_staysAndNoFileOfTheAgentMatters(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, locked := range []bool{true, false} {
		p := newProject(t)
		outside := filepath.Join(t.TempDir(), "profile")
		text := strconv.Itoa(gone.Process.Pid) + "\n"
		p.Do(os.WriteFile(outside, []byte(text), 0o600))
		p.Do(os.Symlink(outside, p.Path(".git/ralph-commit")))
		p.Write("new.txt", "new\n")
		if locked {
			p.Write(".git/index.lock", "half")
		}
		done, err := Commit(t.Context(), p.Dir, CommitRequest{Files: []string{"new.txt"}, Message: "work"})
		if _, stays := os.Lstat(p.Path(".git/index.lock")); (err != nil) != locked || (stays == nil) != locked || (done.OID == "") != locked {
			t.Errorf("locked %t: %+v, %v", locked, done, err)
		}
		if got, err := os.ReadFile(outside); err != nil || string(got) != text {
			t.Errorf("a file outside has %q, %v", got, err)
		}
	}
}
