package turn_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/git"
	"ralph/runner/turn"
	"ralph/state"
)

// runs is a script with one command.
func runs(command string) []scripted.Step { return []scripted.Step{{Do: "run", Text: command}} }

// gitOut is what git says in a folder.
func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestTurn_agentChangesTheSettingsOfGit_ralphDoesNotFollow(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "foreign.txt"), []byte("foreign"), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	a := scripted.Project(t, runs("git config core.worktree "+foreign+"; git config filter.x.clean 'touch "+mark+"; cat';"+
		"echo '* filter=x' > .gitattributes; echo 'package code // changed' > code.go"))
	w := &turn.Worker{}
	defer w.Close()
	res, err := w.Run(t.Context(), a, func(state.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{".gitattributes", "code.go"}; !slices.Equal(res.Work.Change.Files, want) {
		t.Errorf("changed: %v, want %v", res.Work.Change.Files, want)
	}
	done, err := w.Commit(t.Context(), a, git.CommitRequest{Message: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	gitOut(t, a.Dir, "config", "--unset", "core.worktree")
	if got := gitOut(t, a.Dir, "show", "--format=", "--name-only", done.OID); got != ".gitattributes\ncode.go" {
		t.Errorf("committed: %s", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("ralph's git ran the agent's filter")
	}
}

// whole makes a turn of a worker.
func whole(t *testing.T, w *turn.Worker, a turn.Assignment) turn.Result {
	t.Helper()
	res, err := w.Run(t.Context(), a, func(state.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestTurn_repositoryLost_nothingCounts(t *testing.T) {
	for name, test := range map[string]struct{ command, want string }{
		"deleted":           {"rm -rf .git", "is gone"},
		"initialized again": {"rm -rf .git; git init -q; git add .; git -c user.name=t -c user.email=t@e commit -qm x", "has lost commit"},
		"empty again":       {"rm -rf .git; git init -q", "has lost commit"},
		"moved":             {"mv .git ../" + "elsewhere; echo gitdir: $PWD/../elsewhere > .git", "leads git to another repository"},
		"HEAD is garbage":   {"echo garbage > .git/HEAD", "no longer recognizes"},
		"HEAD is unknown":   {"echo 1111111111111111111111111111111111111111 > .git/HEAD", "run git"},
		"index is garbage":  {"echo garbage > .git/index", "run git"},
		"objects are gone":  {"rm -rf .git/objects", "no longer recognizes"},
		"in another one":    {"rm -rf .git; git -C .. init -q", "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			a := scripted.Project(t, []scripted.Step{{Do: "run", Text: test.command}, {Do: "tick", Text: "one"}, {Do: "tick", Text: "two"}})
			w := &turn.Worker{}
			w.UserChanges.Continues = true // as after ralph resume
			defer w.Close()
			res := whole(t, w, a)
			if !strings.Contains(res.Work.Lost, test.want) {
				t.Errorf("lost: %q, want %q", res.Work.Lost, test.want)
			}
			if len(res.Proof.Reopen) != 2 || res.Proof.After.Remaining != 2 {
				t.Errorf("the ticks count: %+v", res.Proof.Reopen)
			}
			done, err := w.Commit(t.Context(), a, git.CommitRequest{Message: "x"}, nil)
			if err != nil || done.OID != "" {
				t.Errorf("committed %q, %v", done.OID, err)
			}
		})
	}
}

func TestTurn_repositoryLives_isNotLost(t *testing.T) {
	const commit = "git add .; git -c user.name=t -c user.email=t@e commit -qm x"
	for name, command := range map[string]string{
		"commit":     "echo x > x; " + commit,
		"amend":      "git -c user.name=t -c user.email=t@e commit -q --amend -m y",
		"new branch": "git checkout -qb other",
		"orphan":     "git checkout -q --orphan other; echo x > x; " + commit,
		"packed":     "echo x > x; " + commit + "; git gc -q --prune=now",
	} {
		t.Run(name, func(t *testing.T) {
			w := &turn.Worker{}
			defer w.Close()
			if res := whole(t, w, scripted.Project(t, runs(command))); res.Work.Lost != "" {
				t.Error(res.Work.Lost)
			}
		})
	}
}

func TestTurn_firstCommit_isWork(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "git add code.go; git -c user.name=t -c user.email=t@e commit -qm first"}, {Do: "tick", Text: "one"}})
	if err := os.RemoveAll(filepath.Join(a.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	gitOut(t, a.Dir, "init", "-q")
	w := &turn.Worker{}
	defer w.Close()
	res := whole(t, w, a)
	if !slices.Equal(res.Work.Change.Files, []string{"code.go", "plan.md"}) || !res.Proof.Worked || len(res.Proof.Findings) > 0 || res.Work.Lost != "" {
		t.Errorf("changed %v, worked %v, findings %v, lost %q", res.Work.Change.Files, res.Proof.Worked, res.Proof.Findings, res.Work.Lost)
	}
}

// findingsOf are the texts of the findings of one kind.
func findingsOf(res turn.Result, kind string) string {
	var all []string
	for _, f := range res.Proof.Findings {
		if string(f.Kind) == kind {
			all = append(all, f.Text)
		}
	}
	return strings.Join(all, "\n")
}

func TestTurn_manyFiles_auditsWhatWasThereFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("long: thousands of files")
	}
	a := scripted.Project(t, []scripted.Step{
		{Do: "run", Text: "mkdir a node_modules; for i in $(seq 1500); do echo $i > a/$i; echo $i > node_modules/$i; done; head -c 1100000 /dev/zero > big.bin; " +
			"rm zz_test.go; echo 'package code // weaker' > z_test.go"}, {Do: "tick", Text: "one"}})
	put(t, a.Dir, "zz_test.go", "package code\n\nfunc TestA(t *testing.T) {}\n")
	put(t, a.Dir, "z_test.go", "package code\n\nfunc TestB(t *testing.T) {}\n")
	gitOut(t, a.Dir, "add", ".")
	gitOut(t, a.Dir, "commit", "-qm", "tests")
	w := &turn.Worker{}
	defer w.Close()
	res := whole(t, w, a)
	if got := findingsOf(res, "tests_removed"); !strings.Contains(got, "") || got == "" {
		t.Errorf("the deleted test is not found: %+v", res.Proof.Findings)
	}
	if got := findingsOf(res, "not_audited"); !strings.Contains(got, "audited 1,000 of 3,004 files") {
		t.Errorf("not audited: %s", got)
	}
	if slices.ContainsFunc(res.Work.Change.Files, func(f string) bool { return strings.HasPrefix(f, "node_modules/") }) {
		t.Error("it audits node_modules")
	}
}

func TestTurn_fileAboveTheBound_isNamed(t *testing.T) {
	w := &turn.Worker{}
	defer w.Close()
	res := whole(t, w, scripted.Project(t, runs("head -c 1100000 /dev/zero > big.csv; head -c 900000 /dev/zero > small.csv")))
	if got := findingsOf(res, "not_audited"); got != "not audited, above 1 MiB: big.csv" {
		t.Errorf("not audited: %q", got)
	}
}

func TestTurn_fileHiddenFromGit_isAFinding(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a repository for each way")
	}
	for name, test := range map[string]struct{ command, want string }{
		"assume-unchanged": {"git update-index --assume-unchanged a_test.go; echo > a_test.go", "marked assume-unchanged: a_test.go"},
		"skip-worktree":    {"git update-index --skip-worktree a_test.go; echo > a_test.go", "marked skip-worktree: a_test.go"},
		"info/exclude":     {"echo a_test.go >> .git/info/exclude", `hidden by the new rule "a_test.go" in .git/info/exclude: a_test.go`},
		"ignore rule":      {"echo '*_test.go' > .gitignore; git rm -q --cached a_test.go", `hidden by the new rule "*_test.go" in .gitignore: a_test.go`},
		"no test":          {"echo code.go > .gitignore; echo 'b_test.go' >> .gitignore", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := scripted.Project(t, runs(test.command))
			put(t, a.Dir, "a_test.go", "package code\n\nfunc TestA(t *testing.T) {}\n")
			gitOut(t, a.Dir, "add", ".")
			gitOut(t, a.Dir, "commit", "-qm", "tests")
			w := &turn.Worker{}
			defer w.Close()
			got := findingsOf(whole(t, w, a), "hidden_from_git")
			if test.want == "" && got != "" || !strings.HasSuffix(got, test.want) {
				t.Errorf("found %q, want %q", got, test.want)
			}
			in, err := w.Changed(t.Context(), a.Dir)
			if err != nil || (len(in.Hidden) > 0) != (test.want != "" || name == "no test") {
				t.Errorf("since the start: %+v, %v", in.Hidden, err)
			}
			if again := findingsOf(whole(t, w, scriptedAgain(t, a)), "hidden_from_git"); again != "" {
				t.Errorf("found again: %s", again)
			}
		})
	}
}

// scriptedAgain is the same project with an agent that does nothing.
func scriptedAgain(t *testing.T, a turn.Assignment) turn.Assignment {
	t.Helper()
	a.Agent = scripted.Project(t, nil).Agent
	a.Origin.Iteration++
	return a
}

func TestTurn_testRunnerThatGitDoesNotShow_isAFinding(t *testing.T) {
	for name, test := range map[string]struct {
		command string
		want    string
	}{
		"its own pytest":         {"echo pytest.py >> .git/info/exclude; echo > pytest.py", "it decides how tests run, and git does not show it"},
		"a file of another kind": {"echo x.ini >> .git/info/exclude; echo > x.ini", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &turn.Worker{}
			defer w.Close()
			a := scripted.Project(t, runs(test.command))
			if got := findingsOf(whole(t, w, a), "checks_changed"); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
			in, err := w.Changed(t.Context(), a.Dir)
			if err != nil || slices.ContainsFunc(in.Hidden, func(h git.HiddenFile) bool { return h.StandIn }) != (test.want != "") {
				t.Errorf("since the start: %+v, %v", in.Hidden, err)
			}
			if again := findingsOf(whole(t, w, scriptedAgain(t, a)), "checks_changed"); again != "" {
				t.Errorf("found again: %s", again)
			}
		})
	}
}

