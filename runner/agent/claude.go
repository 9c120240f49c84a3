package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/state"
)

// claude decodes the stream-json of Claude Code 1.0 to 2.1, which qwen, amp and
// cursor-agent speak too, and its json form, which is the final record alone.
// Key order is arbitrary; unknown types are ignored.
func (d *Decoder) claude(rec gjson.Result) bool {
	typ := rec.Get("type").String()
	switch typ {
	case "system":
		d.claudeSystem(rec)
	case "assistant":
		d.claudeAssistant(rec)
	case "user":
		d.claudeUser(rec)
	case "tool_call":
		d.claudeToolCall(rec)
	case "rate_limit_event":
		d.claudeLimit(rec.Get("rate_limit_info"))
	case "result":
		d.claudeResult(rec)
	case "error":
		f := pick(rec, "message", "error", "code", "status")
		d.fail(firstText(f[0], f[1].Get("message"), f[1]), codes(f[2], f[3], f[1].Get("type"), f[1].Get("code")))
	default:
		return typ != "" // a type of a newer version; JSON without one is no record
	}
	return true
}

func (d *Decoder) claudeSystem(rec gjson.Result) {
	f := pick(rec, "subtype", "session_id", "model", "tool_name", "tool_use_id", "message", "data", "content")
	switch f[0].String() {
	case "init":
		d.final = false // also a second turn, begun by the end of a background task
		d.setSession(f[1].String(), f[2].String())
	case "permission_denied":
		d.deny(state.Tool{ID: cut(f[4].String(), 200), Name: cut(f[3].String(), 200)}, f[5].String())
	case "api_retry", "retry":
		src := rec
		if f[6].IsObject() {
			src = f[6]
		}
		r := pick(src, "attempt", "max_retries", "maxRetries", "retry_delay_ms", "delayMs", "error_status", "error", "reason")
		text := "the CLI retries by itself"
		if r[0].Exists() {
			delay := time.Duration(r[3].Float()+r[4].Float()) * time.Millisecond
			text = fmt.Sprintf("retry %d of %d in %v", r[0].Int(), r[1].Int()+r[2].Int(), delay.Round(100*time.Millisecond))
		}
		why := codes(r[5], r[6], r[7])
		if len(why) > 0 {
			text += ": " + strings.Join(why, " ")
		}
		d.emit(state.Retry{Text: text, Codes: why})
	case "informational":
		d.notice(f[7].String())
	}
}

func (d *Decoder) claudeAssistant(rec gjson.Result) {
	d.final = false
	f := pick(rec, "message", "parent_tool_use_id", "error", "is_api_error_message", "isApiErrorMessage",
		"api_error_status", "api_error", "api_error_type", "session_id")
	d.setSession(f[8].String(), "")
	m := pick(f[0], "content", "usage", "id", "model")
	failed := f[2].String() != "" || f[3].Bool() || f[4].Bool() || m[3].String() == "<synthetic>"
	if failed { // the CLI speaks here, in the model's place
		d.fail(content(m[0]), codes(f[5], f[2], f[6], f[7]))
		return
	}
	if m[0].Type == gjson.String {
		d.text(m[0].String())
	}
	if m[0].IsArray() {
		m[0].ForEach(func(_, block gjson.Result) bool {
			b := pick(block, "type", "text", "id", "name", "input")
			switch b[0].String() {
			case "text":
				d.text(b[1].String())
			case "tool_use":
				d.tool(state.Tool{ID: cut(b[2].String(), 200), Name: cut(b[3].String(), 200),
					Arg: argument(b[4]), Parent: cut(f[1].String(), 200)})
			}
			return true
		})
	}
	if m[1].IsObject() {
		d.meter.note(m[2].String(), d.claudeUsage(m[1]))
		d.usage()
	}
}

// claudeUser reads the tool results. Everything else in a user record is the
// prompt, or what the CLI says to the model in the user's place.
func (d *Decoder) claudeUser(rec gjson.Result) {
	blocks := rec.Get("message.content")
	if !blocks.IsArray() {
		return
	}
	blocks.ForEach(func(_, block gjson.Result) bool {
		b := pick(block, "type", "tool_use_id", "content", "is_error")
		if b[0].String() == "tool_result" {
			d.final = false
			text := content(b[2])
			d.toolResult(b[1].String(), text, b[3].Bool())
			if d.spec.Refused != "" && b[3].Bool() && strings.HasPrefix(text, d.spec.Refused) {
				d.deny(state.Tool{ID: b[1].String(), Name: d.calls[b[1].String()].Name}, text)
			}
		}
		return true
	})
}

