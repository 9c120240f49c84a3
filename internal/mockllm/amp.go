package mockllm

import (
	"net/http"
	"strings"
)

// ampInternal answers Amp's calls to its own servers, POST
// /api/internal?METHOD. Model requests go to /api/provider/anthropic beside it.
// Versions since about March 2026 run their loop on those servers and cannot
// be served.
func ampInternal(x *exchange) error {
	x.server.record(x.entry)
	method, _, _ := strings.Cut(x.r.URL.RawQuery, "&")
	answer := map[string]any{"ok": true, "result": map[string]any{}}
	switch method {
	case "getUserInfo":
		answer["result"] = map[string]any{"id": "user_mock", "email": "mock@ralph.invalid", "username": "mock",
			"firstName": "Mock", "features": []any{}}
	case "getCreditsByRequestId":
		answer["result"] = map[string]any{"credits": 0.01}
	case "getThread":
		answer = map[string]any{"ok": false, "error": map[string]any{"code": "thread-not-found",
			"message": "no such thread"}}
	}
	writeJSON(x.w, http.StatusOK, answer)
	return nil
}

// keyScenario returns the scenario that a dummy key names by its end,
// "scenario-NAME": Amp keeps only the origin of its base URL.
func keyScenario(h http.Header) string {
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		if _, scenario, ok := strings.Cut(h.Get(name), "scenario-"); ok {
			return scenario
		}
	}
	return ""
}
