package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/ptyexec"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(m.Run())
}

func here(t *testing.T) Place {
	return Place{Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}}
}

// runAll runs the checks one by one until one fails.
func runAll(ctx context.Context, p Place, checks ...Check) ([]Result, error) {
	s := Suite{Checks: checks, Place: p, FailFast: true}
	rep, err := s.Run(ctx, Changed{All: true})
	return rep.Results, err
}

func TestRun_greenChecks_allRunInOrder(t *testing.T) {
	p := here(t)
	results, err := runAll(t.Context(), p, Check{Name: "a", Command: "echo 1 >>log"}, Check{Name: "b", Command: "echo 2 >>log; pwd"})
	if err != nil || len(results) != 2 || !results[0].Passed || !results[1].Passed {
		t.Fatalf("Run() = %+v, %v", results, err)
	}
	if data, _ := os.ReadFile(filepath.Join(p.Dir, "log")); string(data) != "1\n2\n" {
		t.Errorf("log %q", data)
	}
	if !strings.Contains(results[1].Output, filepath.Base(p.Dir)) {
		t.Errorf("ran in %q", results[1].Output)
	}
}

func TestRun_firstFailure_keepsItsOutputAndStops(t *testing.T) {
	results, err := runAll(t.Context(), here(t), Check{Name: "a", Command: "echo out; echo err >&2; exit 3"}, Check{Name: "b", Command: "true"})
	if err != nil || len(results) != 2 || results[1].Verdict != VerdictSkipped {
		t.Fatalf("Run() = %+v, %v", results, err)
	}
	if r := results[0]; r.Passed || r.Output != "out\nerr" {
		t.Errorf("result %+v", r)
	}
}

func TestRun_timeout_fails(t *testing.T) {
	results, err := runAll(t.Context(), here(t), Check{Name: "slow", Command: "echo begun; sleep 60", Timeout: 100 * time.Millisecond})
	if err != nil || len(results) != 1 || results[0].Passed || !strings.Contains(results[0].Output, "ended after 100ms") {
		t.Errorf("Run() = %+v, %v", results, err)
	}
}

func TestRun_contextEnds_isAnError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go func() { cancel(why) }()
	if results, err := runAll(ctx, here(t), Check{Name: "slow", Command: "sleep 60"}); len(results) != 0 || !errors.Is(err, why) {
		t.Errorf("Run() = %+v, %v", results, err)
	}
}
