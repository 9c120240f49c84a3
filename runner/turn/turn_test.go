package turn_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ralph/internal/scripted"
	"ralph/ptyexec"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	scripted.Main()
	code := m.Run()
	_ = os.RemoveAll(users)
	os.Exit(code)
}

// seen is what a turn reported and what came of it.
type seen struct {
	Events []state.Payload
	Result turn.Result
}

func here(t *testing.T, a turn.Assignment) seen {
	t.Helper()
	var s seen
	var err error
	w := &turn.Worker{}
	defer w.Close()
	s.Result, err = w.Run(t.Context(), a, func(e state.Event) { s.Events = append(s.Events, e.Data) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAssignmentAndResult_throughJSON_stayTheSame(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "write", Text: "broken"}, {Do: "tick", Text: "one"}, {Do: "tick", Text: "two"}, {Do: "final", Text: "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 9\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"}, {Do: "deny", Text: "rm -rf /"}})
	a.Task.Criteria, a.Task.DependsOn = []string{"it works"}, []string{"T0"}
	res := here(t, a).Result
	if len(res.Proof.Reopen) != 2 || !res.Proof.Report.Blocked() || len(res.Call.Denied) != 1 {
		t.Errorf("the turn did too little for this test: %+v", res.Proof)
	}
	for _, v := range []any{a, res} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var diff string
		switch v := v.(type) {
		case turn.Assignment:
			var back turn.Assignment
			err = json.Unmarshal(data, &back)
			diff = cmp.Diff(v, back, cmpopts.IgnoreUnexported(store.File{}), cmpopts.EquateEmpty())
		case turn.Result:
			var back turn.Result
			err = json.Unmarshal(data, &back)
			diff = cmp.Diff(v, back, cmpopts.IgnoreUnexported(store.File{}), cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(0))
		}
		if err != nil || diff != "" {
			t.Errorf("%v after JSON (-want +got):\n%s", err, diff)
		}
	}
}

// A terminal that was resized during a call keeps its size for the next one.
func TestRun_terminalResizedDuringACall_theWorkerKeepsItsSize(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "hang"}})
	ctx, cancel := context.WithCancelCause(t.Context())
	sizes := make(chan ptyexec.Size)
	w := &turn.Worker{Resize: sizes, Size: ptyexec.Size{Rows: 24, Cols: 80}}
	defer w.Close()
	go func() {
		sizes <- ptyexec.Size{Rows: 50, Cols: 200}
		cancel(&stop.Stopped{By: state.RequestSkip})
	}()
	if _, err := w.Run(ctx, a, func(state.Event) {}); err != nil {
		t.Fatal(err)
	}
	if want := (ptyexec.Size{Rows: 50, Cols: 200}); w.Size != want {
		t.Errorf("the next call would get %+v", w.Size)
	}
}

func TestRun_secretInTheAgentsWords_isHiddenEverywhere(t *testing.T) {
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	s := here(t, scripted.Project(t, []scripted.Step{{Do: "say", Text: key}, {Do: "tool", Text: "curl -H " + key}, {Do: "final", Text: "used " + key}}))
	data, err := json.Marshal(s)
	if err != nil || strings.Contains(string(data), key) {
		t.Errorf("%v, the key is in %s", err, data)
	}
}
