package mockllm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatRequest is what matters in the body of POST /v1/chat/completions.
type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name   string `json:"name"`
			Params schema `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

func (r *chatRequest) query() query {
	q := query{model: r.Model, shell: "bash", side: len(r.Tools) == 0}
	for _, t := range r.Tools {
		q.tools = append(q.tools, declared{t.Function.Name, t.Function.Params})
	}
	for _, m := range r.Messages {
		q.messages = append(q.messages, message{m.Role, m.Content.texts()})
	}
	if _, qwen := q.find("read_file"); qwen {
		q.shell = "run_shell_command"
	}
	// After its answer Qwen Code lets a sub-agent with tools tidy up its memory. Behind ACP it asks the model
	// whether a command is safe; the answer here is not a verdict, so that it asks its client.
	if text, fresh := q.prompt(); fresh && (strings.Contains(text, "Managed memory has") ||
		strings.Contains(text, "## Pending tool call to classify")) {
		q.side = true
	}
	return q
}

func openaiChat(x *exchange) error {
	var r chatRequest
	if err := json.Unmarshal(x.body, &r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	st := x.answer(r.query(), chatLimit)
	if st.Error != nil {
		x.fail(st, openaiError(st.Error))
		return nil
	}
	u := st.usage()
	usage := map[string]any{
		"prompt_tokens": u.Input + u.CacheRead, "prompt_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
		"completion_tokens": u.Output, "total_tokens": u.Input + u.CacheRead + u.Output,
	}
	var calls []map[string]any
	stop := "stop"
	for i, t := range st.Tools {
		name, input := x.call(t)
		calls = append(calls, map[string]any{"index": i, "id": x.server.id("call"), "type": "function",
			"function": map[string]any{"name": name, "arguments": compact(input)}})
		stop = "tool_calls"
	}
	envelope := func(object string, choices ...any) map[string]any {
		return map[string]any{"id": x.server.id("chatcmpl"), "object": object, "created": x.entry.Time.Unix(),
			"model": r.Model, "choices": choices}
	}
	if !r.Stream {
		msg := map[string]any{"role": "assistant", "content": st.Text}
		if calls != nil {
			msg["tool_calls"] = calls
		}
		body := envelope("chat.completion", map[string]any{"index": 0, "message": msg, "finish_reason": stop})
		body["usage"] = usage
		x.whole(st, body)
		return nil
	}
	out := x.start(st)
	chunk := func(delta map[string]any, finish any) {
		out.send("", envelope("chat.completion.chunk", map[string]any{"index": 0, "delta": delta, "finish_reason": finish}))
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(st.Text) {
		chunk(map[string]any{"content": p}, nil)
	}
	if st.StreamError != nil {
		out.send("", openaiError(st.StreamError))
		return nil
	}
	for _, c := range calls {
		chunk(map[string]any{"tool_calls": []any{c}}, nil)
	}
	chunk(map[string]any{}, stop)
	last := envelope("chat.completion.chunk")
	last["choices"], last["usage"] = []any{}, usage
	out.send("", last)
	out.send("", "[DONE]")
	return nil
}
