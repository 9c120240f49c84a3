package agent

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/agent/wire"
	"ralph/state"
)

// gemini decodes gemini --output-format stream-json, which prints messages in pieces.
func (d *Decoder) gemini(rec gjson.Result) bool {
	r := wire.Members(rec)
	typ := r.Text("type")
	if typ != "message" {
		d.flushMessage()
	}
	if typ != "error" && typ != "result" {
		d.loop = ""
	}
	switch typ {
	case "init":
		d.final = false
		d.setSession(r.Text("session_id"), r.Text("model"))
	case "message":
		if r.Text("role") == "assistant" {
			d.final = false
			if d.message.Len() < maxText {
				d.message.WriteString(r.Text("content"))
			}
		}
	case "tool_use":
		d.final, d.lastText, d.last = false, "", false
		d.call(r.Text("tool_id"), r.Text("tool_name"), wire.Arguments(r.Get("parameters")), "")
	case "tool_result":
		e := r.Members("error")
		d.answer(r.Text("tool_id"), wire.FirstText(r.Get("output"), e.Get("message")), r.Text("status") == "error")
		d.geminiDenial(r.Text("tool_id"), e)
	case "error":
		if r.Text("severity") == "warning" {
			d.hint(r.Text("message"))
			if text := r.Text("message"); strings.HasPrefix(text, "Loop detected") {
				d.loop = text
			}
		} else {
			d.fail(r.Text("message"), nil)
		}
	case "result":
		d.geminiResult(r)
	case "":
		return false
	}
	return true
}

// geminiDenial finds refused calls. Outside of its yolo mode, the CLI reports a
// tool that is not allowed as not registered.
func (d *Decoder) geminiDenial(id string, failure wire.Object) {
	kind, name := failure.Text("type"), d.calls[id].Name
	missing := kind == "tool_not_registered" && slices.Contains(d.spec.Guarded, name)
	if missing || strings.Contains(kind, "denied") || strings.Contains(kind, "policy") {
		d.deny(id, name, "", failure.Text("message"))
	}
}

func (d *Decoder) geminiResult(r wire.Object) {
	u, text, failed := r.Members("stats"), d.lastText, r.Text("status") != "success"
	d.meter.EndTurn(&state.Usage{InputTokens: u.Int("input"), CacheReadTokens: u.Int("cached"),
		OutputTokens: u.Int("output_tokens")})
	d.usage()
	var codes []string
	switch {
	case failed:
		e := r.Members("error")
		text = wire.FirstText(e.Get("message"), r.Get("error"))
		codes = wire.Codes(e.Get("code"), e.Get("type"))
		d.fail(text, codes)
	case d.loop != "": // the result still says success
		text, failed, codes = d.loop, true, []string{"max_turns"}
		d.fail(text, codes)
	}
	d.result(text, failed, codes)
}