func TestTurn_taskThatAPersonReopened_isDoneAgain_nothingIsThrownAway(t *testing.T) {
	a := scripted.Project(t, runs("echo x > done.go; sed -i 's/\\[ \\] one/[x] one/' plan.md"))
	open, err := os.ReadFile(filepath.Join(a.Dir, "plan.md"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, a.Dir, "plan.md", strings.Replace(string(open), "[ ] one", "[x] one", 1))
	if out, err := exec.Command("git", "-C", a.Dir, "-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qam", "done").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	put(t, a.Dir, "plan.md", string(open))
	w := &turn.Worker{}
	defer w.Close()
	if got := findingsOf(whole(t, w, a), "work_discarded"); got != "" {
		t.Errorf("found %q", got)
	}
}

func TestTurn_workOfTheUserThrownAway_saysHowToRestoreIt(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a repository for each way")
	}
	for name, test := range map[string]struct {
		command string
		want    []string
	}{
		"checkout":             {"git checkout -q -- .", []string{"code.go"}},
		"reset":                {"git reset -q --hard", []string{"code.go"}},
		"stash":                {"git stash -q", []string{"code.go"}},
		"stash with untracked": {"git stash -q -u", []string{"code.go", "my notes.txt"}},
		"clean":                {"git clean -fdq", []string{"my notes.txt"}},
		"a file of ralph":      {"rm .ralph/.gitignore", nil},
		"rm":                   {"rm code.go 'my notes.txt'", []string{"code.go", "my notes.txt"}},
		"and a commit":         {"git checkout -q code.go; echo x > x; git add x; git -c user.name=t -c user.email=t@e commit -qm x", []string{"code.go"}},
		"edited":               {"echo more >> code.go; echo more >> 'my notes.txt'", nil},
		"committed":            {"git add .; git -c user.name=t -c user.email=t@e commit -qm x", nil},
		"edited and committed": {"echo more >> code.go; git add .; git -c user.name=t -c user.email=t@e commit -qm x", nil},
		"moved":                {"mkdir docs; mv 'my notes.txt' docs/", nil},
		"ignored":              {"echo '*.txt' > .gitignore", nil},
		"the agent's own":      {"echo x > agent.txt; rm agent.txt", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := scripted.Project(t, runs(test.command))
			mine := map[string]string{"code.go": "package code // mine\n", "my notes.txt": "notes\n", ".ralph/.gitignore": state.Gitignore}
			for file, text := range mine {
				put(t, a.Dir, file, text)
			}
			w := &turn.Worker{}
			defer w.Close()
			got := findingsOf(whole(t, w, a), "work_discarded")
			in, err := w.Changed(t.Context(), a.Dir)
			if err != nil || !slices.Equal(in.Discarded, test.want) {
				t.Errorf("since the start: %v, %v; want %v", in.Discarded, err, test.want)
			}
			if (got == "") != (test.want == nil) {
				t.Fatalf("found %q, want %v", got, test.want)
			}
			if test.want == nil {
				return
			}
			_, command, _ := strings.Cut(got, "to restore them: ")
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			for _, file := range test.want {
				if data, _ := os.ReadFile(filepath.Join(a.Dir, file)); string(data) != mine[file] {
					t.Errorf("%s is %q after %s", file, data, command)
				}
			}
			w.Forget()
			if in, err := w.Changed(t.Context(), a.Dir); err != nil || in.Discarded != nil {
				t.Errorf("after the command: %v, %v", in.Discarded, err)
			}
		})
	}
}

