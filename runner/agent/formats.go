package agent

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/state"
)

// codex decodes codex exec --json. Its error records are mostly notices of its
// own retries; only turn.failed is final. It never reports refused commands.
func (d *Decoder) codex(rec gjson.Result) bool {
	f := pick(rec, "type", "thread_id", "item", "usage", "message", "error")
	switch typ := f[0].String(); typ {
	case "thread.started":
		d.setSession(f[1].String(), "")
	case "turn.started":
		d.final = false
	case "item.started", "item.completed", "item.updated":
		d.final = false
		d.codexItem(typ, f[2])
	case "error":
		text := f[4].String()
		if strings.HasPrefix(text, "Reconnecting") {
			d.emit(state.Retry{Text: cut(text, maxCLILine)})
		} else {
			d.fail(text, nil)
		}
	case "turn.completed":
		u := pick(f[3], "input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
		d.meter.setTokens(state.Usage{InputTokens: max(0, u[0].Int()-u[1].Int()), OutputTokens: u[3].Int(),
			CacheReadTokens: u[1].Int(), CacheWriteTokens: u[2].Int()})
		d.usage()
		d.result(d.lastText, false, nil)
	case "turn.failed":
		text := firstText(f[5].Get("message"), f[5])
		cs := codes(f[5].Get("code"), f[5].Get("status"))
		d.fail(text, cs)
		d.result(text, true, cs)
	default:
		return typ != ""
	}
	return true
}

func (d *Decoder) codexItem(typ string, item gjson.Result) {
	f := pick(item, "type", "id", "text", "command", "aggregated_output", "exit_code", "status", "message",
		"changes", "server", "tool", "query", "arguments")
	kind := f[0].String()
	done := typ == "item.completed"
	switch kind {
	case "agent_message":
		if done {
			d.text(f[2].String())
			d.lastText = cut(f[2].String(), maxText)
		}
		return
	case "error": // a warning, for instance about an unknown model
		d.notice(f[7].String())
		return
	case "reasoning", "todo_list", "":
		return
	}
	id := cut(f[1].String(), 200)
	if _, known := d.calls[id]; !known {
		t := state.Tool{ID: id, Name: kind, Arg: oneLine(firstText(f[3], f[11], f[12]))}
		switch kind {
		case "command_execution":
			t.Name = "shell"
		case "mcp_tool_call":
			t.Name = cut(f[9].String()+"."+f[10].String(), 200)
		case "file_change":
			t.Arg = oneLine(f[8].Get("0.path").String())
		}
		d.tool(t)
	}
	if done {
		failed := f[6].String() == "failed" || f[6].String() == "declined" || f[5].Int() != 0
		d.toolResult(id, f[4].String(), failed)
		if f[6].String() == "declined" {
			d.deny(state.Tool{ID: id, Name: kind}, "declined")
		}
	}
}

// gemini decodes gemini --output-format stream-json, whose messages come in
// pieces, and the single document of its json format.
func (d *Decoder) gemini(rec gjson.Result) bool {
	f := pick(rec, "type", "session_id", "model", "role", "content", "tool_name", "tool_id", "parameters",
		"status", "output", "error", "stats", "severity", "message", "response")
	typ := f[0].String()
	if typ != "message" {
		d.flushMessage()
	}
	switch typ {
	case "init":
		d.final = false
		d.setSession(f[1].String(), f[2].String())
	case "message":
		if f[3].String() == "assistant" {
			d.final = false
			if d.message.Len() < maxText {
				d.message.WriteString(f[4].String())
			}
		}
	case "tool_use":
		d.final, d.lastText = false, ""
		d.tool(state.Tool{ID: cut(f[6].String(), 200), Name: cut(f[5].String(), 200), Arg: argument(f[7])})
	case "tool_result":
		failed := f[8].String() == "error"
		d.toolResult(f[6].String(), firstText(f[9], f[10].Get("message")), failed)
		d.geminiDenial(f[6].String(), f[10])
	case "error":
		if f[12].String() == "warning" {
			d.notice(f[13].String())
		} else {
			d.fail(f[13].String(), nil)
		}
	case "result":
		d.geminiResult(f[8].String() != "success", d.lastText, f[10], f[11])
	case "":
		if !f[14].Exists() && !(f[1].Exists() && f[10].Exists()) {
			return false
		}
		d.setSession(f[1].String(), "")
		d.geminiResult(f[10].IsObject(), f[14].String(), f[10], f[11].Get("models.*.tokens"))
	}
	return true
}

// geminiDenial finds refused calls: outside of its yolo mode a tool that is not
// allowed does not even exist for the CLI.
func (d *Decoder) geminiDenial(id string, failure gjson.Result) {
	kind := failure.Get("type").String()
	call := d.calls[id]
	missing := kind == "tool_not_registered" && slices.Contains(d.spec.Guarded, call.Name)
	if missing || strings.Contains(kind, "denied") || strings.Contains(kind, "policy") {
		d.deny(state.Tool{ID: strings.Clone(id), Name: call.Name}, failure.Get("message").String())
	}
}

func (d *Decoder) geminiResult(failed bool, text string, failure, stats gjson.Result) {
	u := pick(stats, "input", "output_tokens", "cached", "candidates")
	d.meter.endTurn(&state.Usage{InputTokens: u[0].Int(), OutputTokens: u[1].Int() + u[3].Int(), CacheReadTokens: u[2].Int()})
	d.usage()
	var cs []string
	if failed {
		text = firstText(failure.Get("message"), failure)
		cs = codes(failure.Get("code"), failure.Get("type"))
		d.fail(text, cs)
	}
	d.result(text, failed, cs)
}

// opencode decodes opencode run --format json. It has no final record: a step
// that finishes with reason "stop" ends the turn.
func (d *Decoder) opencode(rec gjson.Result) bool {
	f := pick(rec, "type", "sessionID", "part", "error")
	typ := f[0].String()
	d.setSession(f[1].String(), "")
	p := pick(f[2], "text", "tool", "callID", "state", "reason", "tokens", "cost")
	switch typ {
	case "step_start":
		d.final = false
	case "text":
		d.text(p[0].String())
		d.lastText = cut(p[0].String(), maxText)
	case "tool_use":
		d.final = false
		d.opencodeTool(p[1].String(), p[2].String(), p[3])
	case "step_finish":
		t := pick(p[5], "input", "output", "reasoning")
		d.meter.endTurn(&state.Usage{InputTokens: t[0].Int(), OutputTokens: t[1].Int() + t[2].Int(),
			CacheReadTokens: p[5].Get("cache.read").Int(), CacheWriteTokens: p[5].Get("cache.write").Int(), CostUSD: p[6].Float()})
		d.usage()
		// After "tool-calls", and after an answer that it did not understand
		// ("unknown"), it goes on with another step.
		switch reason := p[4].String(); reason {
		case "stop", "length":
			d.result(d.lastText, false, codes(p[4]))
		case "content-filter":
			d.result(d.lastText, false, []string{"refusal"})
		case "error":
			d.result("", true, codes(p[4]))
		}
	case "error":
		data := f[3].Get("data")
		text := firstText(data.Get("message"), f[3].Get("message"), f[3])
		cs := codes(data.Get("statusCode"), f[3].Get("name"))
		d.fail(text, cs)
		d.result(text, true, cs)
	default:
		return typ != ""
	}
	return true
}

func (d *Decoder) opencodeTool(name, id string, st gjson.Result) {
	f := pick(st, "status", "input", "output", "error", "metadata")
	t := state.Tool{ID: cut(id, 200), Name: cut(name, 200), Arg: argument(f[1])}
	d.tool(t)
	failure := f[3].String()
	d.toolResult(id, firstText(f[2], f[3]), f[0].String() == "error" || f[4].Get("exit").Int() != 0)
	if strings.Contains(failure, "rejected permission") || strings.Contains(failure, "rule which prevents") {
		d.deny(t, failure)
	}
}
