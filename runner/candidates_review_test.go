package runner

import (
	"fmt"
	"strings"
	"testing"

	"ralph/runner/roles"
	"ralph/state"
)

// judgedFakes are candidates whose work a reviewer or judges look at. What judges think is in the code.
var judgedFakes = map[string]func(*fake) int{
	"best-reviewed": func(f *fake) int {
		if code, asked := f.verdict(func(_, nonce string) string {
			return says(nonce, map[bool]string{true: "pass", false: "fail"}[read1("code") == "good\n"], 90, "the code is "+read1("code"))
		}); asked {
			return code
		}
		return f.candidate(map[string]string{"claude": "bad\n", "x": "good\ngood\ngood\n", "y": "good\n"})
	},
	"best-tied": func(f *fake) int { // as many lines each
		if code, asked := f.verdict(func(who, nonce string) string {
			if who == "qa" {
				return says(nonce, "pass", 90, "")
			}
			return says(nonce, "pass", map[string]int{"good 0\n": 75, "good 1\n": 80, "good 2\n": 95}[read1("code")], "")
		}); asked {
			return code
		}
		return f.candidate(map[string]string{"claude": "good 0\n", "x": "good 1\n", "y": "good 2\n"})
	},
	"best-tied-refused": func(f *fake) int { // the judges refuse the one with the higher score
		if code, asked := f.verdict(func(_, nonce string) string {
			if read1("code") == "good 1\n" {
				return says(nonce, "pass", 75, "")
			}
			return says(nonce, "fail", 90, "not that one")
		}); asked {
			return code
		}
		return f.candidate(map[string]string{"claude": "good 0\n", "x": "good 1\n", "y": "good 2\n"})
	},
	"best-same": func(f *fake) int {
		if code, asked := f.verdict(func(_, nonce string) string { return says(nonce, "pass", 90, "") }); asked {
			return code
		}
		return f.candidate(map[string]string{"claude": "good\n", "x": "good\n", "y": "good\n"})
	},
	"best-tied-mute": func(f *fake) int {
		if code, asked := f.verdict(func(_, _ string) string { return "I like both." }); asked {
			return code
		}
		return f.candidate(map[string]string{"claude": "good 0\n", "x": "good 1\n", "y": "good 2\n"})
	},
}

func TestBestOf_withQA_theWinnerIsReviewed(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newCandidates(t, "best-reviewed")
	b.o.QA = true
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	v := payloads[state.Verdict](b)
	if len(v) != 1 || v[0].Verdict != "pass" {
		t.Errorf("verdicts %+v", v)
	}
	if got := b.read("code"); got != "good\n" || strings.Count(b.order(), "landed") != 1 {
		t.Errorf("landed %q: %s", got, b.order())
	}
	if s := b.status(); s.CallsThisHour != 5 || s.Usage.CostUSD != 1.25 {
		t.Errorf("%d calls, %v USD", s.CallsThisHour, s.Usage.CostUSD)
	}
}

func TestBestOf_equalLines_judgesDecide(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	for agent, test := range map[string]struct {
		code  string
		asked int // calls of the judge about candidates; one more is the review of the winner
	}{
		"best-tied":         {"good 2\n", 3},
		"best-tied-refused": {"good 1\n", 3},
		"best-same":         {"good\n", 0},
		"best-tied-mute":    {"good 0\n", 6}, // asked twice each
	} {
		t.Run(agent, func(t *testing.T) {
			if testing.Short() && agent != "best-tied" {
				t.Skip("long: three worktrees")
			}
			t.Parallel()
			b := newCandidates(t, agent)
			b.o.JudgeRows = []roles.Reviewer{{Name: "Taste", Persona: "You know what is good."}}
			b.run(t.Context())
			if got := b.read("code"); got != test.code || strings.Count(b.order(), "landed") != 1 {
				t.Errorf("landed %q: %s", got, b.order())
			}
			calls := 4 + test.asked + 1
			if agent == "best-tied-mute" {
				calls++
			}
			if s := b.status(); s.CallsThisHour != calls || s.Usage.CostUSD != float64(calls)*0.25 {
				t.Errorf("%d calls, %v USD, want %d", s.CallsThisHour, s.Usage.CostUSD, calls)
			}
			if lost := strings.Join(b.beaten(), "\n"); agent == "best-tied" &&
				!strings.Contains(lost, fmt.Sprintf("the judges preferred another candidate of the same size (score %d, this one has %d)", 95, 75)) {
				t.Error(lost)
			}
		})
	}
}
