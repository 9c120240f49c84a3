package mockllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// anthropicRequest is what matters in the body of POST /v1/messages.
type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name   string `json:"name"`
		Params schema `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
}

// query reads the request. Titles and summaries declare no tools or are forced
// to one, and "Warmup" is what Claude Code 2.0 sends for its sub-agents at the
// start: neither is part of the loop.
func (r *anthropicRequest) query() query {
	warmup := len(r.Messages) > 0 && slices.Contains(r.Messages[0].Content, part{Type: "text", Text: "Warmup"})
	q := query{model: r.Model, shell: "Bash", side: len(r.Tools) == 0 || r.ToolChoice.Type == "tool" || warmup}
	for _, t := range r.Tools {
		q.tools = append(q.tools, declared{t.Name, t.Params})
	}
	for _, m := range r.Messages {
		role := m.Role
		if slices.ContainsFunc(m.Content, func(p part) bool { return p.Type == "tool_result" }) {
			role = "tool"
		}
		q.messages = append(q.messages, message{role, m.Content.texts()})
	}
	return q
}

func anthropicCount(x *exchange) error {
	x.server.record(x.entry)
	writeJSON(x.w, http.StatusOK, map[string]any{"input_tokens": len(x.body) / 4})
	return nil
}

func anthropicMessages(x *exchange) error {
	var r anthropicRequest
	if err := json.Unmarshal(x.body, &r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	x.w.Header().Set("request-id", x.server.id("req"))
	st := x.answer(r.query(), anthropicLimit)
	if st.Error != nil {
		x.fail(st, anthropicError(st.Error))
		return nil
	}
	if st.Windows != nil {
		anthropicWindows(x.w.Header(), st.Windows(time.Now()))
	}
	blocks, stop := x.anthropicBlocks(st)
	if !r.Stream {
		msg := x.anthropicMessage(st)
		msg["content"], msg["stop_reason"] = blocks, stop
		x.whole(st, msg)
		return nil
	}
	x.anthropicStream(st, blocks, stop)
	return nil
}

// anthropicBlocks returns the content of the answer and its stop reason.
func (x *exchange) anthropicBlocks(st Step) (blocks []map[string]any, stop string) {
	stop = "end_turn"
	if st.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": st.Text})
	}
	for _, t := range st.Tools {
		name, input := x.call(t)
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": x.server.id("toolu"), "name": name,
			"input": input})
		stop = "tool_use"
	}
	return blocks, stop
}

func (x *exchange) anthropicStream(st Step, blocks []map[string]any, stop string) {
	out := x.start(st)
	send := func(event string, data map[string]any) {
		data["type"] = event
		out.send(event, data)
	}
	msg := x.anthropicMessage(st)
	usage := msg["usage"].(map[string]any)
	total := usage["output_tokens"]
	usage["output_tokens"] = 1
	send("message_start", map[string]any{"message": msg})
	for i, b := range blocks {
		open, delta, key, text := map[string]any{"type": "text", "text": ""}, "text_delta", "text", b["text"]
		if b["type"] == "tool_use" {
			open = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
			delta, key, text = "input_json_delta", "partial_json", compact(b["input"])
		}
		send("content_block_start", map[string]any{"index": i, "content_block": open})
		for _, piece := range pieces(text.(string)) {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": delta, key: piece}})
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	if st.StreamError != nil {
		send("error", anthropicError(st.StreamError))
		return
	}
	usage["output_tokens"] = total
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": usage})
	send("message_stop", map[string]any{})
}

// anthropicMessage returns the envelope of an answer, without its content.
func (x *exchange) anthropicMessage(st Step) map[string]any {
	u := st.usage()
	return map[string]any{
		"id": x.server.id("msg"), "type": "message", "role": "assistant", "model": x.query.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": u.Input, "output_tokens": u.Output, "service_tier": "standard",
			"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		},
	}
}

func anthropicError(e *APIError) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": e.Type, "message": e.Message}}
}

// Parts of the names of the headers that a subscriber gets.
const unified = "anthropic-ratelimit-unified-"

func shortWindow(name string) string {
	if name == "seven_day" {
		return "7d"
	}
	return "5h"
}

// anthropicWindows says how much of each window is used; the first one is nearest to its end.
func anthropicWindows(h http.Header, windows []Window) {
	for i, w := range windows {
		reset, name := strconv.FormatInt(w.ResetsAt.Unix(), 10), unified+shortWindow(w.Name)
		if i == 0 {
			h.Set(unified+"status", "allowed")
			h.Set(unified+"reset", reset)
			h.Set(unified+"representative-claim", w.Name)
		}
		h.Set(name+"-status", "allowed")
		h.Set(name+"-reset", reset)
		h.Set(name+"-utilization", strconv.FormatFloat(w.Used, 'f', -1, 64))
	}
}

// anthropicLimit returns the answer to a subscriber whose window is used up. Claude
// Code reads its headers when it runs with an OAuth token.
func anthropicLimit(l *Limit, resetsAt, now time.Time) *APIError {
	reset := strconv.FormatInt(resetsAt.Unix(), 10)
	short, other := shortWindow(l.Window), "5h"
	if short == other {
		other = "7d"
	}
	const prefix = unified
	return &APIError{
		Status: http.StatusTooManyRequests, Type: "rate_limit_error",
		Message: "This request would exceed your account's rate limit. Please try again later.",
		Header: map[string]string{
			"retry-after":                      secondsUntil(resetsAt, now),
			prefix + "status":                  "rejected",
			prefix + "reset":                   reset,
			prefix + "representative-claim":    l.Window,
			prefix + short + "-status":         "rejected",
			prefix + short + "-reset":          reset,
			prefix + short + "-utilization":    "1.0",
			prefix + other + "-status":         "allowed",
			prefix + other + "-reset":          strconv.FormatInt(now.Add(50*time.Hour).Unix(), 10),
			prefix + other + "-utilization":    "0.4",
			prefix + "overage-status":          "rejected",
			prefix + "overage-disabled-reason": "org_level_disabled",
		},
	}
}
