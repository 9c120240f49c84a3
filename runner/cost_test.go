package runner

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"ralph/state"
)

// costFakes count their tokens all along and name their cost only at the end, as Claude Code does.
var costFakes = map[string]func(*fake) int{
	"cut-later": func(f *fake) int { return f.finishOrDie(f.call == 1) },
	"cut-first": func(f *fake) int { return f.finishOrDie(f.call > 1) },
	"cut":       func(f *fake) int { return f.finishOrDie(false) },
}

func (f *fake) finishOrDie(finish bool) int {
	put("work.txt", fmt.Sprint(f.call))
	f.print(map[string]any{"type": "assistant", "message": map[string]any{"id": "m1", "role": "assistant", "content": []any{},
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 20}}})
	if finish {
		return f.result("Half of it."+block(false, ""), nil)
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	return 0
}

func TestRun_callsThatAreCutOff_countTowardsTheCost(t *testing.T) {
	for _, tt := range []struct {
		agent     string
		most      float64
		iteration int
		exit      int
		want      state.Usage
		told      int // how often the run says that it does not know a cost
	}{
		{"cut-later", 0.6, 0, state.ExitCeiling, state.Usage{CostUSD: 0.75, EstimatedUSD: 0.5}, 0},
		{"cut-first", 0.5, 0, state.ExitCeiling, state.Usage{CostUSD: 0.5, EstimatedUSD: 0.25}, 1},
		{"cut", 5, 3, state.ExitCeiling, state.Usage{UnpricedCalls: 3}, 1},
		{"cut", 0, 3, state.ExitCeiling, state.Usage{UnpricedCalls: 3}, 0},
	} {
		t.Run(fmt.Sprint(tt.agent, tt.most), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.agent, "[ ] one")
			b.o.MaxCost, b.o.MaxIterations = tt.most, tt.iteration
			r := b.run(t.Context())
			wantEnd(t, r, "ceilings", tt.exit)
			calls := int64(b.calls())
			tt.want.InputTokens, tt.want.OutputTokens = 100*calls, 20*calls
			if r.Usage != tt.want || b.status().Usage != tt.want {
				t.Errorf("used %+v, status.json %+v, want %+v", r.Usage, b.status().Usage, tt.want)
			}
			if tt.most == 0.6 && !strings.Contains(r.Decision.Reason, "about 0.50 USD of it estimated for calls that were cut off") {
				t.Errorf("reason %s", r.Decision.Reason)
			}
			told := 0
			for _, e := range b.seen {
				if f, ok := e.Data.(state.Finding); ok && strings.Contains(f.Text, "cost of this call is unknown (120 tokens)") {
					told++
				}
			}
			if told != tt.told {
				t.Errorf("told %d times, want %d", told, tt.told)
			}
		})
	}
}
