package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
	"ralph/state"
)

// Landlock cannot lock ralph's own files: what a call makes of them has no effect.
func TestRun_containedCallForgesState_hasNoEffect(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "forger", "[ ] one", "[ ] two")
	b.write(".ralph/notes/n1.json", `{"v": 1, "id": "n1", "text": "a person's"}`)
	s, err := sandbox.Settings{Sandbox: "landlock"}.Resolve()
	if err != nil {
		t.Skip(err)
	}
	b.d.PlanEdits, b.d.Env = filepath.Join(t.TempDir(), "p.edits.jsonl"), append(b.d.Env, "HOME="+t.TempDir())
	if b.o.Contained, err = s.At(b.dir, nil); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	if b.calls() != 2 {
		t.Errorf("%d calls (%s)", b.calls(), b.rules())
	}
	if got := b.read(".ralph/status.json"); !strings.Contains(got, `"run_id": "run-1"`) || strings.Contains(got, "accepted") {
		t.Errorf("status.json: %s", got)
	}
	if prompt := b.read(".ralph/logs/run-1/2.prompt.md"); strings.Contains(prompt, "FORGED") || !strings.Contains(prompt, ".ralph/notes/n9.json") {
		t.Errorf("second prompt:\n%s", prompt)
	}
}

// A copy of a contained project is contained, too.
func TestRun_containedProject_testsRunAsTheyWere(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b, patches := newBench(t, "patches", "[ ] The value is two"), t.TempDir()
	const script = "echo 1..1\nif [ \"$(cat value)\" = %s ]; then echo ok 1 - two; else echo not ok 1 - two; exit 1; fi\n"
	b.write("value", "1\n")
	b.write("tests/run.sh", fmt.Sprintf(script, "2"))
	if err := os.MkdirAll(filepath.Join(patches, "1", "tests"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(patches, "1", "tests", "run.sh"), fmt.Sprintf(script, "1"))
	s, err := sandbox.Settings{Sandbox: "landlock"}.Resolve()
	if err != nil {
		t.Skip(err)
	}
	b.d.Env = append(b.d.Env, "HOME="+t.TempDir(), patchVar+"="+patches)
	if b.o.Contained, err = s.At(b.dir, nil); err != nil {
		t.Fatal(err)
	}
	b.d.Checks, b.d.Mode = []gate.Check{{Name: "test", Command: "sh tests/run.sh"}}, gate.ModeTDD
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 3
	b.inGit()
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	if got := strings.Join(b.found("audit"), "\n"); !strings.Contains(got, "still fails with tests/run.sh as before") {
		t.Errorf("findings: %s\n%s", got, b.said())
	}
}
