package turn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/audit"
	"ralph/runner/sandbox"
	"ralph/runner/task/store"
	"ralph/runner/turn"
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
// written. New tasks stay.
func TestRun_containedCall_changesItsOwnTaskOnly(t *testing.T) {
	const tick = `sed -i 's/\[ \] one/[x] one/' PLAN; echo x > work.txt; `
	for _, mode := range []string{"landlock", "bwrap"} {
		for _, name := range []string{"plan.md", ".ralph/plan.md"} {
			for script, want := range map[string]string{
				tick: "x one, o two",
				tick + `sed -i 's/two/only half of it/' PLAN`:                                        "x one, o two",
				tick + `sed -i 's/\[ \] two/[x] two/' PLAN`:                                          "x one, o two",
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
					foreign := func(f audit.Finding) bool { return f.Kind == audit.KindTaskChanged || f.Kind == audit.KindForeignTick }
					changed := strings.Contains(script, "two") || strings.Contains(script, "mv")
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
