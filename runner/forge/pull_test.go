package forge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/internal/fakegh"
	"ralph/internal/world"
	"ralph/runner/forge"
	"ralph/runner/gate"
)

func TestMain(m *testing.M) {
	fakegh.Init()
	os.Exit(world.GitMain(m))
}

// pulls is a repository with a remote, and a pull request in the making.
type pulls struct {
	world.Folder
	bare world.Folder
	gh   *fakegh.Forge
	*forge.Pull

	mu   sync.Mutex
	said []string
	text forge.Text
}

func newPulls(t *testing.T) *pulls {
	t.Helper()
	p := &pulls{Folder: world.Folder{TB: t, Dir: t.TempDir()}}
	p.bare = p.In(filepath.Join(t.TempDir(), "o", "r.git"))
	p.Git("init", "-q", "-b", "main")
	p.Write("a.txt", "a\n")
	p.Commit("first")
	p.Git("init", "-q", "--bare", "-b", "main", p.bare.Dir)
	p.Git("remote", "add", "origin", "file://"+p.bare.Dir)
	p.Git("push", "-q", "-u", "origin", "main")
	p.gh = fakegh.Install(t, fakegh.State{Login: "me", Here: "o/r", Repos: map[string]*fakegh.Repo{
		"o/r": {Permissions: map[string]string{"me": "write"}, CI: fakegh.CI{Git: p.bare.Dir}}}})
	p.text = forge.Text{Title: "Do it", Body: "# Still running\n"}
	p.begin()
	return p
}

// begin is the start of the run, or of the next process that goes on with it.
func (p *pulls) begin() {
	p.Pull = &forge.Pull{Run: "20261129-120000-abcd", Branch: "ralph/20261129-120000-abcd", Say: p.say,
		Box: &forge.Outbox{Pause: 20 * time.Millisecond, Tell: p.say}, Text: func(context.Context, int) (forge.Text, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.text, nil
		}}
}

func (p *pulls) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, line)
}

func (p *pulls) lines() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

func (p *pulls) open() { p.Open(context.Background(), p.Dir) }

// land lands a commit on the branch of the run, and waits until it is on the server.
func (p *pulls) land(name string) {
	p.Helper()
	p.Write(name, name)
	p.Git("add", name)
	tree := p.Git("write-tree")
	parent := "HEAD"
	if _, code := p.Folder.Run("git", "rev-parse", "--verify", "-q", p.Branch); code == 0 {
		parent = p.Branch
	}
	oid := p.Git("commit-tree", "-p", parent, "-m", name, tree)
	p.Git("update-ref", "refs/heads/"+p.Branch, oid)
	p.Landed(context.Background(), oid)
	p.Update()
}

func (p *pulls) there(branch string) string {
	oid, _ := p.bare.Run("git", "rev-parse", "--verify", "-q", "refs/heads/"+branch)
	return strings.TrimSpace(oid)
}

func (p *pulls) all() []*fakegh.Pull { return p.gh.State().Repos["o/r"].Pulls }

func TestPull_whatMayGoWrong_isOneLineAndTheTextAndTheCommand(t *testing.T) {
	change := func(p *pulls, do func(r *fakegh.Repo)) { p.gh.Change(func(s *fakegh.State) { do(s.Repos["o/r"]) }) }
	fault := func(says string, exit int) func(p *pulls) {
		return func(p *pulls) {
			p.gh.Change(func(s *fakegh.State) { s.Faults = []fakegh.Fault{{Call: "gh", Says: says, Exit: exit, Times: -1}} })
		}
	}
	opened := func(do func(p *pulls)) func(p *pulls) { // when a pull request is open
		return func(p *pulls) {
			p.open()
			p.land("one")
			p.Until(func() bool { return len(p.all()) == 1 })
			do(p)
		}
	}
	for name, c := range map[string]struct {
		before func(p *pulls)
		says   string
	}{
		"no remote":    {func(p *pulls) { p.Git("remote", "remove", "origin") }, "git remote add origin URL"},
		"two remotes":  {func(p *pulls) { p.Git("remote", "add", "b", "x"); p.Git("branch", "--unset-upstream") }, "there are 2 remotes"},
		"a fork":       {func(p *pulls) { p.Git("config", "branch.main.remote", "https://github.com/fork/r.git") }, "which is no remote with a name"},
		"no gh":        {func(p *pulls) { p.Do(os.Remove(filepath.Join(p.gh.Bin, "gh"))); p.Setenv("PATH", p.gitOnly()) }, "which is not installed"},
		"no login":     {fault("To get started with GitHub CLI, please run:  gh auth login", 4), "gh auth login"},
		"too old":      {fault("unknown flag: --json", 1), "gh is too old"},
		"no right":     {func(p *pulls) { change(p, func(r *fakegh.Repo) { r.Permissions["me"] = "read" }) }, "no right to push to o/r"},
		"unknown":      {func(p *pulls) { p.Git("remote", "set-url", "origin", "https://github.com/no/such.git") }, "no such repository"},
		"base":         {func(p *pulls) { p.Branch = "main" }, `"main" is what the pull request would be for`},
		"protected":    {func(p *pulls) { p.hook("exit 1") }, "origin does not take ralph/"},
		"rate limit":   {fault("HTTP 403: API rate limit exceeded for user ID 1.", 1), "rate limit until"},
		"server error": {fault("HTTP 502: Server Error", 1), "502"},
		"closed":       {opened(func(p *pulls) { change(p, func(r *fakegh.Repo) { r.Pulls[0].State = "CLOSED" }) }), "pull/101 is closed"},
		"merged":       {opened(func(p *pulls) { change(p, func(r *fakegh.Repo) { r.Pulls[0].State = "MERGED" }) }), "pull/101 is merged"},
		"reset": {opened(func(p *pulls) { p.bare.Git("update-ref", "refs/heads/"+p.Branch, p.Git("rev-parse", "main")) }),
			"somebody has moved"},
		"rewritten": {opened(func(p *pulls) {
			p.Git("push", "-q", "-f", "origin", p.Git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")+":refs/heads/"+p.Branch)
		}), "somebody has moved"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPulls(t)
			c.before(p)
			if len(p.all()) == 0 {
				p.open()
			}
			was := p.there(p.Branch)
			p.land("two")
			p.Until(func() bool { return strings.Contains(p.lines(), c.says) })
			text, do := p.End(0, 2*time.Second)
			if strings.Count(p.lines(), c.says) != 1 {
				t.Errorf("it says %q", p.lines())
			}
			if name == "base" {
				if do != "" {
					t.Errorf("it advises %q", do)
				}
			} else if !strings.Contains(text, "Still running") || !strings.Contains(do, "gh pr ") {
				t.Errorf("%q %q", do, text)
			}
			if now := p.there(p.Branch); now != was && name != "rate limit" && name != "server error" {
				t.Errorf("the branch went from %s to %s", was, now)
			}
		})
	}
}

