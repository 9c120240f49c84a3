package runner

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// answer ends the tool that f.tool began.
func (f *fake) answer() {
	f.print(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}}}})
}

func tickIn(dir, title string) { put(dir+planName, ticked(dir, title)) }

func ticked(dir, title string) string {
	return strings.Replace(read1(dir+planName), "- [ ] "+title, "- [x] "+title, 1)
}

// editors tick a task as editors write files.
var editors = map[string]func(dir, title string) error{
	"in place": func(dir, title string) error { return os.WriteFile(dir+planName, []byte(ticked(dir, title)), 0o600) },
	"sed -i": func(dir, title string) error {
		return exec.Command("sed", "-i", "s/. . "+title+"/[x] "+title+"/", dir+planName).Run()
	},
	"vim, renames": func(dir, title string) error { // the old file becomes the backup, and for a moment there is none
		text := ticked(dir, title)
		return errors.Join(os.WriteFile(dir+"/.ralph/4913", nil, 0o600), os.Remove(dir+"/.ralph/4913"),
			os.Rename(dir+planName, dir+planName+"~"), os.WriteFile(dir+planName, []byte(text), 0o600), os.Remove(dir+planName+"~"))
	},
	"vim, copies": func(dir, title string) error {
		text := ticked(dir, title)
		return errors.Join(os.WriteFile(dir+planName+"~", []byte(read1(dir+planName)), 0o600),
			os.WriteFile(dir+planName, []byte(text), 0o600), os.Remove(dir+planName+"~"))
	},
}

// editFakes work on the task "one" with a tool that tells its end, and think for a while.
// Meanwhile somebody ticks "two".
var editFakes = map[string]func(*fake) int{
	"edited-by-person": func(f *fake) int { return f.edited(func() { put("thinks", "x") }) },
	"edited-before-tools": func(f *fake) int {
		pause()
		put("thinks", "x")
		pause()
		pause()
		pause()
		return f.edited(func() {})
	},
	"edited-in-background": func(f *fake) int {
		return f.edited(func() {
			f.tool("Bash", "sed &")
			_ = exec.Command("/bin/sh", "-c", "(sleep 1; sed -i 's/. . two/[x] two/' "+planName+") >/dev/null 2>&1 &").Run()
			f.answer()
			pause()
		})
	},
	"edited-in-tool": func(f *fake) int {
		return f.edited(func() { f.tool("Bash", "sed"); put("thinks", "x"); pause(); f.answer() })
	},
	"forges": func(f *fake) int {
		f.tool("Edit", "work.txt")
		put("work.txt", "x")
		list, err := store.Load(store.File{Path: planName})
		if err != nil || len(list.Tasks) < 2 {
			return 1
		}
		before, after := list.Tasks[1], list.Tasks[1]
		after.State = task.Done
		if store.RecordEdit(".ralph/plan_edits.jsonl", store.JournalEdit{Before: &before, After: &after}) != nil {
			return 1
		}
		tickIn("", "one")
		tickIn("", "two")
		f.answer()
		return f.result("ok"+block(false, ""), nil)
	},
	"edited-by-child": func(f *fake) int {
		return f.edited(func() { _ = exec.Command("/bin/sh", "-c", "sed -i 's/. . two/[x] two/' "+planName).Run() })
	},
}

func onLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells whose child a process was")
	}
}

func pause() { time.Sleep(time.Second) } // sleep: the agent thinks

func (f *fake) edited(meanwhile func()) int {
	f.tool("Edit", "work.txt")
	put("work.txt", "x")
	f.answer()
	pause()
	meanwhile()
	pause()
	pause()
	pause()
	f.tool("Edit", planName)
	tickIn("", "one")
	f.answer()
	return f.result("ok"+block(false, ""), nil)
}

func TestRun_planEditedDuringACall_isTheAgentsUnlessItCannotBe(t *testing.T) {
	onLinux(t)
	for _, c := range []struct {
		agent, editor string // empty: the agent itself ticks
		theirs        bool
	}{
		{"edited-by-person", "in place", true}, {"edited-by-person", "sed -i", true},
		{"edited-by-person", "vim, renames", true}, {"edited-by-person", "vim, copies", true},
		{"edited-before-tools", "sed -i", true},
		{"edited-in-tool", "sed -i", false}, {"edited-by-child", "", false}, {"edited-in-background", "", false},
	} {
		agent, theirs := c.agent, c.theirs
		t.Run(agent+" "+c.editor, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one", "[ ] two", "[ ] three")
			b.inGit()
			b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 1
			if edit := editors[c.editor]; edit != nil {
				go func() {
					waitFor(t, b.dir+"/thinks")
					if err := edit(b.dir+"/", "two"); err != nil {
						t.Error(err)
					}
				}()
			}
			wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
			stands := strings.Contains(b.read(planName), "[x] two")
			told, found := false, false
			for _, c := range payloads[state.TaskChange](b) {
				told = told || c.Title == "two" && c.State == "done" && strings.Contains(c.Why, "a person")
			}
			for _, c := range payloads[state.TaskChange](b) {
				found = found || c.Title == "two" && c.State == state.TaskOpen
			}
			if stands != theirs || told != theirs || found == theirs {
				t.Errorf("the tick stands: %t, told: %t, blamed on the agent: %t\n%s\n%s", stands, told, found, b.said(), b.read(planName))
			}
			if !strings.Contains(b.read(planName), "[x] one") {
				t.Error("the agent's own tick is gone")
			}
		})
	}
}

