package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/runner/hooks"
	"ralph/state"
)

var bystanderFakes = map[string]func(*fake) int{
	"ticking-reviewer": func(f *fake) int { // its tool writes into the user's plan, not into its copy
		if code, asked := f.verdict(func(_, nonce string) string {
			plan := filepath.Join(os.Getenv("HOME"), planName)
			f.tool("Bash", "sed")
			put(plan, strings.ReplaceAll(read1(plan), "[ ] two", "[x] two"))
			f.answer()
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		return f.developed()
	},
}

// A turn without a task cannot finish one: nobody was asked to work on it.
func TestBystanders_tickAnotherTaskInThePlan_isPutBackAndNamed(t *testing.T) {
	const tick = "sed -i 's/\\[ \\] two/[x] two/' .ralph/fix_plan.md"
	for name, c := range map[string]struct {
		fake string
		set  func(b *bench)
	}{
		"reviewer":              {"ticking-reviewer", func(b *bench) { b.o.Review.QA = true }},
		"reviewer side by side": {"ticking-reviewer", func(b *bench) { b.o.Review.QA, b.o.Parallel = true, 2 }},
		"hook": {"worker", func(b *bench) {
			b.d.Hooks = []hooks.Hook{{Point: hooks.PostIteration, Command: tick, Timeout: time.Minute}}
		}},
		"check": {"worker", func(b *bench) { b.check("test ! -f work.txt || " + tick) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.fake, "[ ] one", "[ ] two")
			b.repository()
			b.o.MaxIterations = 1
			if c.set(b); b.o.Review.QA {
				b.o.MaxIterations = 2
			}
			r := b.run(t.Context())
			if plan := b.read(planName); strings.Contains(plan, "[x] two") || r.Decision.Exit == 0 {
				t.Errorf("%s, exit %d; the plan:\n%s", b.rules(), r.Decision.Exit, plan)
			}
			if !strings.Contains(bystandersSaid(b), `"two" was changed`) {
				t.Errorf("%s; findings:\n%s\nplan: %s", b.course(), bystandersSaid(b), b.read(planName))
			}
		})
	}
}

func bystandersSaid(b *bench) (all string) {
	for _, f := range payloads[state.Finding](b) {
		all += f.Text + "\n"
	}
	return all
}
