package agent

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/runner/agent/wire"
	"ralph/state"
)

// claude decodes the stream-json of Claude Code 1.0 to 2.1, which qwen, amp and
// cursor-agent use, too, and its json format, which is only the final record.
func (d *Decoder) claude(rec gjson.Result) bool {
	r := wire.Members(rec)
	switch typ := r.Text("type"); typ {
	case "system":
		d.claudeSystem(r)
	case "assistant":
		d.claudeAssistant(r)
	case "user":
		d.claudeUser(r)
	case "tool_call":
		d.cursorCall(r)
	case "rate_limit_event":
		d.claudeLimit(r.Members("rate_limit_info"))
	case "result":
		d.claudeResult(r)
	case "error":
		e := r.Members("error")
		d.fail(wire.FirstText(r.Get("message"), e.Get("message"), r.Get("error")),
			wire.Codes(r.Get("code"), r.Get("status"), e.Get("type"), e.Get("code")))
	default:
		return typ != "" // a newer version has more types; JSON without one is not a record
	}
	return true
}

func (d *Decoder) claudeSystem(r wire.Object) {
	switch r.Text("subtype") {
	case "init":
		d.final = false // the end of a background task starts another turn
		d.setSession(r.Text("session_id"), r.Text("model"))
	case "permission_denied":
		d.deny(r.Text("tool_use_id"), r.Text("tool_name"), "", r.Text("message"))
	case "api_retry", "retry":
		if data := r.Get("data"); data.IsObject() {
			r = wire.Members(data)
		}
		text := "the CLI retries by itself"
		if r.Has("attempt") {
			delay := time.Duration(r.Get("retry_delay_ms").Float()+r.Get("delayMs").Float()) * time.Millisecond
			most := r.Int("max_retries") + r.Int("maxRetries")
			text = fmt.Sprintf("retry %d of %d in %v", r.Int("attempt"), most, delay.Round(100*time.Millisecond))
		}
		why := wire.Codes(r.Get("error_status"), r.Get("error")) // qwen's "reason" is always "retry"
		if len(why) > 0 {
			text += ": " + strings.Join(why, " ")
		}
		d.last = false
		d.emit(state.Retry{Text: text, Codes: why})
	case "informational":
		d.hint(r.Text("content"))
	}
}

func (d *Decoder) claudeAssistant(r wire.Object) {
	d.final = false
	d.setSession(r.Text("session_id"), "")
	message := r.Members("message")
	content := message.Get("content")
	if r.Text("error") != "" || r.Bool("is_api_error_message") || r.Bool("isApiErrorMessage") ||
		message.Text("model") == "<synthetic>" {
		// These are the words of the CLI, not of the model.
		d.fail(wire.BlockText(content, maxToolText),
			wire.Codes(r.Get("api_error_status"), r.Get("error"), r.Get("api_error"), r.Get("api_error_type")))
		return
	}
	say := d.says
	if r.Text("parent_tool_use_id") != "" { // a sub-agent
		say = func(s string) { d.text(s) }
	}
	if content.Type == gjson.String {
		say(content.Str)
	}
	for block := range wire.Elements(content) {
		b := wire.Members(block)
		switch b.Text("type") {
		case "text":
			say(b.Text("text"))
		case "tool_use":
			d.call(b.Text("id"), b.Text("name"), wire.Arguments(b.Get("input")), r.Text("parent_tool_use_id"))
		}
	}
	if usage := message.Get("usage"); usage.IsObject() {
		d.meter.Note(message.Text("id"), d.claudeUsage(usage))
		d.usage()
	}
}

// claudeUser reads the tool results. The rest is the prompt, or what the CLI says in the user's name.
func (d *Decoder) claudeUser(r wire.Object) {
	for block := range wire.Elements(r.Members("message").Get("content")) {
		b := wire.Members(block)
		if b.Text("type") != "tool_result" {
			continue
		}
		d.final = false
		id, text, failed := b.Text("tool_use_id"), wire.BlockText(b.Get("content"), maxToolText), b.Bool("is_error")
		d.answer(id, text, failed)
		if d.spec.Refused != "" && failed && strings.HasPrefix(text, d.spec.Refused) {
			d.deny(id, "", "", text)
		} else if failed && wire.ByHook(r) {
			d.denied[strings.Clone(id)] = true // the agent knows why, and no list would allow it
		}
	}
}

