package turn_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/internal/scripted"
	"ralph/internal/world"
	"ralph/runner/audit"
	"ralph/runner/sandbox"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// contained puts the assignment into a sandbox that works here.
func contained(t *testing.T, a *turn.Assignment, mode string) {
	t.Helper()
	s, err := sandbox.Settings{Sandbox: mode}.Resolve()
	if err != nil {
		t.Skip(err)
	}
	if a.Sandbox, err = s.At(a.Dir, nil); err != nil {
		t.Fatal(err)
	}
	// bwrap hides what is in the folder for temporary files, as the script of the agent.
	for i, kv := range a.Agent.Spec.Env.Set {
		if name, path, _ := strings.Cut(kv, "="); strings.HasSuffix(path, ".json") {
			script, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, a.Dir, ".git/script.json", string(script))
			a.Agent.Spec.Env.Set[i] = name + "=" + filepath.Join(a.Dir, ".git", "script.json")
		}
	}
}

// A contained call changes no task but its own, wherever the plan is and however it is
// written. New tasks stay. A tick of another task is judged as without a sandbox: here, its own turn has to confirm it.
func TestRun_containedCall_changesItsOwnTaskOnly(t *testing.T) {
	world.Long(t, "sandboxes")
	const tick = `sed -i 's/\[ \] one/[x] one/' PLAN; echo x > work.txt; `
	for _, mode := range []string{"landlock", "bwrap"} {
		for _, name := range []string{"plan.md", ".ralph/plan.md"} {
			for script, want := range map[string]string{
				tick: "x one, o two",
				tick + `sed -i 's/two/only half of it/' PLAN`:                                        "x one, o two",
				tick + `sed -i 's/\[ \] two/[x] two/' PLAN`:                                          "x one, x two",
				tick + `sed -i /two/d PLAN`:                                                          "x one, o two",
				`echo x > work.txt; printf -- '- [x] one\n' > PLAN.new; mv PLAN.new PLAN`:            "x one, o two",
				tick + `printf -- '- [ ] three\n' >> PLAN`:                                           "x one, o two, o three",
				tick + `sed -i 's/one/one, see work.txt/' PLAN`:                                      "x one, see work.txt, o two",
				`echo x > work.txt; printf -- '- [-] one\n- [x] one\n' > PLAN; rm PLAN; echo > PLAN`: "o one, o two",
			} {
				t.Run(mode+" "+name+" "+script, func(t *testing.T) {
					a := scripted.Project(t, []scripted.Step{{Do: "run", Text: strings.ReplaceAll(script, "PLAN", name)}})
					contained(t, &a, mode)
					if name != a.Plan.Name {
						put(t, a.Dir, name, "- [ ] one\n- [ ] two\n")
						a.Plan = store.File{Path: filepath.Join(a.Dir, name), Name: name}
					}
					a.Protect = []string{a.Plan.Path}
					s := here(t, a)
					var got []string
					for _, one := range store.Read(a.Plan).List.Tasks {
						got = append(got, map[bool]string{true: "x ", false: "o "}[one.Done()]+one.Title)
					}
					if s := strings.Join(got, ", "); s != want && (want != "x one, o two" || s != "o one, o two") {
						t.Errorf("the plan is now: %s", s)
					}
					if !strings.HasPrefix(want, "o one") && (len(s.Result.Proof.After.List.Tasks) == 0 || !s.Result.Proof.After.List.Tasks[0].Done()) {
						t.Errorf("the tick is lost: %+v; %+v", s.Result.Proof.After, s.Result.Proof.Findings)
					}
					confirm := func(o turn.Reopen) bool {
						return o.By == turn.ReopenConfirm && o.Task == s.Result.Work.Before.List.Tasks[1].ID
					}
					if reopen := s.Result.Proof.Reopen; slices.ContainsFunc(reopen, confirm) != (want == "x one, x two") {
						t.Errorf("opened again: %+v", reopen)
					}
					foreign := func(f audit.Finding) bool { return f.Kind == audit.KindTaskChanged }
					changed := strings.Contains(script, "two") && want != "x one, x two" || strings.Contains(script, "mv")
					if told := slices.ContainsFunc(s.Result.Proof.Findings, foreign); told != changed && !strings.Contains(script, "rm") {
						t.Errorf("reported: %v; %+v", told, s.Result.Proof.Findings)
					}
					left, _ := filepath.Glob(filepath.Join(filepath.Dir(a.Plan.Path), ".returned*"))
					if _, err := os.Stat(filepath.Join(a.LogDir, "1."+filepath.Base(name))); (err == nil) != changed && !strings.Contains(script, "rm") || len(left) > 0 {
						t.Errorf("kept aside: %v; left: %q", err, left)
					}
				})
			}
		}
	}
}

