package mockllm

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// responsesRequest is what matters in the body of POST /v1/responses.
type responsesRequest struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Input  []struct {
		Type    string  `json:"type"`
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"input"`
	Tools []struct {
		Name   string `json:"name"`
		Params schema `json:"parameters"`
	} `json:"tools"`
}

func (r *responsesRequest) query() query {
	q := query{model: r.Model, shell: "exec_command", side: len(r.Tools) == 0}
	for _, t := range r.Tools {
		q.tools = append(q.tools, declared{t.Name, t.Params})
	}
	for _, in := range r.Input {
		role := in.Role
		switch {
		case role == "developer":
			role = "system"
		case strings.HasSuffix(in.Type, "_output"):
			role = "tool"
		case role == "":
			role = "assistant" // its reasoning and its calls
		}
		q.messages = append(q.messages, message{role, in.Content.texts()})
	}
	return q
}

func openaiResponses(x *exchange) error {
	var r responsesRequest
	if err := json.Unmarshal(x.body, &r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	st := x.answer(r.query(), responsesLimit)
	if st.Error != nil {
		x.fail(st, openaiError(st.Error))
		return nil
	}
	u := st.usage()
	items := x.responsesItems(st)
	whole := map[string]any{
		"id": x.server.id("resp"), "object": "response", "created_at": x.entry.Time.Unix(), "model": r.Model,
		"status": "completed", "output": items, "error": nil, "incomplete_details": nil,
		"usage": map[string]any{
			"input_tokens": u.Input + u.CacheRead, "input_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
			"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": u.Input + u.CacheRead + u.Output,
		},
	}
	if !r.Stream {
		x.whole(st, whole)
		return nil
	}
	x.responsesStream(st, whole, items)
	return nil
}

// responsesItems returns the content of the answer.
func (x *exchange) responsesItems(st Step) (items []map[string]any) {
	if st.Text != "" {
		items = append(items, map[string]any{"type": "message", "id": x.server.id("msg"), "role": "assistant",
			"status":  "completed",
			"content": []any{map[string]any{"type": "output_text", "text": st.Text, "annotations": []any{}}}})
	}
	for _, t := range st.Tools {
		name, input := x.call(t)
		items = append(items, map[string]any{"type": "function_call", "id": x.server.id("fc"),
			"call_id": x.server.id("call"),
			"status":  "completed", "name": name, "arguments": compact(input)})
	}
	return items
}

func (x *exchange) responsesStream(st Step, whole map[string]any, items []map[string]any) {
	out := x.start(st)
	n := 0
	send := func(event string, data map[string]any) {
		data["type"], data["sequence_number"] = event, n
		n++
		out.send(event, data)
	}
	begun := with(whole, map[string]any{"status": "in_progress", "output": []any{}, "usage": nil})
	send("response.created", map[string]any{"response": begun})
	for i, item := range items {
		at := func(more map[string]any) map[string]any {
			return with(more, map[string]any{"item_id": item["id"], "output_index": i, "content_index": 0})
		}
		empty := with(item, map[string]any{"status": "in_progress"})
		if item["type"] == "function_call" {
			empty["arguments"] = ""
			send("response.output_item.added", map[string]any{"output_index": i, "item": empty})
			for _, p := range pieces(item["arguments"].(string)) {
				send("response.function_call_arguments.delta", at(map[string]any{"delta": p}))
			}
		} else {
			empty["content"] = []any{}
			send("response.output_item.added", map[string]any{"output_index": i, "item": empty})
			for _, p := range pieces(st.Text) {
				send("response.output_text.delta", at(map[string]any{"delta": p}))
			}
			send("response.output_text.done", at(map[string]any{"text": st.Text}))
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	if st.StreamError != nil {
		failed := with(begun, map[string]any{"status": "failed", "error": openaiError(st.StreamError)["error"]})
		send("response.failed", map[string]any{"response": failed})
		return
	}
	send("response.completed", map[string]any{"response": whole})
}

// with returns m with some members set.
func with(m, set map[string]any) map[string]any {
	m = maps.Clone(m)
	maps.Copy(m, set)
	return m
}