// cursorCall reads a tool call of cursor-agent: {"tool_call":{"shellToolCall":{"args":…,"result":…}}}.
func (d *Decoder) cursorCall(r wire.Object) {
	d.final = false
	for name, call := range r.Members("tool_call").All() {
		c := wire.Members(call)
		if r.Text("subtype") == "started" {
			d.call(r.Text("call_id"), strings.TrimSuffix(name, "ToolCall"), wire.Arguments(c.Get("args")), "")
		} else {
			d.answer(r.Text("call_id"), c.Get("result").Raw, c.Members("result").Has("error"))
		}
		break // there is only one
	}
}

// claudeLimit reads a rate_limit_event, which healthy calls print, too. Only the main window can
// reject work, and only if no overage lets it continue.
func (d *Decoder) claudeLimit(info wire.Object) {
	main := info.Text("rateLimitType")
	utilization := info.Get("utilization")
	rejected := info.Text("status") == "rejected" ||
		info.Bool("isUsingOverage") && info.Text("overageStatus") == "rejected"
	for name, window := range info.Members("unifiedWindows").All() {
		w := wire.Members(window)
		if name != main {
			d.emit(state.Limit{Name: wire.Cut(name, 80), ResetsAt: wire.Epoch(w.Get("resetsAt")),
				Utilization: wire.Share(w.Get("utilization"))})
		} else if !utilization.Exists() {
			utilization = w.Get("utilization")
		}
	}
	if main != "" || rejected {
		d.emit(state.Limit{Name: wire.Cut(cmp.Or(main, "usage"), 80), Rejected: rejected,
			ResetsAt: wire.Epoch(info.Get("resetsAt")), Utilization: wire.Share(utilization)})
	}
}

func (d *Decoder) claudeResult(r wire.Object) {
	d.setSession(r.Text("session_id"), "")
	for denial := range wire.Elements(r.Get("permission_denials")) {
		n := wire.Members(denial)
		d.deny(n.Text("tool_use_id"), n.Text("tool_name"), wire.Argument(n.Get("tool_input")), "")
	}
	d.claudeTotals(r)
	// 2.0 prints is_error:false when it runs out of turns; 2.1 prints subtype "success" for API errors.
	failed := r.Bool("is_error") || strings.HasPrefix(r.Text("subtype"), "error")
	codes := wire.Codes(r.Get("api_error_status"), r.Get("api_error"), r.Get("api_error_type"),
		r.Get("terminal_reason"), r.Get("subtype"))
	switch stop := r.Text("stop_reason"); stop {
	case "refusal", "max_tokens", "model_context_window_exceeded":
		codes = append(codes, stop)
	}
	text := r.Text("result")
	if strings.TrimSpace(text) == "" && d.last {
		text = d.lastText
	}
	if failed {
		first := r.Get("errors").Get("0")
		text = wire.FirstText(r.Get("result"), r.Members("error").Get("message"), r.Get("error"),
			first.Get("message"), first)
		d.fail(text, codes)
	}
	d.result(text, failed, codes)
}

// claudeTotals reads the usage of a final record. Tokens are those of the turn, for
// some CLIs of the session. Cost is that of the process; since 2.1, which numbers
// its results, of the session.
func (d *Decoder) claudeTotals(r wire.Object) {
	switch usage := r.Get("usage"); {
	case !usage.IsObject():
		d.meter.EndTurn(nil)
	case d.spec.SessionTokens:
		d.meter.SetTokens(d.claudeUsage(usage))
	default:
		u := d.claudeUsage(usage)
		d.meter.EndTurn(&u)
	}
	if cost := r.Get("total_cost_usd"); cost.Type == gjson.Number {
		d.meter.SetCost(cost.Float(), d.spec.SessionCost && r.Has("result_index"))
	}
	d.usage()
}

func (d *Decoder) claudeUsage(r gjson.Result) state.Usage {
	f := wire.Members(r)
	u := state.Usage{InputTokens: f.Int("input_tokens"), OutputTokens: f.Int("output_tokens"),
		CacheReadTokens: f.Int("cache_read_input_tokens"), CacheWriteTokens: f.Int("cache_creation_input_tokens")}
	if d.spec.CachedInInput {
		u.InputTokens = max(0, u.InputTokens-u.CacheReadTokens)
	}
	return u
}
