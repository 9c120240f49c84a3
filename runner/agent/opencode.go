package agent

import (
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/agent/wire"
	"ralph/state"
)

// opencode decodes opencode run --format json. It has no final record: a step
// that finishes with reason "stop" ends the turn.
func (d *Decoder) opencode(rec gjson.Result) bool {
	if d.Stuck() {
		return true
	}
	r := wire.Members(rec)
	d.setSession(r.Text("sessionID"), "")
	part := r.Members("part")
	switch typ := r.Text("type"); typ {
	case "step_start":
		d.final = false
	case "text":
		d.silent = 0
		d.says(part.Text("text"))
	case "tool_use":
		d.final, d.silent = false, 0
		d.opencodeTool(part)
	case "step_finish":
		d.opencodeStep(part)
	case "error":
		e := r.Members("error")
		data := e.Members("data")
		text := wire.FirstText(data.Get("message"), e.Get("message"), r.Get("error"))
		codes := wire.Codes(data.Get("statusCode"), e.Get("name"))
		codes = append(codes, wire.Headers(data.Members("responseHeaders"), "retry-after", "x-ratelimit-reset")...)
		d.fail(text, codes)
		d.result(text, true, codes)
	default:
		return typ != ""
	}
	return true
}

func (d *Decoder) opencodeStep(part wire.Object) {
	t := part.Members("tokens")
	cache := t.Members("cache")
	d.meter.EndTurn(&state.Usage{InputTokens: t.Int("input"), OutputTokens: t.Int("output") + t.Int("reasoning"),
		CacheReadTokens: cache.Int("read"), CacheWriteTokens: cache.Int("write"), CostUSD: part.Get("cost").Float()})
	d.usage()
	if d.silent++; part.Text("reason") != "unknown" || t.Int("input")+t.Int("output") > 0 {
		d.silent = 0
	}
	if d.Stuck() {
		d.fail("the endpoint of the model answers with something unreadable", []string{"server_error"})
		d.result("", true, []string{"server_error"})
	}
	// After "tool-calls" and "unknown" another step follows.
	switch part.Text("reason") {
	case "stop", "length":
		d.result(d.lastText, false, wire.Codes(part.Get("reason")))
	case "content-filter":
		d.result(d.lastText, false, []string{"refusal"})
	case "error":
		d.result("", true, wire.Codes(part.Get("reason")))
	}
}

func (d *Decoder) opencodeTool(part wire.Object) {
	id, st := part.Text("callID"), part.Members("state")
	d.call(id, part.Text("tool"), wire.Arguments(st.Get("input")), "")
	failed := st.Text("status") == "error" || st.Members("metadata").Int("exit") != 0
	d.answer(id, wire.FirstText(st.Get("output"), st.Get("error")), failed)
	failure := st.Text("error")
	if strings.Contains(failure, "rejected permission") || strings.Contains(failure, "rule which prevents") {
		d.deny(id, part.Text("tool"), "", failure)
	}
}