// A call can write what its checks run. In bwrap, they cannot write the plan; in landlock, it is put back.
func TestRun_containedCheckChangesThePlan_isPutBack(t *testing.T) {
	for _, mode := range []string{"landlock", "bwrap"} {
		a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "sed -i 's/. . one/[x] one/' plan.md; echo x > work.txt; echo 'sed -i s/two/less/ plan.md' > check.sh"}})
		contained(t, &a, mode)
		a.Checks.Rows[0].Command = "if test -f check.sh; then sh check.sh; fi"
		s := here(t, a)
		if tasks := store.Read(a.Plan).List.Tasks; len(tasks) != 2 || tasks[1].Title != "two" || !tasks[0].Done() {
			t.Errorf("%s: %+v", mode, tasks)
		}
		if a.Sandbox.Locks() {
			if len(s.Result.Proof.Findings) > 0 || !s.Result.Proof.Report.Blocked() {
				t.Errorf("%s: %+v", mode, s.Result.Proof)
			}
			continue
		}
		if len(s.Result.Proof.Findings) != 1 || s.Result.Proof.Findings[0].Kind != audit.KindTaskChanged || !strings.Contains(s.Result.Proof.Findings[0].Text, "logs/1.plan.md") {
			t.Errorf("%s: %+v", mode, s.Result.Proof.Findings)
		}
	}
}

// What a person changes with an editor while checks run stays where they cannot write the plan.
func TestRun_aPersonChangesThePlanWhileChecksRun_thatStays(t *testing.T) {
	for _, name := range []string{"plan.md", ".ralph/plan.md"} {
		a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "sed -i 's/. . one/[x] one/' " + name + "; echo x > work.txt"}})
		contained(t, &a, "bwrap")
		put(t, a.Dir, name, "- [ ] one\n- [ ] two\n")
		a.Plan = store.File{Path: filepath.Join(a.Dir, name), Name: name}
		w := &turn.Worker{}
		defer w.Close()
		res, err := w.Run(t.Context(), a, func(e state.Event) {
			if step, ok := e.Data.(state.Phase); ok && step.Name == state.PhaseChecking {
				put(t, a.Dir, name, "- [x] one\n- [ ] two, quickly\n")
			}
		})
		if text, _ := os.ReadFile(a.Plan.Path); string(text) != "- [x] one\n- [ ] two, quickly\n" || err != nil || len(res.Proof.Findings) > 0 {
			t.Errorf("%s: %q, %v, %+v", name, text, err, res.Proof.Findings)
		}
	}
}

// What a person changes with an editor while a check works cannot be told from what the check does: it is put back. It
// is kept, and the report says where, also if the call has changed other tasks before.
func TestRun_aPersonChangesThePlanWhileACheckWorks_thatIsKept(t *testing.T) {
	const person = "- [x] one\n- [ ] two, quickly\n"
	for call, kept := range map[string]string{"": "1.plan.md", "; sed -i 's/two/less/' plan.md": "1.plan.md.2"} {
		a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "sed -i 's/. . one/[x] one/' plan.md; echo x > work.txt" + call}})
		contained(t, &a, "landlock")
		a.Checks.Rows[0].Command = "! test -f work.txt || { touch works; while ! grep -q quickly plan.md; do :; done; }"
		w := &turn.Worker{}
		defer w.Close()
		ended := make(chan struct{})
		go func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(20 * time.Millisecond):
				}
				if _, err := os.Stat(filepath.Join(a.Dir, "works")); err == nil {
					put(t, a.Dir, "plan.md", person)
					return
				}
			}
		}()
		res, err := w.Run(t.Context(), a, func(state.Event) {})
		close(ended)
		if tasks := store.Read(a.Plan).List.Tasks; err != nil || len(tasks) != 2 || tasks[1].Title != "two" || call == "" && !tasks[0].Done() {
			t.Errorf("%q: %+v, %v", call, tasks, err)
		}
		text, err := os.ReadFile(filepath.Join(a.LogDir, kept))
		named := slices.ContainsFunc(res.Proof.Findings, func(f audit.Finding) bool {
			return f.Kind == audit.KindTaskChanged && strings.Contains(f.Text, "logs/"+kept)
		})
		if string(text) != person || err != nil || !named {
			t.Errorf("%q: kept %q, %v; %+v", call, text, err, res.Proof.Findings)
		}
	}
}

