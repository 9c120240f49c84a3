package mockllm

import (
	"fmt"
	"net/http"
	"time"
)

// openaiError returns the body of an error in both of OpenAI's APIs. A scenario
// names errors in Anthropic's words; OpenAI has others for some of them.
func openaiError(e *APIError) map[string]any {
	code := e.Type
	switch e.Type {
	case "rate_limit_error":
		code = "rate_limit_exceeded"
	case "authentication_error":
		code = "invalid_api_key"
	case "overloaded_error":
		code = "server_is_overloaded"
	}
	err := map[string]any{"message": e.Message, "type": e.Type, "param": nil, "code": code}
	for k, v := range e.Extra {
		err[k] = v
	}
	return map[string]any{"error": err}
}

// responsesLimit returns the answer to a subscriber of ChatGPT, as Codex reads it.
func responsesLimit(_ *Limit, resetsAt, now time.Time) *APIError {
	return &APIError{
		Status: http.StatusTooManyRequests, Type: "usage_limit_reached", Message: "The usage limit has been reached",
		Extra: map[string]any{"plan_type": "pro", "resets_at": resetsAt.Unix(),
			"resets_in_seconds": int(resetsAt.Sub(now).Seconds()) + 1},
	}
}

// chatLimit returns the answer of a coding plan behind a Chat Completions API.
// There is no standard for it: it is a 429 whose message tells the time. It has
// no retry-after, which opencode and Qwen Code obey in silence for any time.
func chatLimit(l *Limit, resetsAt, _ time.Time) *APIError {
	window := "5 hour"
	if l.Window == "seven_day" {
		window = "7 day"
	}
	return &APIError{
		Status: http.StatusTooManyRequests, Type: "usage_limit_reached",
		Message: fmt.Sprintf("Usage limit reached for %s. Your limit will reset at %s (UTC)", window,
			resetsAt.UTC().Format("2006-01-02 15:04:05")),
	}
}