func TestTurn_editBetweenTurns_isKeptToo(t *testing.T) {
	a := scripted.Project(t, nil)
	w := &turn.Worker{}
	defer w.Close()
	whole(t, w, a)
	if err := w.Keep(t.Context(), a.Dir, git.State{Run: "run-1", Iteration: 1}); err != nil {
		t.Fatal(err)
	}
	put(t, a.Dir, "code.go", "package code // mine\n")
	w.Forget()
	b := scripted.Project(t, runs("git checkout -q -- ."))
	a.Agent = b.Agent
	a.Origin.Iteration = 2
	got := findingsOf(whole(t, w, a), "work_discarded")
	_, command, _ := strings.Cut(got, "to restore them: ")
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil || command == "" {
		t.Fatalf("found %q: %v\n%s", got, err, out)
	}
	if data, _ := os.ReadFile(filepath.Join(a.Dir, "code.go")); string(data) != "package code // mine\n" {
		t.Errorf("code.go is %q", data)
	}
}

// A git of the agent that was killed leaves a lock: from then on, no git commits.
func TestTurn_lockOfTheIndexIsLeft_isSaidOnce(t *testing.T) {
	w := &turn.Worker{}
	defer w.Close()
	said := func(a turn.Assignment) (all []string) {
		if _, err := w.Run(t.Context(), a, func(e state.Event) {
			if f, ok := e.Data.(state.Finding); ok && strings.Contains(f.Text, "index.lock") {
				all = append(all, f.Text)
			}
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	a := scripted.Project(t, runs("touch .git/index.lock"))
	if got := said(a); len(got) != 1 || !strings.Contains(got[0], "git cannot commit") {
		t.Errorf("said %q", got)
	}
	if again := said(scriptedAgain(t, a)); len(again) > 0 {
		t.Errorf("again: %q", again)
	}
}
