package turn_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/internal/scripted"
	"ralph/runner/turn"
	"ralph/state"
)

// A CLI that updates itself is gone for some seconds. One that was never there is not waited for.
func TestRun_programGoneForSeconds_isWaitedFor(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "write", Text: "new.go"}})
	program := filepath.Join(t.TempDir(), "agent")
	self := a.Agent.Program[0]
	a.Agent.Program = []string{program}
	w := &turn.Worker{}
	defer w.Close()
	run := func() (res turn.Result, waited bool) {
		res, err := w.Run(t.Context(), a, func(e state.Event) {
			if _, retry := e.Data.(state.Retry); retry {
				waited = true
				if err := os.Symlink(self, program); err != nil {
					t.Error(err)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		a.Origin.Iteration++
		return res, waited
	}
	began := time.Now()
	if res, waited := run(); res.Call.NotStarted == "" || waited || time.Since(began) > time.Minute {
		t.Errorf("never there: %+v, waited %v", res.Call, waited)
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	if res, waited := run(); !res.Call.Made || waited {
		t.Errorf("there: %+v, waited %v", res.Call, waited)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if res, waited := run(); !res.Call.Made || !waited {
		t.Errorf("gone for a moment: %+v, waited %v", res.Call, waited)
	}
}
