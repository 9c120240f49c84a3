package runner

import (
	"strings"
	"testing"

	"ralph/runner/gate"
	"ralph/state"
)

func TestRun_complete_saysWhetherChecksProveIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check  string
		proven bool
		why    string
	}{
		"no check":       {"", false, state.NoCheckRan},
		"a check passes": {"true", true, ""},
	} {
		b := newBench(t, "worker", "[ ] one")
		if c.check != "" {
			b.check(c.check)
		}
		wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
		s, err := b.w.Status()
		end := payloads[state.RunEnd](b)
		if err != nil || s.Proven != c.proven || s.Unproven != c.why || len(end) != 1 || end[0].Proven != c.proven || end[0].Unproven != c.why {
			t.Errorf("%s: proven %v, %q, %v; %+v", name, s.Proven, s.Unproven, err, end)
		}
	}
}

func TestRun_checkThatProvedNothing_isReviewedAndNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check string
		left  string
		want  string
	}{
		"it ran no test":      {"echo running 0 tests; echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 57 filtered out'", "", "check test ran no test"},
		"it cannot apply":     {"echo 'no tests ran in 0.01s'; echo '=== no tests ran in 0.01s ==='; exit 5", "", "check test did not run: nothing to check yet"},
		"nobody agreed to it": {"", "the detected check test (npm test) does not run", "the detected check test (npm test) does not run"},
	} {
		b := newBench(t, "worker", "[ ] one")
		if c.check != "" {
			b.check(c.check)
		}
		if c.left != "" {
			b.d.LeftOut = []string{c.left}
		}
		r := b.run(t.Context())
		wantEnd(t, r, "review", state.ExitReview)
		if items := r.Decision.Review; len(items) != 1 || items[0].Name != "not_run" || !strings.Contains(items[0].Text, c.want) {
			t.Errorf("%s: to look at: %+v", name, items)
		}
	}
	b := newBench(t, "worker", "[ ] one")
	b.d.LeftOut, b.d.Mode = []string{"left"}, gate.ModeReport
	b.check("true")
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
}
