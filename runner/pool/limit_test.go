package pool

import (
	"testing"
	"time"

	"ralph/runner/agent"
)

func TestLimitEnd(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 30, 0, 0, time.Local)
	reset := noon.Add(3 * time.Hour)
	tests := []struct {
		name   string
		o      agent.Outcome
		limits int
		want   time.Time
	}{
		{"known reset", agent.Outcome{ResetsAt: reset}, 1, reset.Add(LimitMargin)},
		{"known reset in a few seconds", agent.Outcome{ResetsAt: noon.Add(2 * time.Second)}, 1, noon.Add(2*time.Second + LimitMargin)},
		{"reset in the past", agent.Outcome{ResetsAt: noon.Add(-time.Hour)}, 1, noon.Add(LimitMargin)},
		{"still limited after the reset", agent.Outcome{ResetsAt: noon.Add(-time.Hour)}, 2, noon.Add(time.Minute)},
		{"still limited for the fourth time", agent.Outcome{ResetsAt: noon.Add(-time.Hour)}, 4, noon.Add(4 * time.Minute)},
		{"still limited for ever", agent.Outcome{ResetsAt: noon.Add(-time.Hour)}, 400, noon.Add(30 * time.Minute)},
		{"later reset after a second try", agent.Outcome{ResetsAt: reset}, 2, reset.Add(LimitMargin)},
		{"unknown reset", agent.Outcome{}, 1, noon.Add(15 * time.Minute)},
		{"unknown reset, again and again", agent.Outcome{}, 40, noon.Add(time.Hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := LimitEnd(tt.o, tt.limits, noon); !got.Equal(tt.want) {
				t.Errorf("LimitEnd() = %s, want %s", got, tt.want)
			}
		})
	}
}