func TestPull_aLimitThatPasses_isOnlyLate(t *testing.T) {
	p := newPulls(t)
	p.gh.Change(func(s *fakegh.State) {
		s.Faults = []fakegh.Fault{{Call: "pr create", Says: "HTTP 502: Server Error", Exit: 1, Times: 2}}
	})
	p.open()
	p.land("one")
	p.Until(func() bool { return len(p.all()) == 1 })
	if text, do := p.End(0, time.Minute); text+do != "" || p.all()[0].Draft {
		t.Errorf("%q %q %+v", text, do, p.all()[0])
	}
	if strings.Count(p.lines(), "502") != 1 {
		t.Error(p.lines())
	}
}

func TestPull_nextProcess_goesOnWithIt(t *testing.T) {
	p := newPulls(t)
	p.open()
	p.land("one")
	p.Until(func() bool { return len(p.all()) == 1 })
	p.gh.Change(func(s *fakegh.State) {
		x := s.Repos["o/r"].Pulls[0]
		x.Title, x.Body = "Named by a person", "Reviewer's words.\r\n\r\n"+x.Body+"\n\nAnd a list."
	})
	p.begin()
	p.open()
	p.Resume(context.Background())
	p.text = forge.Text{Title: "Other", Body: "# Completed\n", Done: []string{"Mend it (gh:o/r#12)", "Other (gh:x/y#7)", "Also (gh:o/r#12)"}}
	p.land("two")
	if text, do := p.End(9, time.Minute); text+do != "" || len(p.all()) != 1 {
		t.Fatalf("%q %q %s", text, do, p.lines())
	}
	got := p.all()[0]
	want := "Reviewer's words.\n\n<!-- ralph 20261129-120000-abcd -->\n# Completed\n\nCloses #12\n\n<!-- /ralph -->\n\nAnd a list."
	if got.Title != "Named by a person" || got.Body != want || !got.Draft || fmt.Sprint(got.Labels) != "[needs-review]" {
		t.Errorf("%+v", got)
	}
	if p.there(p.Branch) != p.Git("rev-parse", p.Branch) {
		t.Error("not pushed")
	}
	p.begin()
	p.open()
	p.Resume(context.Background())
	p.End(0, time.Minute)
	if got = p.all()[0]; got.Draft || len(got.Labels) > 0 {
		t.Errorf("%+v", got)
	}
}

