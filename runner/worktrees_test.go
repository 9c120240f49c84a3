package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/audit"
	"ralph/runner/slots"
	"ralph/state"
)

// besideFakes work on the task that the prompt names, while others work on theirs.
var besideFakes = map[string]func(*fake) int{
	"beside": func(f *fake) int { return f.beside(200 * time.Millisecond) },
	"beside-marks": func(f *fake) int {
		title := f.ownTask()
		put(os.Getenv(fakeCount)+"."+title[len(title)-1:], "begun")
		return f.beside(200 * time.Millisecond)
	},
	"beside-slowly": func(f *fake) int { return f.beside(time.Minute) },
	// Asks about a, and works on the others.
	"beside-asks": func(f *fake) int {
		if strings.HasSuffix(f.ownTask(), " a") && !strings.Contains(f.prompt, "SQLite is enough") {
			return f.result("Hm."+asks, nil)
		}
		return f.beside(500 * time.Millisecond)
	},
	"beside-careless": func(f *fake) int { // leaves the markers of a conflict once
		if title := f.ownTask(); strings.Contains(read1("shared"), "\n>>>>>>> ") && once("markers") {
			put(planName, strings.Replace(read1(planName), "- [ ] "+title+"\n", "- [x] "+title+"\n", 1))
			return f.result("Did it."+block(false, ""), nil)
		}
		return f.beside(200 * time.Millisecond)
	},
	"beside-in-lib": func(f *fake) int {
		if title := f.ownTask(); strings.HasSuffix(title, " a") {
			put("lib/f", "2\n")
			put(planName, strings.Replace(read1(planName), "- [ ] "+title+"\n", "- [x] "+title+"\n", 1))
			return f.result("Did it."+block(false, ""), nil)
		}
		return f.beside(0)
	},
	"untags":         func(f *fake) int { return f.untags(true, false) },
	"untags-hidden":  func(f *fake) int { return f.untags(false, false) },
	"untags-quickly": func(f *fake) int { return f.untags(true, true) },
	"trespasser": func(f *fake) int {
		put(filepath.Join(os.Getenv("RALPH_TEST_CHECKOUT"), "stray.txt"), "by an absolute path")
		return f.beside(0)
	},
	"beside-limited": func(f *fake) int {
		if strings.HasSuffix(f.ownTask(), " a") && once("limit") {
			return limit(f, time.Now().Add(2*time.Second))
		}
		return f.beside(600 * time.Millisecond)
	},
}

func (f *fake) ownTask() string {
	_, after, _ := strings.Cut(f.prompt, "\n## Your task\n\n")
	title, _, _ := strings.Cut(after, "\n")
	return title
}

// once is true the first time that it is called, in any process.
func once(what string) bool {
	file, err := os.OpenFile(os.Getenv(fakeCount)+"."+what, os.O_CREATE|os.O_EXCL, 0o600)
	_ = file.Close()
	return err == nil
}

// beside writes the file that the task names, and resolves conflicts.
func (f *fake) beside(thinks time.Duration) int {
	title := f.ownTask()
	words := strings.Fields(title)
	name := words[len(words)-1]
	if words[len(words)-2] == "shared" {
		name = "shared"
	}
	var lines []string
	for line := range strings.Lines(read1(name)) {
		if len(line) < 7 || !strings.ContainsRune("<=>", rune(line[0])) {
			lines = append(lines, line)
		}
	}
	if !strings.Contains(strings.Join(lines, ""), title+"\n") {
		lines = append(lines, title+"\n")
	}
	put(name, strings.Join(lines, ""))
	if strings.Contains(f.prompt, "\nnot both") {
		put("ok", "")
	}
	time.Sleep(thinks) // sleep: the agent thinks
	put(planName, strings.Replace(read1(planName), "- [ ] "+title+"\n", "- [x] "+title+"\n", 1))
	return f.result("Did it."+block(false, ""), nil)
}

