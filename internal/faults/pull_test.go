//go:build linux

package faults

import (
	"fmt"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/fakegh"
	"ralph/internal/world"
)

// mendFile is what the checks of the service want.
const mendFile = "mended"

// pulls does its task, or what the checks of the pull request ask for.
func (a *actor) pulls() int {
	a.listen()
	if a.task == "" {
		if strings.Contains(a.prompt, "FAIL: the file "+mendFile+" is missing") {
			_ = os.WriteFile(mendFile, []byte("yes\n"), 0o644)
		}
		return a.result(false, nil)
	}
	if strings.Contains(a.task, "Ask first") && !strings.Contains(a.prompt, "Use SQLite") {
		ask := map[string]any{"questions": []any{map[string]any{"question": "Which database?"}}}
		a.print(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": ask}}}})
		return a.result(false, map[string]any{"permission_denials": []any{map[string]any{"tool_name": "AskUserQuestion",
			"tool_use_id": "q", "tool_input": ask}}})
	}
	return a.doneBeside()
}

// newPulls makes a project with a remote that an HTTP server on loopback serves, and a stand-in for gh.
func newPulls(t *testing.T, boxes int, ci fakegh.CI) (*project, *fakegh.Forge) {
	t.Helper()
	w := newProject(t, "pulls", boxes)
	bare := filepath.Join(w.Home, "git", "o", "r.git")
	w.Git("init", "-q", "--bare", "-b", "main", bare)
	w.In(bare).Git("config", "http.receivepack", "true")
	git, err := exec.LookPath("git")
	w.Do(err)
	server := httptest.NewServer(&cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: os.Stderr,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(w.Home, "git"), "GIT_HTTP_EXPORT_ALL=1", "HOME=" + w.Home}})
	t.Cleanup(server.Close)
	w.Git("branch", "-M", "main")
	w.Git("remote", "add", "origin", server.URL+"/o/r.git")
	w.Git("push", "-q", "-u", "origin", "main")
	ci.Git = bare
	f := fakegh.Install(t, fakegh.State{Login: "me", Here: "o/r", Repos: map[string]*fakegh.Repo{
		"o/r": {Permissions: map[string]string{"me": "write"}, CI: ci}}})
	w.Set("PATH", world.Programs(t)+":"+os.Getenv("PATH")) // with gh
	w.Env = append(w.Env, "LAND=pr", "TEST_COMMAND=true")
	return w, f
}

// only returns the one pull request.
func only(t *testing.T, f *fakegh.Forge) *fakegh.Pull {
	t.Helper()
	all := f.State().Repos["o/r"].Pulls
	if len(all) != 1 {
		t.Fatalf("%d pull requests; the calls: %s", len(all), strings.Join(f.State().Calls, "\n"))
	}
	return all[0]
}

// there lists the files of a branch on the server.
func (w *project) there(branch string) string {
	return w.In(filepath.Join(w.Home, "git", "o", "r.git")).Git("ls-tree", "--name-only", "refs/heads/"+branch)
}

func TestPull_threeTasks_endAsOneReadyPullRequest(t *testing.T) {
	w, f := newPulls(t, 3, fakegh.CI{Needs: "work-T1"})
	main := w.Git("rev-parse", "main")
	p := w.ralph()
	p.Ends(0)
	pull := only(t, f)
	for _, want := range []string{"work-T1", "work-T2", "work-T3"} {
		if there := w.there(pull.Head); !strings.Contains(there, want) {
			t.Errorf("%s is not on the server: %s", want, there)
		}
	}
	if pull.Draft || pull.Base != "main" || !strings.HasPrefix(pull.Head, "ralph/") || len(pull.Labels) > 0 ||
		!strings.Contains(pull.Body, "3 of 3 tasks done") || !strings.Contains(pull.Title, "2 more tasks") {
		t.Errorf("%+v", pull)
	}
	if pull.Edits > 4 || pull.Edits < 1 {
		t.Errorf("%d edits", pull.Edits)
	}
	if now := w.Git("rev-parse", "origin/main", "main"); now != main+"\n"+main {
		t.Errorf("main has moved: %s", now)
	}
	if said := p.Said(); !strings.Contains(said, "is ready for review") || strings.Contains(said, "git merge") {
		t.Error(said)
	}
}