// What a turn sets in the repository neither runs nor leads elsewhere.
func TestPull_settingsOfATurn_doNotCount(t *testing.T) {
	p := newPulls(t)
	mark := p.Path("mark")
	p.open()
	p.Write(".git/hooks/pre-push", "#!/bin/sh\ntouch "+mark+"\n")
	p.Do(os.Chmod(p.Path(".git/hooks/pre-push"), 0o755))
	p.Git("config", "remote.origin.url", "file:///elsewhere")
	p.Git("config", "url.file:///elsewhere/.insteadOf", "file://")
	p.Git("config", "credential.helper", "!touch "+mark)
	p.Git("config", "core.sshCommand", "touch "+mark)
	p.land("one")
	if text, do := p.End(0, time.Minute); text+do != "" || len(p.all()) != 1 {
		t.Errorf("%q %s", do, p.lines())
	}
	if p.Read("mark") != "" {
		t.Error("it ran")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}

func TestPull_receipts_joinThoseOfOthers(t *testing.T) {
	p := newPulls(t)
	p.Git("notes", "--ref", "ralph", "add", "-m", "theirs", "HEAD")
	p.Git("push", "-q", "origin", "refs/notes/ralph")
	p.Git("update-ref", "-d", "refs/notes/ralph")
	p.Notes = "refs/notes/ralph"
	p.open()
	p.land("one")
	p.Git("notes", "--ref", "ralph", "add", "-m", "ours", p.Branch)
	if text, do := p.End(0, time.Minute); text+do != "" {
		t.Fatalf("%q %s", do, p.lines())
	}
	for of, want := range map[string]string{"main": "theirs", p.Branch: "ours"} {
		if got := p.bare.Git("notes", "--ref", "ralph", "show", p.Git("rev-parse", of)); got != want {
			t.Errorf("%s: %q\n%s", of, got, p.lines())
		}
	}
	if body := p.all()[0].Body; !strings.Contains(body, "ralph verify origin/main..origin/ralph/") {
		t.Error(body)
	}
}

// Until polls.
func (p *pulls) Until(ok func() bool) {
	p.Helper()
	world.Within(p, 20*time.Second, "it", ok, p.lines)
}

// hook lets the server refuse a push.
func (p *pulls) hook(script string) {
	path := filepath.Join(p.bare.Dir, "hooks", "pre-receive")
	p.Do(os.MkdirAll(filepath.Dir(path), 0o755))
	p.Do(os.WriteFile(path, []byte("#!/bin/sh\necho no pushes here >&2\n"+script+"\n"), 0o755))
}

// gitOnly is a PATH with git and the shell, but without gh.
func (p *pulls) gitOnly() string { return "/usr/bin:/bin" }

func TestChecks_pushThatHangs_doesNotHoldTheEndOfTheRun(t *testing.T) {
	p := newPulls(t)
	p.hook("sleep 60 # the server hangs")
	p.open()
	p.land("one")
	p.Until(func() bool { return len(p.gh.State().Calls) > 1 }) // then it pushes
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	all := p.Checks(ctx, p.say)
	if took := time.Since(began); took > 50*time.Second || len(all) != 1 || all[0].Reason != "the latest commit has not arrived" {
		t.Errorf("%s, %+v", took, all)
	}
	if text, do := p.End(9, time.Second); text == "" || !strings.HasPrefix(do, "git push ") {
		t.Errorf("%q %q", text, do)
	}
}

// A status that another service sets may have no address.
func TestChecks_redWithoutALink_blocksTheEndOfTheRun(t *testing.T) {
	p := newPulls(t)
	p.gh.Change(func(s *fakegh.State) { s.Repos["o/r"].Needs, s.Repos["o/r"].Linkless = "never", true })
	p.open()
	p.land("one")
	all := p.Checks(t.Context(), p.say)
	if r := (gate.Report{Results: all}); len(all) != 1 || len(r.RedElsewhere()) != 1 || all[0].Elsewhere != "https://github.com/o/r/pull/101" {
		t.Errorf("%+v", all)
	}
	p.End(9, time.Minute)
}

func TestChecks_waitThatIsCutOff_getsNoLogs(t *testing.T) {
	p := newPulls(t)
	p.gh.Change(func(s *fakegh.State) { s.Repos["o/r"].Needs, s.Repos["o/r"].Slow = "never", true })
	p.open()
	p.land("one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := p.Checks(ctx, func(what string) {
		if strings.HasSuffix(what, "still running: CI / docs") {
			cancel()
		}
	})
	if len(all) != 2 || !all[0].BlocksEnd || strings.Contains(strings.Join(p.gh.State().Calls, "\n"), "run view") {
		t.Errorf("%+v", all)
	}
	p.End(9, time.Minute)
}

func TestChecks_branchThatSomebodyMoves_endsTheWait(t *testing.T) {
	p := newPulls(t)
	p.gh.Change(func(s *fakegh.State) { s.Repos["o/r"].Needs, s.Repos["o/r"].Slow = "never", true })
	p.open()
	p.land("one")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := p.Checks(ctx, func(what string) {
		if strings.Contains(what, "still running") {
			p.bare.Git("update-ref", "refs/heads/"+p.Branch, p.Git("rev-parse", "main"))
		}
	})
	if len(all) != 1 || !strings.Contains(all[0].Reason, "somebody has moved") {
		t.Errorf("%+v", all)
	}
	p.End(9, time.Minute)
}

func TestPull_runInAnotherProjectOfTheRepository_leavesItAlone(t *testing.T) {
	p := newPulls(t)
	p.open()
	first := p.Pull
	p.Write("sub/b.txt", "b\n")
	p.begin()
	p.Open(context.Background(), p.Path("sub"))
	p.End(0, time.Minute)
	p.Pull = first
	p.land("one")
	if text, do := p.End(0, time.Minute); text+do != "" || len(p.all()) != 1 {
		t.Errorf("%q %q", do, p.lines())
	}
}