// A call whose output cannot be kept ends in an error. What it has changed of other tasks is put back all the same.
func TestRun_callCannotBeRecorded_theOtherTasksAreAsBefore(t *testing.T) {
	const large = 1 << 30 // of a file without content
	var was unix.Rlimit
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_FSIZE, &was) }()
	for _, mode := range []string{"landlock", "bwrap"} {
		for _, name := range []string{"plan.md", ".ralph/plan.md"} {
			a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "sed -i 's/two/less/' " + name + "; echo x > work.txt"}})
			contained(t, &a, mode)
			put(t, a.Dir, name, "- [ ] one\n- [ ] two\n")
			a.Plan = store.File{Path: filepath.Join(a.Dir, name), Name: name}
			put(t, a.LogDir, "1.raw", "")
			if err := os.Truncate(filepath.Join(a.LogDir, "1.raw"), large); err != nil {
				t.Fatal(err)
			}
			w := &turn.Worker{}
			defer w.Close()
			ran := false
			_, err := w.Run(t.Context(), a, func(e state.Event) {
				if step, ok := e.Data.(state.Phase); ok && step.Name == state.PhaseAgent { // any output is too much
					ran = true
					if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: large, Max: was.Max}); err != nil {
						t.Error(err)
					}
				}
			})
			if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
				t.Error(err)
			}
			text, _ := os.ReadFile(a.Plan.Path)
			if !ran || err == nil || !strings.Contains(err.Error(), "file too large") || string(text) != "- [ ] one\n- [ ] two\n" {
				t.Errorf("%s, %s: %v, %q", mode, name, err, text)
			}
		}
	}
}

// While a call works on a copy of the plan, a person edits the plan itself. Both count.
func TestRun_aPersonChangesThePlanDuringTheCall_bothCount(t *testing.T) {
	const name, script = ".ralph/plan.md", "sed -i 's/. . one/[x] one/' .ralph/plan.md; echo x > work.txt; "
	for do, left := range map[string]bool{script: false, script + "printf '  - done so\n' > t; sed -i '/one/r t' .ralph/plan.md; rm t": true} {
		a := scripted.Project(t, []scripted.Step{{Do: "run", Text: do}})
		contained(t, &a, "bwrap")
		put(t, a.Dir, name, "- [ ] one\n- [ ] two\n")
		a.Plan = store.File{Path: filepath.Join(a.Dir, name), Name: name}
		person := map[bool]string{false: "- [ ] one\n- [ ] two, quickly\n", true: "- [ ] one\n  - but how\n- [ ] two, quickly\n"}[left]
		w := &turn.Worker{}
		defer w.Close()
		var told []state.TaskChange
		res, err := w.Run(t.Context(), a, func(e state.Event) {
			switch d := e.Data.(type) {
			case state.Tool:
				put(t, a.Dir, name, person)
			case state.TaskChange:
				told = append(told, d)
			}
		})
		want := strings.Replace(person, "[ ] one", "[x] one", 1)
		if text, _ := os.ReadFile(a.Plan.Path); string(text) != want || err != nil || len(res.Proof.Findings) > 0 {
			t.Errorf("%q, %v, %+v", text, err, res.Proof.Findings)
		}
		if !res.Proof.After.IsDone(a.Task.ID) {
			t.Errorf("the tick is lost: %+v", res.Proof.After)
		}
		dropped := slices.ContainsFunc(told, func(c state.TaskChange) bool { return !c.Person && strings.Contains(c.Why, "could not merge this") })
		if dropped != left || !slices.ContainsFunc(told, func(c state.TaskChange) bool { return c.Person }) {
			t.Errorf("told: %+v", told)
		}
	}
}

