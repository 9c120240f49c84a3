package mockllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// geminiRequest is what matters in the body of POST
// /v1beta/models/MODEL:generateContent and :streamGenerateContent.
type geminiRequest struct {
	Contents []struct {
		Role  string `json:"role"`
		Parts []struct {
			Text     string `json:"text"`
			Response any    `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name   string `json:"name"`
			Params schema `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Type string `json:"responseMimeType"`
	} `json:"generationConfig"`
}

func (r *geminiRequest) query(model string) query {
	q := query{model: model, shell: "run_shell_command"}
	for _, t := range r.Tools {
		for _, f := range t.Functions {
			q.tools = append(q.tools, declared{f.Name, f.Params})
		}
	}
	q.side = len(q.tools) == 0 || r.Config.Type == "application/json"
	for _, c := range r.Contents {
		m := message{role: c.Role}
		if m.role == "model" {
			m.role = "assistant"
		}
		for _, p := range c.Parts {
			if p.Text != "" {
				m.texts = append(m.texts, p.Text)
			}
			if p.Response != nil {
				m.role = "tool"
			}
		}
		q.messages = append(q.messages, m)
	}
	return q
}

func geminiCount(x *exchange) error {
	x.server.record(x.entry)
	writeJSON(x.w, http.StatusOK, map[string]any{"totalTokens": len(x.body) / 4})
	return nil
}

func geminiGenerate(x *exchange) error {
	var r geminiRequest
	if err := json.Unmarshal(x.body, &r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	model, verb, _ := strings.Cut(path.Base(x.entry.Path), ":")
	st := x.answer(r.query(model), geminiLimit)
	if st.Error != nil {
		x.fail(st, geminiError(st.Error))
		return nil
	}
	u := st.usage()
	id := x.server.id("gen")
	chunk := func(finish string, parts ...any) map[string]any {
		candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		return map[string]any{
			"candidates": []any{candidate}, "modelVersion": model, "responseId": id,
			"usageMetadata": map[string]any{"promptTokenCount": u.Input + u.CacheRead, "candidatesTokenCount": u.Output,
				"totalTokenCount": u.Input + u.CacheRead + u.Output, "cachedContentTokenCount": u.CacheRead},
		}
	}
	text := func(t string) any { return map[string]any{"text": t} }
	var calls []any
	for _, t := range st.Tools {
		name, input := x.call(t)
		calls = append(calls, map[string]any{"functionCall": map[string]any{"name": name, "args": input}})
	}
	if verb != "streamGenerateContent" {
		x.whole(st, chunk("STOP", append([]any{text(st.Text)}, calls...)...))
		return nil
	}
	out := x.start(st)
	for _, p := range pieces(st.Text) {
		out.send("", chunk("", text(p)))
	}
	if st.StreamError != nil {
		out.send("", geminiError(st.StreamError))
		return nil
	}
	if calls != nil {
		out.send("", chunk("", calls...))
	}
	out.send("", chunk("STOP", text("")))
	return nil
}

// geminiError returns the body of an error: Google's own word for the status.
func geminiError(e *APIError) map[string]any {
	word := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE"}[e.Status]
	err := map[string]any{"code": e.Status, "status": word, "message": e.Message}
	for k, v := range e.Extra {
		err[k] = v
	}
	return map[string]any{"error": err}
}

// geminiLimit returns the answer to a user whose quota of the day is used up. The
// API does not say when the day ends.
func geminiLimit(*Limit, time.Time, time.Time) *APIError {
	const metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests"
	return &APIError{
		Status: http.StatusTooManyRequests, Message: "You exceeded your current quota. Quota exceeded for metric: " +
			metric + ", limit: 250",
		Extra: map[string]any{"details": []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.QuotaFailure",
			"violations": []any{map[string]any{"quotaMetric": metric, "quotaValue": "250",
				"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}},
		}}},
	}
}