// A person who ticks the task at hand knows why; no check takes that back.
func TestRun_personTicksTheTaskAtHand_theTickStands(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	onLinux(t)
	t.Parallel()
	b := newBench(t, "edited-by-person", "[ ] two", "[ ] three")
	b.inGit()
	b.check("false")
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 1
	go func() {
		waitFor(t, b.dir+"/thinks")
		tickIn(b.dir+"/", "two")
	}()
	b.run(t.Context())
	if !strings.Contains(b.read(planName), "[x] two") {
		t.Errorf("%s\n%s", b.said(), b.read(planName))
	}
}

// What a person does with ralph task is theirs whenever it happens.
func TestRun_planEditedWithRalphTaskDuringACall_isThePersons(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "edited-in-tool", "[ ] one", "[ ] two", "[ ] three")
	b.inGit()
	record := t.TempDir() + "/edits.jsonl"
	b.d.PlanEdits = record
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 1
	go func() {
		waitFor(t, b.dir+"/thinks")
		list, err := store.Load(store.File{Path: b.dir + "/" + planName})
		if err != nil || len(list.Tasks) < 2 {
			return // the plan below says so
		}
		before, after := list.Tasks[1], list.Tasks[1]
		after.State = task.Done
		tickIn(b.dir+"/", "two")
		_ = store.RecordEdit(record, store.JournalEdit{Before: &before, After: &after})
	}()
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if !strings.Contains(b.read(planName), "[x] two") {
		t.Errorf("%s\n%s", b.said(), b.read(planName))
	}
}

// What is in the project, the agent can write itself.
func TestRun_agentForgesARecordOfAPersonsEdit_theTickIsItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, "forges", "[ ] one", "[ ] two", "[ ] three")
	b.inGit()
	b.d.PlanEdits = t.TempDir() + "/edits.jsonl"
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 1
	b.run(t.Context())
	found := false
	for _, c := range payloads[state.TaskChange](b) {
		found = found || c.Title == "two" && c.State == state.TaskOpen
	}
	if strings.Contains(b.read(planName), "[x] two") || !found {
		t.Errorf("found: %t\n%s\n%s", found, b.said(), b.read(planName))
	}
}

// A person ticks a task with ralph task after ralph has read the record of people's edits, and before it reads the plan:
// the record has it by then, or a moment later.
func TestRun_planEditedWithRalphTaskBetweenRecordAndPlan_isThePersons(t *testing.T) {
	for name, late := range map[string]time.Duration{"recorded at once": 0, "recorded later": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "edited-in-tool", "[ ] one", "[ ] two", "[ ] three", "[ ] four")
			b.inGit()
			b.d.PlanEdits = t.TempDir() + "/edits.jsonl"
			b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 1
			recorded := make(chan struct{}, 2)
			done := func(title string, late time.Duration) {
				list, err := store.Load(store.At(b.dir, b.d.Plan, nil))
				if err != nil {
					t.Error(err)
				}
				for _, before := range list.Tasks {
					if after := before; before.Title == title {
						after.State = task.Done
						if err := store.Set(store.At(b.dir, b.d.Plan, nil), before, task.Done); err != nil {
							t.Error(err)
						}
						record := func() {
							if err := store.RecordEdit(b.d.PlanEdits, store.JournalEdit{Before: &before, After: &after}); err != nil {
								t.Error(err)
							}
							recorded <- struct{}{}
						}
						if late == 0 {
							record()
						} else {
							time.AfterFunc(late, record)
						}
					}
				}
			}
			go func() {
				waitFor(t, b.dir+"/thinks")
				done("three", 0)
			}()
			b.d.Show = func(e state.Event) {
				b.seen = append(b.seen, e)
				if c, ok := e.Data.(state.TaskChange); ok && c.Title == "three" && c.Person { // it has read the record
					done("two", late)
				}
			}
			wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
			<-recorded
			<-recorded
			if !strings.Contains(b.read(planName), "[x] two") || len(b.found(state.FoundByAudit)) > 0 {
				t.Errorf("%s\n%s", b.said(), b.read(planName))
			}
		})
	}
}
