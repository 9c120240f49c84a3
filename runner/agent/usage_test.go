package agent

import (
	"testing"

	"ralph/state"
)

func TestUsage_resumedCalls_countsOnlyTheCall(t *testing.T) {
	for _, c := range []struct {
		agent, first, second string
		input                int64
		cost                 float64
	}{
		{"claude", "claude-resume-1", "claude-resume-2-continue", 3600, 0.03058 - 0.01246},
		{"codex", "codex-resume-1", "codex-resume-7-stdin", 10800 - 2400, 0},
		{"qwen", "qwen-resume-1", "qwen-resume-2-continue", -1, 0},
	} {
		t.Run(c.agent, func(t *testing.T) {
			s := row(t, c.agent)
			first, _ := recorded(t, c.first)
			second, _ := recorded(t, c.second)
			d := s.NewDecoder(func(state.Payload) {})
			_, _ = d.Write(first)
			d.Close()
			var tr Transcript
			d2 := s.NewDecoder(tr.Add)
			d2.Resume(d.Counted())
			_, _ = d2.Write(second)
			d2.Close()
			if c.input >= 0 && tr.Usage.InputTokens != c.input {
				t.Errorf("input %d, want %d", tr.Usage.InputTokens, c.input)
			}
			if c.input < 0 && (tr.Usage.InputTokens <= 0 || tr.Usage.InputTokens != d2.Counted().InputTokens-d.Counted().InputTokens) {
				t.Errorf("input %d of %+v after %+v", tr.Usage.InputTokens, d2.Counted(), d.Counted())
			}
			if diff := tr.Usage.CostUSD - c.cost; diff > 1e-9 || diff < -1e-9 {
				t.Errorf("cost %v, want %v", tr.Usage.CostUSD, c.cost)
			}
		})
	}
}

func TestUsage_blocksOfOneMessage_countedOnce(t *testing.T) {
	msg := func(id string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":10,"output_tokens":2}}}` + "\n"
	}
	tr, events := decodeAll(row(t, "claude"), []byte(msg("a")+msg("a")+msg("b")))
	if tr.Usage.InputTokens != 20 || tr.Usage.OutputTokens != 4 {
		t.Errorf("usage %+v", tr.Usage)
	}
	if n := len(only[state.Usage](events)); n != 2 {
		t.Errorf("%d usage events, want one a message", n)
	}
	// The final record replaces the sum.
	tr, _ = decodeAll(row(t, "claude"), []byte(msg("a")+msg("b")+claudeResult("done", false, `"usage":{"input_tokens":21,"output_tokens":9},`)))
	if tr.Usage.InputTokens != 21 || tr.Usage.OutputTokens != 9 {
		t.Errorf("usage after the result %+v", tr.Usage)
	}
}
