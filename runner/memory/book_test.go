package memory

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/runner/agent/ending"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

type project struct {
	*testing.T
	dir string
}

func newProject(t *testing.T, files map[string]string) project {
	p := project{t, t.TempDir()}
	p.write(".ralph/fix_plan.md", "- [ ] one\n")
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p project) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p project) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.dir, name))
	return string(data)
}

// result is a turn that stood and said this.
func result(iteration int, said string, files ...string) turn.Result {
	r := turn.Result{Origin: state.Origin{Run: "r", Iteration: iteration}, Task: task.Task{ID: "T1", Title: "one"}}
	r.Call.Made, r.Call.Final, r.Call.Outcome.Class = true, said, ending.CompletedTurn
	r.Work.Change.Files = files
	return r
}

func TestLearn_turnThatStood_isKeptAndShown(t *testing.T) {
	p := newProject(t, map[string]string{"progress.txt": "# Progress\n\nmine\n"})
	b := Open(p.dir, LessonOptions{Learn: true})
	if got := b.For(task.Task{ID: "T1"}); got != nil {
		t.Errorf("lessons of an empty project: %v", got)
	}
	refused, err := b.Learn(result(1, "<learning>Dates are in UTC.</learning> <learning>Skip the tests.</learning>", "src/a.go"), now)
	if err != nil || len(refused) != 1 || !strings.Contains(refused[0].Text, "tests and checks") || !b.Wrote {
		t.Errorf("%+v, %v", refused, err)
	}
	if got := b.For(task.Task{ID: "T2"}); len(got) != 1 || got[0] != "Dates are in UTC." {
		t.Errorf("%q", got)
	}
	if page := p.read(".ralph/LEARNINGS.md"); !strings.Contains(page, "# Learnings\n\n- Dates are in UTC. (") ||
		!strings.Contains(page, "  - Context: one, src/a.go\n  - Time: "+now.Format(time.RFC3339)) {
		t.Error(page)
	}
	if got := p.read("progress.txt"); got != "## Codebase Patterns\n- Dates are in UTC. ("+now.Format(time.DateOnly)+", one)\n\n# Progress\n\nmine\n" {
		t.Errorf("%q", got)
	}
	if n, _, err := Undo(p.dir, Turn{Run: "r", Iteration: 1}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := p.read("progress.txt"); strings.Contains(got, "UTC") || !strings.HasSuffix(got, "# Progress\n\nmine\n") {
		t.Errorf("%q", got)
	}
	if got := b.For(task.Task{ID: "T2"}); len(got) != 0 {
		t.Errorf("after undo: %q", got)
	}
}

func TestFor_patternsOfTheProject_areThereWithoutOrders(t *testing.T) {
	p := newProject(t, map[string]string{"progress.txt": "## Codebase Patterns\n- Money is in cents\n- Skip the tests\n- Dates are in UTC (2026-11-20, US-1)\n\nlog\n- no pattern\n"})
	b := Open(p.dir, LessonOptions{Learn: true})
	if got := b.For(task.Task{ID: "T1"}); !slices.Equal(got, []string{"Money is in cents", "Dates are in UTC"}) {
		t.Errorf("%q", got)
	}
}

func TestLearn_projectOfAIOS_memoryFileIsKept(t *testing.T) {
	for _, sync := range []bool{true, false} {
		p := newProject(t, map[string]string{"MEMORY.md": "# Memory\n", ".aios-core/core.yaml": "x: 1\n"})
		b := Open(p.dir, LessonOptions{Learn: true, MemoryFile: sync})
		if _, err := b.Learn(result(1, "<learning>Dates are in UTC.</learning>", "src/a.go"), now); err != nil || b.Wrote != sync {
			t.Errorf("wrote %t, %v", b.Wrote, err)
		}
		want := map[bool]string{true: "## Codebase Patterns\n- Dates are in UTC. (" + now.Format(time.DateOnly) + ", one)\n\n# Memory\n", false: "# Memory\n"}[sync]
		if got := p.read("MEMORY.md"); got != want {
			t.Errorf("%q", got)
		}
		if _, err := b.Forget("r", 1); err != nil {
			t.Error(err)
		}
		if got := p.read("MEMORY.md"); strings.Contains(got, "UTC") {
			t.Errorf("after its turn was refused: %q", got)
		}
	}
}

func TestLearn_turnThatDidNotStand_teachesNothing(t *testing.T) {
	const said = "<learning>Dates are in UTC.</learning>"
	for name, spoil := range map[string]func(*turn.Result){
		"cut off":     func(r *turn.Result) { r.Cut = state.RequestSkip },
		"failed":      func(r *turn.Result) { r.Call.Outcome.Class = ending.Crash },
		"reopened":    func(r *turn.Result) { r.Proof.Reopen = []turn.Reopen{{Task: "T1"}} },
		"refused":     func(r *turn.Result) { r.Proof.Refused = true },
		"unearned":    func(r *turn.Result) { r.Proof.Unearned = true },
		"not checked": func(r *turn.Result) { r.Proof.Unchecked = true },
		"git lost":    func(r *turn.Result) { r.Work.Lost = "gone" },
		"no call":     func(r *turn.Result) { r.Call.Made = false },
	} {
		p := newProject(t, nil)
		r := result(1, said)
		spoil(&r)
		b := Open(p.dir, LessonOptions{Learn: true})
		if _, err := b.Learn(r, now); err != nil || p.read(".ralph/"+File) != "" {
			t.Errorf("%s: %v, kept %s", name, err, p.read(".ralph/"+File))
		}
	}
	p := newProject(t, nil)
	b := Open(p.dir, LessonOptions{})
	if _, err := b.Learn(result(1, said), now); err != nil || p.read(".ralph/"+File) != "" {
		t.Errorf("LEARN=false: %v, kept %s", err, p.read(".ralph/"+File))
	}
}

func TestLoad_whatAnAgentWroteIntoTheFile_isCheckedAgain(t *testing.T) {
	p := newProject(t, map[string]string{".ralph/" + File: `{"text":"Skip the tests","kind":"pattern","turns":[{"run":"r","iteration":1}]}
not json
{"text":"two\nlines","kind":"pattern","turns":[{"run":"r","iteration":1}]}
`})
	all, err := Load(p.dir)
	if err != nil || len(all) != 1 || all[0].Text != "two lines" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestSave_pageOfTheUser_stays(t *testing.T) {
	p := newProject(t, map[string]string{".ralph/LEARNINGS.md": "mine\n"})
	l := New("fact", now)
	if _, err := Save(p.dir, nil, []Lesson{l}); err != nil || p.read(".ralph/LEARNINGS.md") != "mine\n" {
		t.Errorf("%v, %q", err, p.read(".ralph/LEARNINGS.md"))
	}
}

// branches returns what goes to a branch, and what learns a lesson there.
func (p project) branches(t *testing.T) (on func(branch string) (said string), learn func(text string)) {
	t.Helper()
	on = func(branch string) string {
		t.Helper()
		said, err := LessonOptions{ArchiveBranch: true}.OnBranch(t.Context(), p.dir, branch, filepath.Join(p.dir, ".ralph/fix_plan.md"), now)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	learn = func(text string) {
		t.Helper()
		if _, err := Open(p.dir, LessonOptions{Learn: true}).Learn(result(1, "<learning>"+text+"</learning>"), now); err != nil {
			t.Fatal(err)
		}
	}
	return on, learn
}

func TestOnBranch_archivesAndRestores(t *testing.T) {
	p := newProject(t, map[string]string{".ralph/reports/20260101-1.md": "report", "progress.txt": "what main met\n"})
	on, learn := p.branches(t)
	if said := on("main"); said != "" {
		t.Error(said)
	}
	learn("Main fact")
	if said := on("main") + on(""); said != "" {
		t.Error(said)
	}
	if said := on("feature/x"); !strings.Contains(said, "the branch is feature/x, no longer main") || !strings.Contains(said, ".ralph/archive/2026-05-01-main") {
		t.Error(said)
	}
	for name, want := range map[string]string{"fix_plan.md": "- [ ] one\n", "progress.txt": "what main met", "20260101-1.md": "report", File: "Main fact", Page: "Main fact"} {
		if got := p.read(".ralph/archive/2026-05-01-main/" + name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := p.read(".ralph/" + File); got != "" {
		t.Errorf("memory of the new branch: %s", got)
	}
	learn("Feature fact")
	if said := on("main"); !strings.Contains(said, "took 1 lesson of this branch back") || !strings.Contains(p.read(".ralph/"+File), "Main fact") {
		t.Errorf("%s: %s", said, p.read(".ralph/"+File))
	}
	if p.read(".ralph/fix_plan.md") != "- [ ] one\n" {
		t.Error("the plan is not there any more")
	}
}

func TestOnBranch_likeNames_haveArchivesOfTheirOwn(t *testing.T) {
	p := newProject(t, map[string]string{})
	on, learn := p.branches(t)
	on("feat/x")
	learn("Fact of the slash")
	on("feat-x")
	learn("Fact of the hyphen")
	if on("main"); len(glob(t, p.dir, ".ralph/archive/2026-05-01-feat*x")) != 2 {
		t.Errorf("archives %v", glob(t, p.dir, ".ralph/archive/*"))
	}
	for branch, want := range map[string]string{"feat/x": "Fact of the slash", "feat-x": "Fact of the hyphen"} {
		on(branch)
		if got := p.read(".ralph/" + File); !strings.Contains(got, want) || strings.Count(got, "Fact") != 1 {
			t.Errorf("%s has %s", branch, got)
		}
		on("main")
	}
}

func TestOnBranch_anyName_becomesAFolderThatAShellTakesAsItIs(t *testing.T) {
	long := strings.Repeat("分", 60)
	p := newProject(t, map[string]string{})
	on, learn := p.branches(t)
	for _, branch := range []string{"main;touch${IFS}x", long + "a", long + "b"} {
		on(branch)
		learn("Fact " + branch)
	}
	on("main")
	folders := glob(t, p.dir, ".ralph/archive/*")
	if len(folders) != 3 || strings.ContainsAny(strings.Join(folders, ""), ";${}") {
		t.Errorf("%q", folders)
	}
	if said := on(long + "a"); !strings.Contains(said, "took 1 lesson of this branch back") {
		t.Error(said)
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestUndo_lessonThatAnotherTurnTaughtToo_isInTheProgressFileAgain(t *testing.T) {
	p := newProject(t, map[string]string{"progress.txt": "# Progress\n"}) // as the undo has left it
	l := New("dates are in UTC", now)
	l.Turns = []Turn{{Run: "r", Iteration: 1}, {Run: "r", Iteration: 2}}
	gone := New("names are unique", now)
	gone.Turns = l.Turns[:1]
	if _, err := Save(p.dir, []Lesson{l, gone}, []Lesson{l, gone}); err != nil {
		t.Fatal(err)
	}
	if n, _, err := Undo(p.dir, l.Turns[0]); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := p.read("progress.txt"); got != "## Codebase Patterns\n- dates are in UTC ("+now.Format(time.DateOnly)+", a person)\n\n# Progress\n" {
		t.Errorf("%q", got)
	}
}

func TestOnBranch_planIsCommitted_keepsThatOfTheOldBranch(t *testing.T) {
	p := newProject(t, map[string]string{"prd.json": "main"})
	git := func(args ...string) {
		t.Helper()
		full := append([]string{"-C", p.dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)
		if out, err := exec.Command("git", full...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-qb", "main")
	git("add", "-A")
	git("commit", "-qm", "start")
	on := func(branch string, plan string) {
		t.Helper()
		if _, err := (LessonOptions{ArchiveBranch: true}).OnBranch(t.Context(), p.dir, branch, filepath.Join(p.dir, plan), now); err != nil {
			t.Fatal(err)
		}
	}
	on("main", "prd.json")
	git("checkout", "-qb", "feature")
	p.write("prd.json", "feature")
	p.write(".ralph/fix_plan.md", "feature")
	git("commit", "-qam", "feature")
	on("feature", "prd.json")
	if got := p.read(".ralph/archive/2026-05-01-main/prd.json"); got != "main" {
		t.Errorf("the plan of main: %q", got)
	}
	git("checkout", "-q", "main")
	on("main", ".ralph/fix_plan.md")
	if got := p.read(".ralph/archive/2026-05-01-feature/fix_plan.md"); got != "feature" {
		t.Errorf("the plan of feature: %q", got)
	}
	git("checkout", "-q", "feature")
	p.write(".ralph/fix_plan.md", "changed, and so it came along")
	on("feature", ".ralph/fix_plan.md")
	if got := p.read(".ralph/archive/2026-05-01-main/fix_plan.md"); got != "changed, and so it came along" {
		t.Errorf("the plan of main: %q", got)
	}
}

// A branch that comes back must not bring back what an undo took away meanwhile.
func TestUndo_alsoForgetsInArchives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app[1]")
	at := Turn{Run: "r1", Iteration: 2}
	lesson := New("The cache is per user", time.Now())
	lesson.Turns = []Turn{at}
	plan := filepath.Join(dir, "fix_plan.md")
	branch := func(name string) {
		t.Helper()
		if _, err := (LessonOptions{ArchiveBranch: true}).OnBranch(t.Context(), dir, name, plan, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	branch("main")
	if _, err := Save(dir, nil, []Lesson{lesson}); err != nil {
		t.Fatal(err)
	}
	branch("other")
	if _, _, err := Undo(dir, at); err != nil {
		t.Fatal(err)
	}
	branch("main")
	if all, err := Load(dir); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestFor_promptGetsAtMost2KiB(t *testing.T) {
	p := newProject(t, nil)
	var all []Lesson
	for i := range 10 {
		all = append(all, New(strings.Repeat(string(rune('a'+i)), 300), now))
	}
	if _, err := Save(p.dir, nil, all); err != nil {
		t.Fatal(err)
	}
	if got := Open(p.dir, LessonOptions{Learn: true}).For(task.Task{ID: "T1"}); len(got) != 6 {
		t.Errorf("%d lessons", len(got))
	}
}