// Where a sandbox cannot lock ralph's own files, what a call makes of them does not last. What
// people write meanwhile with ralph's commands does.
func TestRun_containedCallForgesState_isAsBefore(t *testing.T) {
	world.Long(t, "sandboxes")
	const forge = `cd .ralph; for f in .call_count .circuit_breaker_state .exit_signals .ralph_session test_baseline.json config.yaml ../.ralphrc; do
		echo forged > $f; done; rm learnings.jsonl; echo '{}' > agent.json; echo '{}' > questions/q1.json; mv notes elsewhere; ln -s .. notes
		echo '{"text": "forged"}' > notes/n2.json`
	for _, mode := range []string{"landlock", "bwrap"} {
		t.Run(mode, func(t *testing.T) {
			a := scripted.Project(t, []scripted.Step{{Do: "run", Text: forge}})
			contained(t, &a, mode)
			dir := filepath.Join(a.Dir, ".ralph")
			a.LogDir, a.Plan.Edits = filepath.Join(dir, "logs", "run-1"), filepath.Join(t.TempDir(), "p.edits.jsonl")
			if !a.Sandbox.Locks() {
				a.State = dir
			}
			was := map[string]string{}
			for _, name := range []string{".call_count", ".circuit_breaker_state", ".exit_signals", ".ralph_session", "test_baseline.json", "config.yaml",
				"../.ralphrc", "learnings.jsonl", "questions/q1.json", "notes/n1.json"} {
				was[name] = "# of ralph\n"
				put(t, dir, name, was[name])
			}
			w := &turn.Worker{}
			defer w.Close()
			res, err := w.Run(t.Context(), a, func(e state.Event) {
				if _, began := e.Data.(state.Tool); began {
					put(t, dir, "questions/q2.json", "answered")
					if err := state.RecordPeople(state.PeopleRecordPath(a.Plan.Edits), a.Dir, ".ralph/questions/q2.json"); err != nil {
						t.Error(err)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			was["questions/q2.json"], was["agent.json"], was["notes/n2.json"], was["../n2.json"] = "answered", "", "", ""
			for name, want := range was {
				if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want && name != "../n2.json" {
					t.Errorf("%s is %q", name, got)
				}
			}
			var found []string
			for _, f := range res.Proof.Findings {
				if f.Kind == audit.KindStateChanged {
					_, files, _ := strings.Cut(f.Text, ": ")
					found = strings.Split(files, ", ")
				}
			}
			slices.Sort(found)
			want := ".ralph/.call_count .ralph/.circuit_breaker_state .ralph/.exit_signals .ralph/.ralph_session .ralph/agent.json .ralph/config.yaml " +
				".ralph/learnings.jsonl .ralph/questions/q1.json .ralph/test_baseline.json .ralphrc"
			if a.Sandbox.Locks() {
				want = ""
			}
			if got := strings.Join(found, " "); got != want {
				t.Errorf("found %s", got)
			}
		})
	}
}

// What a person writes with a command of ralph during a call is not the agent's, in any sandbox.
func TestRun_aPersonWritesSettingsDuringTheCall_isNotTheAgents(t *testing.T) {
	for _, mode := range []string{"off", "landlock", "bwrap"} {
		for _, recorded := range []bool{true, false} {
			a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "echo x > work.txt"}})
			if mode != "off" {
				contained(t, &a, mode)
			}
			put(t, a.Dir, ".ralph/config.yaml", "a: 1\n")
			a.Plan.Edits = filepath.Join(t.TempDir(), "p.edits.jsonl")
			w := &turn.Worker{}
			defer w.Close()
			res, err := w.Run(t.Context(), a, func(e state.Event) {
				if _, began := e.Data.(state.Tool); !began {
					return
				}
				put(t, a.Dir, ".ralph/config.yaml", "a: 2\n")
				if recorded {
					if err := state.RecordPeople(state.PeopleRecordPath(a.Plan.Edits), a.Dir, ".ralph/config.yaml"); err != nil {
						t.Error(err)
					}
				}
			})
			whole, wholeErr := w.Changed(t.Context(), a.Dir)
			if err != nil || wholeErr != nil {
				t.Fatal(err, wholeErr)
			}
			found := slices.ContainsFunc(res.Proof.Findings, func(f audit.Finding) bool { return f.File == ".ralph/config.yaml" })
			inAll := slices.ContainsFunc(whole.Files, func(f audit.File) bool { return f.Path == ".ralph/config.yaml" })
			if found == recorded || inAll == recorded {
				t.Errorf("%s, recorded %v: %+v, %v", mode, recorded, res.Proof.Findings, inAll)
			}
		}
	}
}