// untags deletes a tag in the turn for the first task, while the other is under way, and does what both are about. The
// turn that deletes it ends first if quickly is true, else last.
func (f *fake) untags(tells, quickly bool) int {
	own := f.ownTask()
	wait := func(what string) {
		for end := time.Now().Add(30 * time.Second); read1(os.Getenv(fakeCount)+what) == "" && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond) // sleep: polls
		}
	}
	if strings.Contains(own, "delete") {
		wait("begun")
		if tells {
			f.tool("Bash", "git tag -d v0-old")
		}
		_ = exec.Command("git", "tag", "-d", "v0-old").Run()
		put(os.Getenv(fakeCount)+"gone", "gone")
		put("changes", "no v0-old\n")
		if !quickly {
			wait("done")
			time.Sleep(time.Second) // sleep: the other turn ends
		}
	} else {
		put(os.Getenv(fakeCount)+"begun", "begun")
		wait("gone")
		if quickly {
			time.Sleep(2 * time.Second) // sleep: the other turn ends
		}
		put("a", "a\n")
		put(os.Getenv(fakeCount)+"done", "done")
	}
	put(planName, strings.Replace(read1(planName), "- [ ] "+own+"\n", "- [x] "+own+"\n", 1))
	return f.result("Did it."+block(false, ""), nil)
}

// newBeside is a run with slots for all of its tasks.
func newBeside(t *testing.T, agent string, tasks ...string) *bench {
	t.Helper()
	var boxes []string
	for _, name := range tasks {
		boxes = append(boxes, "[ ] [P] write "+name)
	}
	b := newBench(t, agent, boxes...)
	b.o.SlotOptions = slots.SlotOptions{Parallel: len(tasks), Isolate: slots.IsolateNone, Land: slots.LandCheckout}
	b.inGit()
	return b
}

// order is the starts and ends of the iterations.
func (b *bench) order() string {
	var all []string
	for _, e := range b.seen {
		switch d := e.Data.(type) {
		case state.IterationStart:
			all = append(all, "+")
		case state.IterationEnd:
			all = append(all, "-")
		case state.Commit:
			if d.Landed != "" {
				all = append(all, "landed")
			}
		}
	}
	return strings.Join(all, " ")
}

func TestRun_independentTasks_workSideBySideAndLand(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBeside(t, "beside", "a", "b", "c")
	b.check("true")
	r := b.run(t.Context())
	wantEnd(t, r, "complete", 0)
	if u := r.Uncommitted; len(u) != 1 || u[0].File != planName {
		t.Errorf("the ticks are not committed, and the end says %v", u)
	}
	if got := b.order(); !strings.HasPrefix(got, "+ + + ") || strings.Count(got, "landed") != 3 {
		t.Error(got)
	}
	if got := b.git("log", "--format=%s"); strings.Count(got, "\n") < 3 || b.read("a")+b.read("b")+b.read("c") == "" {
		t.Error(got)
	}
	if got := b.git("status", "--porcelain", "--", ":!.ralph"); got != "" {
		t.Errorf("the checkout: %s", got)
	}
	if got := b.git("for-each-ref", "refs/ralph-work", "refs/heads/ralph"); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestRun_workInTheMergeQueue_letsTheNextTaskStart(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-marks", "a", "b", "c", "d")
	b.o.Parallel = 2
	// Joined, a and b pass only once the agent of the fourth task works.
	b.check(`[ -e a ] && [ -e b ] || exit 0; for i in $(seq 300); do [ -e "$` + fakeCount + `.d" ] && exit 0; sleep 0.1; done; exit 1`)
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if got := b.order(); !strings.HasPrefix(got, "+ + ") || strings.Count(got, "landed") != 4 || b.sentBack() != "" {
		t.Errorf("%s; sent back: %q", got, b.sentBack())
	}
}

func TestRun_questionBesideOthers_parksItsTask(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-asks", "a", "b", "c")
	b.o.Parallel, b.o.QuestionWait = 2, 0
	b.check("true")
	wantEnd(t, b.run(t.Context()), state.RuleQuestion, state.ExitReview)
	if q, i := len(b.questions()), len(payloads[state.IterationStart](b)); q != 1 || i != 3 {
		t.Errorf("%d questions in %d iterations", q, i)
	}
	if _, err := b.store().Answered("q1", "SQLite is enough", "test"); err != nil {
		t.Fatal(err)
	}
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "complete", 0)
}

func TestRun_isolatedTurns_oneAtATime_reachTheFilesWhenTheyAreDone(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "a", "b")
	b.o.Parallel, b.o.Isolate = 1, slots.IsolateWorktree
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.order(); got != "+ landed - + landed -" {
		t.Error(got)
	}
}

