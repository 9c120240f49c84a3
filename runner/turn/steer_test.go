package turn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/agent"
	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// What steers the run is compared by content, whether git sees it or not.
func TestRun_turnChangesWhatSteersTheRun_isAFinding(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a turn for each file")
	}
	for _, file := range []string{".ralphrc", ".ralph/config.yaml", ".ralph/PROMPT.md", ".ralph/specs/api/users.md"} {
		for name, prepare := range map[string]func(dir string, a *turn.Assignment){
			"tracked by git": func(string, *turn.Assignment) {},
			"ignored by git": func(dir string, _ *turn.Assignment) { put(t, dir, ".gitignore", ".ralph*\n") },
			"without git": func(dir string, _ *turn.Assignment) {
				if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
					t.Fatal(err)
				}
			},
			"and the agent fails": func(_ string, a *turn.Assignment) { a.Plan.Path = filepath.Join(a.Dir, "gone.md") },
		} {
			t.Run(file+" "+name, func(t *testing.T) {
				a := scripted.Project(t, []scripted.Step{{Do: "write", Text: file}})
				for _, one := range []string{".ralphrc", ".ralph/config.yaml", ".ralph/PROMPT.md", ".ralph/specs/api/users.md"} {
					put(t, a.Dir, one, "# as it was\n")
				}
				prepare(a.Dir, &a)
				s := here(t, a)
				if f := s.Result.Proof.Findings; len(f) != 1 || f[0].File != file {
					t.Errorf("findings %+v", f)
				}
				told := 0
				for _, e := range s.Events {
					if d, ok := e.(state.Finding); ok && d.File == file {
						told++
					}
				}
				if told != 1 {
					t.Errorf("told %d times", told)
				}
			})
		}
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What leads git to another repository is put back before ralph's own git runs.
func TestRun_turnLeadsGitElsewhere_isPutBackAndNothingIsProved(t *testing.T) {
	for _, file := range []string{".git/commondir", ".git/gitdir", "code.go"} {
		t.Run(file, func(t *testing.T) {
			a := scripted.Project(t, []scripted.Step{{Do: "write", Text: file}})
			s := here(t, a)
			led := file != "code.go"
			if (s.Result.Work.Lost != "") != led || (len(s.Result.Proof.Findings) > 0) != led {
				t.Errorf("lost %q, findings %+v", s.Result.Work.Lost, s.Result.Proof.Findings)
			}
			if _, err := os.Lstat(filepath.Join(a.Dir, file)); (err == nil) == led {
				t.Errorf("%s: %v", file, err)
			}
		})
	}
}

// All that knows what steers an agent takes it from its row.
func TestRun_turnSetsUpAnotherAgent_isAFinding(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "write", Text: ".new-cli/hooks.json"}})
	put(t, a.Dir, ".gitignore", ".new-cli/\n")
	put(t, a.Dir, ".new-cli/hooks.json", "{}\n")
	a.Agent.Filter.Custom = append(a.Agent.Filter.Custom, agent.Spec{Name: "new-cli", Env: agent.Variables{Steers: []string{".new-cli/"}}})
	if f := here(t, a).Result.Proof.Findings; len(f) != 1 || f[0].File != ".new-cli/hooks.json" || f[0].Kind != audit.KindChecksChanged {
		t.Errorf("findings %+v", f)
	}
}

// Side by side, the worker of the run itself makes no whole turn, but says what all of them changed.
func TestChanged_workerWithoutAWholeTurn_knowsTheFilesOfAgents(t *testing.T) {
	a, w := scripted.Project(t, nil), turn.Worker{}
	if err := w.Ready(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	put(t, a.Dir, ".mcp.json", "{}\n")
	put(t, a.Dir, ".beads/hooks/on_close", "evil\n")
	w.Forget() // another worker did it
	in, err := w.Changed(t.Context(), a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if f := audit.Compare(*in); len(f) != 2 || f[0].File != ".beads/hooks/on_close" || f[1].File != ".mcp.json" || f[1].Kind != audit.KindChecksChanged {
		t.Errorf("findings %+v", f)
	}
}

func TestSteers_ofEachAgent_areAFindingUnlessTheTaskIsAboutThem(t *testing.T) {
	steering := audit.Steering(agent.EnvFilter{}.Steering())
	of := func(name, title string) []audit.Finding {
		plan := []task.Task{{ID: "1", Title: title}}
		return audit.Compare(audit.Input{Files: []audit.File{{Path: name, After: "evil\n", Exists: true}}, PlanBefore: plan, PlanAfter: plan,
			Task: "1", Steering: steering})
	}
	for _, s := range agent.Specs() {
		for _, name := range s.Env.Steers {
			if strings.HasSuffix(name, "/") {
				name += "x.json"
			}
			if f := of(name, "Parse dates"); len(f) != 1 || f[0].Kind != audit.KindChecksChanged {
				t.Errorf("%s: %s: %+v", s.Name, name, f)
			}
			if f := of(name, "Set up "+s.Name+" code"); len(f) > 0 {
				t.Errorf("%s: %s: %+v", s.Name, name, f)
			}
		}
	}
}
