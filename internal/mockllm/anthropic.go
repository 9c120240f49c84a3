package mockllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// anthropicRequest is what matters in the body of POST /v1/messages.
type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string           `json:"role"`
		Content anthropicContent `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
}

type anthropicBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// anthropicContent is a list of blocks; a plain string is read as one text block.
type anthropicContent []anthropicBlock

func (c *anthropicContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = anthropicContent{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(b, (*[]anthropicBlock)(c))
}

// side says that a request is no part of the agent's loop: titles and
// summaries declare no tools or are forced to one, and "Warmup" is what
// Claude Code 2.0 sends for its sub-agents at the start.
func (q *anthropicRequest) side() bool {
	warmup := len(q.Messages) > 0 && slices.Contains(q.Messages[0].Content, anthropicBlock{Type: "text", Text: "Warmup"})
	return len(q.Tools) == 0 || q.ToolChoice.Type == "tool" || warmup
}

// prompt returns the user's words at the end of the conversation, without the
// reminders that the CLI adds. fresh is false when the conversation ends with
// the result of a tool or the model's own words.
func (q *anthropicRequest) prompt() (text string, fresh bool) {
	var words []string
	for _, m := range slices.Backward(q.Messages) {
		if m.Role == "system" {
			continue
		}
		if m.Role == "assistant" {
			break
		}
		for _, b := range slices.Backward(m.Content) {
			if b.Type == "tool_result" {
				return "", false
			}
			if b.Type == "text" && !strings.HasPrefix(strings.TrimSpace(b.Text), "<system-reminder>") {
				words = append(words, b.Text)
			}
		}
	}
	slices.Reverse(words)
	return strings.Join(words, "\n"), len(words) > 0
}

// anthropicCall turns a scripted tool call into the name and input of Claude
// Code's tools. Its Write wants absolute paths, so that a relative one is
// joined to the working directory that the CLI names in its messages.
func (x *exchange) anthropicCall(t Tool) (string, map[string]any) {
	switch t.Name {
	case "bash":
		return "Bash", map[string]any{"command": t.Command, "description": "run a scripted command"}
	case "write":
		path := t.Path
		if m := regexp.MustCompile(`Primary working directory: (/[^"\\]+)`).FindSubmatch(x.body); m != nil && !filepath.IsAbs(path) {
			path = filepath.Join(string(m[1]), path)
		}
		return "Write", map[string]any{"file_path": path, "content": t.Content}
	}
	return t.Name, t.Input
}

func anthropicCount(x *exchange) error {
	x.server.record(x.entry)
	writeJSON(x.w, http.StatusOK, map[string]any{"input_tokens": len(x.body) / 4})
	return nil
}

func anthropicMessages(x *exchange) error {
	var q anthropicRequest
	if err := json.Unmarshal(x.body, &q); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	x.entry.Model, x.entry.Messages = q.Model, len(q.Messages)
	x.w.Header().Set("request-id", x.server.id("req"))
	st, resetsAt := Step{Text: "Mock title"}, time.Time{}
	if q.side() {
		x.entry.Kind = Side
		x.server.record(x.entry)
	} else {
		text, fresh := q.prompt()
		x.entry.Prompt = text
		st, resetsAt = x.turn(fresh)
	}
	if st.Limit != nil {
		st.Error = anthropicLimit(st.Limit, resetsAt, x.entry.Time)
	}
	if st.Error != nil {
		x.anthropicError(st)
		return nil
	}
	blocks, stop := x.anthropicBlocks(st)
	if !q.Stream {
		s := &stream{x: x, step: st, sent: 1 << 20}
		s.sleep(st.Delay)
		if s.cut(); s.ended {
			return nil
		}
		msg := x.anthropicMessage(st)
		msg["content"], msg["stop_reason"] = blocks, stop
		writeJSON(x.w, http.StatusOK, msg)
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
		name, input := x.anthropicCall(t)
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": x.server.id("toolu"), "name": name, "input": input})
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
			input, _ := json.Marshal(b["input"]) // made of strings and plain maps
			open = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
			delta, key, text = "input_json_delta", "partial_json", string(input)
		}
		send("content_block_start", map[string]any{"index": i, "content_block": open})
		for _, piece := range pieces(text.(string)) {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": delta, key: piece}})
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	if st.StreamError != nil {
		send("error", anthropicErrorBody(st.StreamError))
		return
	}
	usage["output_tokens"] = total
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", map[string]any{})
}

// anthropicMessage is the envelope of an answer, without its content.
func (x *exchange) anthropicMessage(st Step) map[string]any {
	u := st.Usage
	if u == (Usage{}) {
		u = Usage{Input: 1200, Output: 40 + len(st.Text)/4, CacheRead: 900}
	}
	return map[string]any{
		"id": x.server.id("msg"), "type": "message", "role": "assistant", "model": x.entry.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": u.Input, "output_tokens": u.Output, "service_tier": "standard",
			"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		},
	}
}

func (x *exchange) anthropicError(st Step) {
	s := &stream{x: x, step: st}
	if s.sleep(st.Delay); s.ended {
		return
	}
	for k, v := range st.Error.Header {
		x.w.Header().Set(k, v)
	}
	writeJSON(x.w, st.Error.Status, anthropicErrorBody(st.Error))
}

func anthropicErrorBody(e *APIError) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": e.Type, "message": e.Message}}
}

// anthropicLimit is the answer to a subscriber whose window is used up. Claude
// Code reads its headers when it runs with an OAuth token.
func anthropicLimit(l *Limit, resetsAt, now time.Time) *APIError {
	reset := strconv.FormatInt(resetsAt.Unix(), 10)
	short, other := "5h", "7d"
	if l.Window == "seven_day" {
		short, other = other, short
	}
	const prefix = "anthropic-ratelimit-unified-"
	return &APIError{
		Status: http.StatusTooManyRequests, Type: "rate_limit_error",
		Message: "This request would exceed your account's rate limit. Please try again later.",
		Header: map[string]string{
			"retry-after":                      strconv.Itoa(int(resetsAt.Sub(now).Seconds()) + 1),
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