func TestRun_conflict_goesToTheMergerWithBothSides(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "shared a", "shared b")
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.read("shared"); !strings.Contains(got, "shared a") || !strings.Contains(got, "shared b") || strings.Contains(got, "<<<") {
		t.Errorf("%q", got)
	}
	roles := map[string]int{}
	for _, e := range b.seen {
		if e.Kind == state.KindPhase {
			roles[e.Role]++
		}
	}
	if got := b.sentBack(); roles["merger"] == 0 || got != state.MergeConflict {
		t.Errorf("roles: %v; sent back: %q", roles, got)
	}
}

func TestRun_workInASubmodule_doesNotCountAsDone(t *testing.T) {
	world.Long(t, "worktrees")
	t.Parallel()
	b := newBeside(t, "beside-in-lib", "a", "b")
	b.o.Setup = "git -c protocol.file.allow=always submodule --quiet update --init"
	lib := world.Folder{TB: t, Dir: t.TempDir()}
	lib.Git("init", "-q")
	lib.Write("f", "1\n")
	lib.Commit("first")
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "lib")
	b.git("commit", "-qm", "with a submodule")
	r := b.run(t.Context())
	wantEnd(t, r, state.RuleTasksPutAside, state.ExitClaimed)
	if !strings.Contains(r.Decision.Reason, "it changes the submodule lib") || strings.Count(b.read(planName), "[x]") != 1 || b.read("b") == "" {
		t.Errorf("%s\n%s", r.Decision.Reason, b.read(planName))
	}
}

func TestRun_conflictMarkersAreLeft_nothingWithThemLands(t *testing.T) {
	world.Long(t, "worktrees")
	t.Parallel()
	b := newBeside(t, "beside-careless", "shared a", "shared b")
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.read("shared"); !strings.Contains(got, "shared a") || !strings.Contains(got, "shared b") || strings.Contains(got, "<<<") {
		t.Errorf("%q", got)
	}
	if got := b.sentBack(); got != state.MergeConflict+" "+state.MergeConflict {
		t.Errorf("sent back: %q", got)
	}
}

// sentBack is why work was sent back, in words with spaces between.
func (b *bench) sentBack() string {
	var all []string
	for _, e := range b.seen {
		if d, ok := e.Data.(state.IterationEnd); ok && d.Merge != "" {
			all = append(all, d.Merge)
		}
	}
	return strings.Join(all, " ")
}

func TestRun_redOnlyTogether_theCulpritGetsTheFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "a", "b")
	b.check("test ! -f a || test ! -f b || test -f ok || { echo not both; exit 1; }")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if b.read("a") == "" || b.read("b") == "" {
		t.Error("not all has landed")
	}
	if got := b.order(); strings.Count(got, "+") != 3 || strings.Count(got, "landed") != 2 || b.sentBack() != state.MergeChecks {
		t.Errorf("%s; sent back: %q", got, b.sentBack())
	}
}

func TestRun_limitOfOneTurn_isThatOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-limited", "a", "b", "c")
	b.o.Parallel, b.o.OnLimit = 2, "wait"
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.order(); !strings.HasPrefix(got, "+ + - landed - +") { // the third waits although a slot is free
		t.Errorf("%s (%s)", got, b.rules())
	}
}

func TestRun_checkoutInTheWay_staysAndTheEndSaysHowToGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	for _, land := range []string{slots.LandCheckout, slots.LandBranch} {
		b := newBeside(t, "beside", "a", "b")
		if b.o.Land = land; land == slots.LandCheckout {
			b.write("a", "mine")
			b.write("b", "mine")
		}
		r := b.run(t.Context())
		wantEnd(t, r, "plan_complete", 0)
		if got := b.git("log", "--format=%s", "HEAD..ralph/run-1"); strings.Count(got, "\n") != 2 || !strings.Contains(r.Decision.Next, "git merge ralph/run-1") {
			t.Errorf("%s: %q; next: %s", land, got, r.Decision.Next)
		}
		if got, _ := os.ReadFile(b.dir + "/b"); land == slots.LandCheckout && string(got) != "mine" || land == slots.LandBranch && got != nil {
			t.Errorf("%s: the files of the user were touched", land)
		}
	}
}

func TestRun_bounds_countTheTurnsUnderWay(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "a", "b", "c", "d")
	b.o.MaxIterations = 2
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if got := b.order(); strings.Count(got, "+") != 2 || strings.Count(got, "landed") != 2 {
		t.Error(got)
	}
}