func TestPull_checksRedThenGreen_oneMoreTurn(t *testing.T) {
	w, f := newPulls(t, 1, fakegh.CI{Needs: mendFile})
	p := w.ralph()
	p.Ends(0)
	pull := only(t, f)
	if there := w.there(pull.Head); pull.Draft || !strings.Contains(there, mendFile) {
		t.Errorf("%+v, with %s\n%s", pull, there, p.Said())
	}
	if calls := len(w.entries("call")); calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

func TestPull_checksStayRed_needsReview(t *testing.T) {
	world.Long(t, "another end of a pull request")
	w, f := newPulls(t, 1, fakegh.CI{Needs: "never"})
	p := w.ralph()
	p.Ends(9)
	pull := only(t, f)
	if !pull.Draft || len(pull.Labels) != 1 || pull.Labels[0] != "needs-review" || !strings.Contains(pull.Body, "CI / test") {
		t.Errorf("%+v\n%s", pull, p.Said())
	}
}

func TestPull_killedAndResumed_sameOneGoesOn(t *testing.T) {
	world.Long(t, "three kills")
	w, f := newPulls(t, 6, fakegh.CI{Needs: "work-T1"})
	end := func(p *world.Process) {
		_ = p.Process.Signal(syscall.SIGKILL)
		p.Wait(world.Patience)
		p.Forget()
		w.NoneLeft(leftBound)
	}
	p := w.ralph()
	w.Until("the pull request is open", func() bool { return len(f.State().Repos["o/r"].Pulls) > 0 }, p.Said)
	end(p)
	for i := range 2 {
		p := w.ralph("resume")
		time.Sleep(time.Duration(300+i*700%2900) * time.Millisecond) // sleep: any moment may be the one
		end(p)
	}
	if !only(t, f).Draft && strings.Contains(w.Read(planName), "- [ ]") {
		t.Error("it is ready too early")
	}
	w.ralph("resume").Ends(0)
	pull := only(t, f)
	for n := range 6 {
		if there, want := w.there(pull.Head), fmt.Sprintf("work-T%d", n+1); !strings.Contains(there, want) {
			t.Errorf("%s is not on the server: %s", want, there)
		}
	}
	if pull.Draft {
		t.Errorf("%+v", pull)
	}
}

func TestPull_conflictsWithItsBase_needsReview(t *testing.T) {
	world.Long(t, "another end of a pull request")
	w, f := newPulls(t, 1, fakegh.CI{Conflict: true})
	p := w.ralph()
	p.Ends(9)
	if said := p.Said(); !only(t, f).Draft || !strings.Contains(said, "it conflicts with the branch that it is for") {
		t.Error(said)
	}
}

func TestPull_withoutGh_isLeftOnTheBranch(t *testing.T) {
	w, f := newPulls(t, 1, fakegh.CI{Needs: "work-T1"})
	w.Do(os.Remove(filepath.Join(f.Bin, "gh")))
	w.Set("PATH", world.Programs(t)+":/usr/bin:/bin")
	p := w.ralph()
	p.Ends(0)
	said := p.Said()
	for _, want := range []string{"which is not installed", "LAND=branch", "git push origin ", "gh pr create --draft --head ralph/", ".pr.md"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	texts, _ := filepath.Glob(w.Path(".ralph/reports/*.pr.md"))
	if len(texts) != 1 || !strings.Contains(w.Git("ls-tree", "--name-only", "refs/heads/"+w.Git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/ralph/")), "work-T1") {
		t.Errorf("%v", texts)
	}
}

func TestPull_branchOfTheUser_isContinuedOrRefused(t *testing.T) {
	world.Long(t, "five runs")
	for name, c := range map[string]struct {
		before func(w *project)
		says   string
		exit   int
	}{
		"new":         {func(*project) {}, "", 0},
		"has all":     {func(w *project) { w.Git("branch", "feature") }, "", 0},
		"lacks some":  {func(w *project) { w.Git("branch", "feature"); w.Git("commit", "-q", "--allow-empty", "-m", "more") }, "does not contain your commits", 2},
		"checked out": {func(w *project) { w.Git("checkout", "-q", "-b", "feature") }, "", 0},
		"no name":     {func(w *project) { w.Set("LAND_BRANCH", "a..b") }, "is no name for a branch", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w, f := newPulls(t, 1, fakegh.CI{Needs: "work-T1"})
			w.Set("LAND_BRANCH", "feature")
			c.before(w)
			p := w.ralph()
			p.Ends(c.exit)
			if said := p.Said(); !strings.Contains(said, c.says) {
				t.Error(said)
			}
			if c.exit != 0 {
				return
			}
			pull, tip := only(t, f), w.Git("rev-parse", "feature")
			if there := w.In(filepath.Join(w.Home, "git", "o", "r.git")).Git("rev-parse", "refs/heads/feature"); pull.Head != "feature" || there != tip ||
				!strings.Contains(w.there("feature"), "work-T1") {
				t.Errorf("%+v %s %s", pull, there, tip)
			}
			if followed := w.Read("work-T1") != ""; followed != (name == "checked out") {
				t.Errorf("the files of the user moved: %v", followed)
			}
		})
	}
}

func TestPull_noChecks_saysSo(t *testing.T) {
	world.Long(t, "ralph waits a minute for the first check")
	w, f := newPulls(t, 1, fakegh.CI{})
	p := w.Start("ralph")
	if code := p.Wait(3 * world.Patience); code != 0 || !strings.Contains(p.Said(), "the pull request has no checks") || only(t, f).Draft {
		t.Errorf("%d\n%s", code, p.Said())
	}
}

// A stranger with a clone of what was pushed checks the receipts with the command in the text.
func TestPull_receipts_canBeCheckedFromAClone(t *testing.T) {
	world.Long(t, "a run and a clone")
	w, f := newPulls(t, 2, fakegh.CI{Needs: "work-T1"})
	key := filepath.Join(w.Home, "id")
	if out, code := w.Run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key); code != 0 {
		t.Skip("ssh-keygen: " + out)
	}
	w.Git("config", "gpg.format", "ssh")
	w.Git("config", "user.signingkey", key)
	w.Set("RECEIPTS", "on")
	w.Set("PARALLEL", "2")
	w.Set("PARALLEL_ANY", "true")
	w.ralph().Ends(0)
	body := only(t, f).Body
	_, command, _ := strings.Cut(body, "To check the receipts: `")
	command, _, _ = strings.Cut(command, "`")
	clone := w.In(filepath.Join(w.Home, "clone"))
	w.Git("clone", "-q", w.Git("remote", "get-url", "origin"), clone.Dir)
	allowed := filepath.Join(w.Home, "allowed")
	w.In(w.Home).Write("allowed", "me@example.org "+w.In(w.Home).Read("id.pub"))
	clone.Git("config", "--global", "gpg.ssh.allowedSignersFile", allowed)
	if out, code := clone.Run("sh", "-c", command); code != 0 || strings.Count(out, "\n") < 2 {
		t.Errorf("%q ended with %d: %s\n%s", command, code, out, body)
	}
}
