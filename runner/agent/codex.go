package agent

import (
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/agent/wire"
	"ralph/state"
)

// codex decodes codex exec --json. Most of its error records announce a retry;
// only turn.failed is final. It never reports refused commands.
func (d *Decoder) codex(rec gjson.Result) bool {
	r := wire.Members(rec)
	switch typ := r.Text("type"); typ {
	case "thread.started":
		d.setSession(r.Text("thread_id"), "")
	case "turn.started":
		d.final = false
	case "item.started", "item.completed", "item.updated":
		d.final = false
		d.codexItem(r.Members("item"), typ == "item.completed")
	case "error":
		if text := r.Text("message"); strings.HasPrefix(text, "Reconnecting") {
			d.emit(state.Retry{Text: wire.Cut(text, maxCLILine)})
		} else {
			d.fail(text, nil)
		}
	case "turn.completed":
		u := r.Members("usage")
		cached := u.Int("cached_input_tokens")
		d.meter.SetTokens(state.Usage{InputTokens: max(0, u.Int("input_tokens")-cached), CacheReadTokens: cached,
			OutputTokens: u.Int("output_tokens"), CacheWriteTokens: u.Int("cache_write_input_tokens")})
		d.usage()
		d.result(d.lastText, false, nil)
	case "turn.failed":
		e := r.Members("error")
		text, codes := wire.FirstText(e.Get("message"), r.Get("error")), wire.Codes(e.Get("code"), e.Get("status"))
		d.fail(text, codes)
		d.result(text, true, codes)
	default:
		return typ != ""
	}
	return true
}

func (d *Decoder) codexItem(item wire.Object, done bool) {
	kind := item.Text("type")
	switch kind {
	case "agent_message":
		if done {
			d.says(item.Text("text"))
		}
		return
	case "error": // a warning, such as one about an unknown model
		d.hint(item.Text("message"))
		return
	case "reasoning", "todo_list", "":
		return
	}
	id := wire.Cut(item.Text("id"), maxName)
	if _, known := d.calls[id]; !known {
		name, arg := kind, wire.OneLine(wire.FirstText(item.Get("command"), item.Get("query"), item.Get("arguments")))
		switch kind {
		case "command_execution":
			name = "shell"
		case "mcp_tool_call":
			name = item.Text("server") + "." + item.Text("tool")
		case "file_change":
			arg = wire.OneLine(item.Get("changes").Get("0.path").String())
		}
		a := wire.Args{Main: arg, File: kind == "file_change"}
		if !a.File && arg != "" { // of a change, it says only where it is
			a.Sum = wire.Sum(item.Text("command"), item.Text("query"), item.Get("arguments").Raw)
		}
		d.call(id, name, a, "")
	}
	if done {
		status := item.Text("status")
		failed := status == "failed" || status == "declined" || item.Int("exit_code") != 0
		d.answer(id, item.Text("aggregated_output"), failed)
		if status == "declined" {
			d.deny(id, kind, "", status)
		}
	}
}
