package agent

import (
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent/ending"
)

func TestClassify_waitsByItselfUntilTimeout_hasTheCauseOfTheWait(t *testing.T) {
	codex := func(why string) string {
		return `{"type":"error","message":` + mustJSON("Reconnecting... 2/5 ("+why+")") + `}`
	}
	claude := func(why string) string {
		return `{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"retry_delay_ms":2000,` + why + `}`
	}
	const (
		again     = `{"type":"system","subtype":"retry","data":{"reason":"retry","discardedToolCalls":0,"preserveText":false}}`
		codexText = `{"type":"item.completed","item":{"type":"agent_message","text":"Half."}}`
		codexTool = `{"type":"item.started","item":{"id":"i","type":"command_execution","command":"make"}}`
		resetsAt  = 1795157070
	)
	for name, c := range map[string]struct {
		agent string
		lines []string
		want  ending.Class
		wait  time.Duration // until the reset, or of RetryAfter
	}{
		"codex, 429":             {"codex", []string{codex("exceeded retry limit, last status: 429 Too Many Requests")}, ending.RateLimited, 0},
		"codex, other dots":      {"codex", []string{`{"type":"error","message":"Reconnecting… last status: 429"}`}, ending.RateLimited, 0},
		"codex, 503":             {"codex", []string{codex("unexpected status 503 Service Unavailable: busy")}, ending.ServerError, 0},
		"codex, high demand":     {"codex", []string{codex("We’re currently experiencing high demand, which may cause temporary errors.")}, ending.Overloaded, 0},
		"codex, no connection":   {"codex", []string{codex("stream disconnected before completion: error sending request")}, ending.Network, 0},
		"codex, usage limit":     {"codex", []string{codex("You’ve hit your usage limit. Try again in 2 hours.")}, ending.UsageLimit, 2 * time.Hour},
		"codex, on stderr":       {"codex", []string{"Reconnecting... 1/5 (unexpected status 502 Bad Gateway)"}, ending.ServerError, 0},
		"codex, after work":      {"codex", []string{codexText, codex("last status: 429")}, ending.RateLimited, 0},
		"codex, work follows":    {"codex", []string{codex("last status: 429"), codexText}, ending.TimeoutIdle, 0},
		"codex, tool follows":    {"codex", []string{codex("last status: 429"), codexTool}, ending.TimeoutIdle, 0},
		"codex, the latest":      {"codex", []string{codex("last status: 429"), codex("unexpected status 500 Internal Server Error")}, ending.ServerError, 0},
		"codex, no cause":        {"codex", []string{codex("odd")}, ending.HangSilent, 0},
		"codex, 401":             {"codex", []string{codex("unexpected status 401 Unauthorized: no")}, ending.Auth, 0},
		"codex, 401 on stderr":   {"codex", []string{"Reconnecting... 2/5 (unexpected status 401 Unauthorized)"}, ending.Auth, 0},
		"codex, 403":             {"codex", []string{codex("unexpected status 403 Forbidden: blocked")}, ending.HangSilent, 0},
		"codex, 401, then work":  {"codex", []string{codex("unexpected status 401 Unauthorized: no"), codexText}, ending.TimeoutIdle, 0},
		"qwen, rate limit":       {"qwen", []string{"Retrying in 120s… Rate limit reached", again}, ending.RateLimited, 2 * time.Minute},
		"qwen, overloaded":       {"qwen", []string{claudeText("Half."), "Retrying in 60s (attempt 1/10): [API Error: Overloaded]", again}, ending.Overloaded, time.Minute},
		"qwen, quota":            {"qwen", []string{"Retrying in 60s (attempt 1/10): [API Error: 429 You have no credits]"}, ending.RateLimited, time.Minute},
		"qwen, limit and delay":  {"qwen", []string{"Retrying in 60s (attempt 1/10): [API Error: 429 Usage limit reached, resets 9am (UTC)]"}, ending.UsageLimit, 5 * time.Hour},
		"qwen, limit, no reset":  {"qwen", []string{"Retrying in 60s (attempt 1/10): [API Error: 429 Usage limit reached]"}, ending.UsageLimit, 0},
		"qwen, no cause":         {"qwen", []string{again}, ending.HangSilent, 0},
		"claude, 429":            {"claude", []string{claude(`"error_status":429,"error":"rate_limit"`)}, ending.RateLimited, 2 * time.Second},
		"claude, 529":            {"claude", []string{claude(`"error_status":529,"error":"overloaded"`)}, ending.Overloaded, 2 * time.Second},
		"claude, 500":            {"claude", []string{claude(`"error_status":500,"error":"server_error"`)}, ending.ServerError, 2 * time.Second},
		"claude, 401":            {"claude", []string{claude(`"error_status":401,"error":"authentication_failed"`)}, ending.Auth, 0},
		"claude, not known":      {"claude", []string{claude(`"error_status":null,"error":"unknown"`)}, ending.HangSilent, 0},
		"claude, tool result":    {"claude", []string{claude(`"error_status":429,"error":"rate_limit"`), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}`}, ending.HangSilent, 0},
		"gemini, 429":            {"gemini", []string{`Attempt 2 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429,"message":"rate limit of 1 tokens per minute","status":"RESOURCE_EXHAUSTED"}}`}, ending.RateLimited, 0},
		"gemini, fetch failed":   {"gemini", []string{"Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request"}, ending.Network, 0},
		"gemini, usage limit":    {"gemini", []string{`Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"message":"The usage limit has been reached","resets_at":1795157070}}`}, ending.UsageLimit, time.Unix(resetsAt, 0).Sub(recordedAt)},
		"plain text":             {"text", []string{"Working.", "Retrying in 30s: 529 overloaded"}, ending.Overloaded, 30 * time.Second},
		"plain text, work after": {"text", []string{"Retrying in 30s: 529 overloaded", "Working."}, ending.TimeoutIdle, 0},
		"MCP server":             {"codex", []string{"Reconnecting to MCP server linear: HTTP 503"}, ending.HangSilent, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := classify(t, c.agent, ptyexec.Exit{Cause: ptyexec.CauseIdle}, c.lines...)
			wait := o.RetryAfter
			if !o.ResetsAt.IsZero() {
				wait = o.ResetsAt.Sub(recordedAt)
			}
			if o.Class != c.want || wait != c.wait {
				t.Errorf("class %q, wait %v, want %q, %v; reason %q", o.Class, wait, c.want, c.wait, o.Reason)
			}
		})
	}
}

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