// claudeToolCall reads cursor-agent's form: {"tool_call":{"shellToolCall":{"args":…,"result":…}}}.
func (d *Decoder) claudeToolCall(rec gjson.Result) {
	d.final = false
	f := pick(rec, "subtype", "call_id", "tool_call")
	if !f[2].IsObject() {
		return
	}
	f[2].ForEach(func(name, call gjson.Result) bool {
		c := pick(call, "args", "result")
		if f[0].String() == "started" {
			d.tool(state.Tool{ID: cut(f[1].String(), 200), Name: cut(strings.TrimSuffix(name.String(), "ToolCall"), 200), Arg: argument(c[0])})
		} else {
			d.toolResult(f[1].String(), c[1].Raw, c[1].Get("error").Exists())
		}
		return false
	})
}

// claudeLimit reads a rate_limit_event, which healthy calls print too. Only the
// window that speaks for the whole can be a rejection, and only when no overage
// carries the work on.
func (d *Decoder) claudeLimit(info gjson.Result) {
	f := pick(info, "status", "rateLimitType", "resetsAt", "utilization", "isUsingOverage", "overageStatus", "unifiedWindows")
	main := f[1].String()
	rejected := f[0].String() == "rejected" || f[4].Bool() && f[5].String() == "rejected"
	if f[6].IsObject() {
		f[6].ForEach(func(kind, w gjson.Result) bool {
			if kind.String() != main {
				d.emit(state.Limit{Name: cut(kind.String(), 80), ResetsAt: epoch(w.Get("resetsAt")), Utilization: share(w.Get("utilization"))})
			} else if !f[3].Exists() {
				f[3] = w.Get("utilization")
			}
			return true
		})
	}
	if main == "" && !rejected {
		return
	}
	if main == "" {
		main = "usage"
	}
	d.emit(state.Limit{Name: cut(main, 80), Rejected: rejected, ResetsAt: epoch(f[2]), Utilization: share(f[3])})
}

func (d *Decoder) claudeResult(rec gjson.Result) {
	f := pick(rec, "subtype", "is_error", "result", "errors", "error", "usage", "total_cost_usd", "permission_denials",
		"terminal_reason", "stop_reason", "api_error_status", "api_error", "api_error_type", "session_id", "result_index")
	d.setSession(f[13].String(), "")
	if f[7].IsArray() {
		f[7].ForEach(func(_, denial gjson.Result) bool {
			n := pick(denial, "tool_name", "tool_use_id", "tool_input")
			d.deny(state.Tool{ID: cut(n[1].String(), 200), Name: cut(n[0].String(), 200), Arg: argument(n[2])}, "")
			return true
		})
	}
	d.claudeTotals(f[5], f[6], f[14])
	// 2.0 says is_error:false when it ran out of turns; 2.1 says subtype "success" for API errors.
	failed := f[1].Bool() || strings.HasPrefix(f[0].String(), "error")
	cs := codes(f[10], f[11], f[12], f[8], f[0])
	if stop := f[9].String(); stop == "refusal" || stop == "max_tokens" || stop == "model_context_window_exceeded" {
		cs = append(cs, stop)
	}
	text := f[2].String()
	if failed {
		text = firstText(f[2], f[4].Get("message"), f[4], f[3].Get("0.message"), f[3].Get("0"))
		d.fail(text, cs)
	}
	d.result(text, failed, cs)
}

// claudeTotals takes the figures of a final record: tokens of its turn (with
// some CLIs of the session), cost of the process (since 2.1, which numbers its
// results, of the session).
func (d *Decoder) claudeTotals(usage, cost, index gjson.Result) {
	if usage.IsObject() {
		u := d.claudeUsage(usage)
		if d.spec.SessionTokens {
			d.meter.setTokens(u)
		} else {
			d.meter.endTurn(&u)
		}
	} else {
		d.meter.endTurn(nil)
	}
	if cost.Type == gjson.Number {
		d.meter.setCost(cost.Float(), d.spec.SessionCost && index.Exists())
	}
	d.usage()
}

func (d *Decoder) claudeUsage(r gjson.Result) state.Usage {
	f := pick(r, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
	u := state.Usage{InputTokens: f[0].Int(), OutputTokens: f[1].Int(), CacheReadTokens: f[2].Int(), CacheWriteTokens: f[3].Int()}
	if d.spec.CachedInInput {
		u.InputTokens = max(0, u.InputTokens-u.CacheReadTokens)
	}
	return u
}

// firstText is the first of the values that holds text.
func firstText(rs ...gjson.Result) string {
	for _, r := range rs {
		if r.Type == gjson.String && r.Str != "" {
			return r.Str
		}
	}
	for _, r := range rs {
		if r.IsObject() {
			return r.Raw
		}
	}
	return ""
}

// epoch reads seconds, or milliseconds, since 1970; the zero time for none.
func epoch(r gjson.Result) time.Time {
	n := r.Int()
	switch {
	case n <= 0:
		return time.Time{}
	case n > 1e11:
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}

// share is a utilization of 0 to 1; below zero when the record has none.
func share(r gjson.Result) float64 {
	if r.Type != gjson.Number {
		return -1
	}
	return r.Float()
}