func TestRun_abort_endsAllTurnsAndKeepsTheirWork(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-slowly", "a", "b")
	show, begun := b.d.Show, 0
	b.d.Show = func(e state.Event) {
		show(e)
		if _, ok := e.Data.(state.SessionStart); ok {
			if begun++; begun == 2 {
				time.AfterFunc(300*time.Millisecond, func() { b.ask(state.RequestAbort) })
			}
		}
	}
	r := b.run(t.Context())
	if r.Decision.ExitReason != "aborted" {
		t.Errorf("%+v", r.Decision)
	}
	if got := b.git("for-each-ref", "--format=%(refname)", "refs/ralph-work"); strings.Count(got, "\n") != 2 {
		t.Errorf("kept: %q", got)
	}
}

func TestRun_agentWritesIntoTheCheckoutOfTheUser_isSaid(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"trespasser": 1, "beside": 0} {
		b := newBeside(t, name, "a", "b")
		b.d.Env = append(b.d.Env, "RALPH_TEST_CHECKOUT="+b.dir)
		if r := b.run(t.Context()); r.Decision.Exit != state.ExitComplete {
			t.Errorf("%+v", r.Decision)
		}
		found := b.found(state.FoundByAudit)
		if len(found) != want || want > 0 && !strings.Contains(found[0], "files in your own checkout changed: stray.txt. If that was not you") {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func TestRun_noRepository_endsWithOneLine(t *testing.T) {
	t.Parallel()
	b := newBench(t, "beside", "[ ] [P] write a", "[ ] [P] write b")
	b.o.SlotOptions = slots.SlotOptions{Parallel: 2}
	r := b.run(t.Context())
	if r.Decision.Exit != state.ExitUsage || !strings.Contains(r.Decision.Reason, "git init") || b.calls() > 0 {
		t.Errorf("%+v", r.Decision)
	}
}

func TestRun_tagIsGoneSideBySide_concernsOneTurnAtMost(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	for name, c := range map[string]struct {
		agent, task string
		by          string // title of the task whose turn has the finding; empty: none has it
		anyone      bool   // or that of another one
	}{
		"asked for":             {agent: "untags", task: "delete the tag v0-old, and note it in changes"},
		"asked for, ends first": {agent: "untags-quickly", task: "delete the tag v0-old, and note it in changes"},
		"asked for, not told":   {agent: "untags-hidden", task: "delete the tag v0-old, and note it in changes"},
		"shown by its tools":    {agent: "untags", task: "delete nothing, write changes", by: "[P] delete nothing, write changes"},
		"ends first":            {agent: "untags-quickly", task: "delete nothing, write changes", by: "[P] delete nothing, write changes"},
		"shown by nothing":      {agent: "untags-hidden", task: "delete nothing, write changes", by: "[P] write a", anyone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBeside(t, c.agent, "a", "b")
			b.write(planName, strings.Replace(b.read(planName), "write b", c.task, 1))
			b.check("true")
			b.git("tag", "v0-old")
			r := b.run(t.Context())
			titles := map[int]string{}
			var found []string
			for _, e := range b.seen {
				switch d := e.Data.(type) {
				case state.IterationStart:
					titles[e.Origin.Iteration] = d.Title
				case state.Finding:
					if d.Name == string(audit.KindLost) {
						found = append(found, titles[e.Origin.Iteration])
					}
				}
			}
			if c.by == "" {
				wantEnd(t, r, "complete", 0)
				if len(found) > 0 {
					t.Errorf("accused %q", found)
				}
				return
			}
			wantEnd(t, r, "review", state.ExitReview)
			if len(found) != 1 || found[0] != c.by && !c.anyone || len(r.Decision.Review) != 1 {
				t.Errorf("found in the turns for %q: %v", found, r.Decision.Review)
			}
		})
	}
}

// The slot of the first job may still have what the last run left in it.
func TestRun_inWorktrees_takesItsBaselineWhereResultsAreMerged(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside", "a")
	b.o.Isolate = slots.IsolateWorktree
	seen := t.TempDir() + "/seen"
	b.check("pwd >> " + seen)
	wantEnd(t, b.run(t.Context()), "complete", 0)
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	if filepath.Base(filepath.Dir(first)) != "0" {
		t.Errorf("the baseline was taken in %s", first)
	}
}
