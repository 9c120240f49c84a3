package report

import "testing"

func TestSpent_whatTheAgentDoesNotReport_isLeftOut(t *testing.T) {
	for want, s := range map[string]Share{"$0.50 · 1 token": {USD: 0.5, Tokens: 1}, "$0.50": {USD: 0.5}, "20 tokens": {Tokens: 20}, "-": {}} {
		if got := s.spent(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
