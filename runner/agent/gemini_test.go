package agent

import (
	"ralph/runner/agent/ending"
	"testing"
)

// gemini reports its own stop as a warning, and then success.
func TestClassify_geminiLoopDetected_isMaxTurns(t *testing.T) {
	const success = `{"type":"result","status":"success","stats":{}}`
	warning := func(text string) string {
		return `{"type":"error","severity":"warning","message":"` + text + `"}`
	}
	say := `{"type":"message","role":"assistant","content":"Once more.","delta":true}`
	for name, c := range map[string]struct {
		lines []string
		want  ending.Class
	}{
		"loop":                  {[]string{say, warning("Loop detected, stopping execution"), success}, ending.MaxTurns},
		"another warning":       {[]string{say, warning("Something is odd"), success}, ending.CompletedTurn},
		"loop, then more work":  {[]string{warning("Loop detected, stopping execution"), say, success}, ending.CompletedTurn},
		"loop, another failure": {[]string{warning("Loop detected, stopping execution"), `{"type":"result","status":"error","error":{"message":"[API Error: 529 Overloaded]"}}`}, ending.Overloaded},
	} {
		if o := classify(t, "gemini", exited, c.lines...); o.Class != c.want {
			t.Errorf("%s: class %q, want %q", name, o.Class, c.want)
		}
	}
}
