package mockllm

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// api is one vendor's API as an agent sees it: bodies of its requests, and how
// a streamed answer is read.
type api struct {
	name, path     string
	prompt, result string // a first request; one that ends with the result of a tool
	side           string // no part of the loop
	read           func(data string, a *streamed)
	shell, write   string // declared tools
	pathKey        string // the name of the path in the input of write
}

// streamed is what came out of a stream.
type streamed struct {
	text   string
	calls  map[string]string // name -> input as JSON
	input  int
	output int
	ended  bool
}

func (a *streamed) call(name, input string) {
	if a.calls == nil {
		a.calls = map[string]string{}
	}
	a.calls[name] += input
}

func apis() []api {
	const (
		chatTools   = `"tools":[{"type":"function","function":{"name":"bash","parameters":{"properties":{"command":{}}}}},{"type":"function","function":{"name":"write","parameters":{"properties":{"filePath":{},"content":{}}}}}]`
		chatPrompt  = `{"role":"system","content":"<env>\n  Working directory: /home/dev/my app\n</env>"},{"role":"user","content":[{"type":"text","text":"<system-reminder>no</system-reminder>"},{"type":"text","text":"do it"}]}`
		chatEnd     = `,"model":"m","stream":true}`
		codexTools  = `"tools":[{"type":"function","name":"exec_command","parameters":{"properties":{"cmd":{}}}}]`
		codexPrompt = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>no"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}`
		gemTools    = `"tools":[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":{"properties":{"command":{},"is_background":{}}}},{"name":"write_file","parametersJsonSchema":{"properties":{"file_path":{}}}}]}]`
		gemPrompt   = `{"role":"user","parts":[{"text":"<session_context>\n- **Workspace Directories:**\n  - /home/dev/my app\n"},{"text":"do it"}]}`
	)
	return []api{
		{
			name: "chat completions", path: "/v1/chat/completions", shell: "bash", write: "write", pathKey: "filePath",
			prompt: `{"messages":[` + chatPrompt + `],` + chatTools + chatEnd,
			result: `{"messages":[` + chatPrompt + `,{"role":"assistant","content":"I do"},{"role":"tool","content":"ok"}],` + chatTools + chatEnd,
			side:   `{"messages":[` + chatPrompt + `]` + chatEnd,
			read:   readChat,
		},
		{
			name: "responses", path: "/v1/responses", shell: "exec_command", write: "exec_command",
			prompt: `{"input":[` + codexPrompt + `],` + codexTools + `,"model":"m","stream":true}`,
			result: `{"input":[` + codexPrompt + `,{"type":"function_call","name":"exec_command"},{"type":"function_call_output","output":"ok"}],` + codexTools + `,"model":"m","stream":true}`,
			side:   `{"input":[` + codexPrompt + `],"model":"m","stream":true}`,
			read:   readResponses,
		},
		{
			name: "gemini", path: "/v1beta/models/m:streamGenerateContent?alt=sse", shell: "run_shell_command", write: "write_file", pathKey: "file_path",
			prompt: `{"contents":[` + gemPrompt + `],` + gemTools + `}`,
			result: `{"contents":[` + gemPrompt + `,{"role":"model","parts":[{"functionCall":{}}]},{"role":"user","parts":[{"functionResponse":{"name":"x"}}]}],` + gemTools + `}`,
			side:   `{"contents":[` + gemPrompt + `],"generationConfig":{"responseMimeType":"application/json"},` + gemTools + `}`,
			read:   readGemini,
		},
	}
}

func readChat(data string, a *streamed) {
	if data == "[DONE]" {
		a.ended = true
		return
	}
	var c struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
				Calls   []struct {
					Function struct{ Name, Arguments string } `json:"function"`
				} `json:"tool_calls"`
			} `json:"delta"`
		} `json:"choices"`
		Usage struct {
			In  int `json:"prompt_tokens"`
			Out int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal([]byte(data), &c) != nil {
		return
	}
	a.input, a.output = c.Usage.In, c.Usage.Out
	for _, ch := range c.Choices {
		a.text += ch.Delta.Content
		for _, call := range ch.Delta.Calls {
			a.call(call.Function.Name, call.Function.Arguments)
		}
	}
}

func readResponses(data string, a *streamed) {
	var ev struct {
		Type  string
		Delta string
		Item  struct{ Type, Name, Arguments string }
		Resp  struct {
			Usage struct {
				In  int `json:"input_tokens"`
				Out int `json:"output_tokens"`
			}
		} `json:"response"`
	}
	if json.Unmarshal([]byte(data), &ev) != nil {
		return
	}
	switch ev.Type {
	case "response.output_text.delta":
		a.text += ev.Delta
	case "response.output_item.done":
		if ev.Item.Type == "function_call" {
			a.call(ev.Item.Name, ev.Item.Arguments)
		}
	case "response.completed":
		a.input, a.output, a.ended = ev.Resp.Usage.In, ev.Resp.Usage.Out, true
	}
}

func readGemini(data string, a *streamed) {
	var c struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text string
					Call struct {
						Name string
						Args json.RawMessage
					} `json:"functionCall"`
				}
			}
			FinishReason string
		}
		Usage struct {
			In  int `json:"promptTokenCount"`
			Out int `json:"candidatesTokenCount"`
		} `json:"usageMetadata"`
	}
	if json.Unmarshal([]byte(data), &c) != nil || len(c.Candidates) == 0 {
		return
	}
	a.input, a.output = c.Usage.In, c.Usage.Out
	a.ended = c.Candidates[0].FinishReason == "STOP"
	for _, p := range c.Candidates[0].Content.Parts {
		a.text += p.Text
		if p.Call.Name != "" {
			a.call(p.Call.Name, string(p.Call.Args))
		}
	}
}

// ask sends a request and reads the stream; raw is the whole answer.
func (a api) ask(t *testing.T, s *Server, body string) (got streamed, status int, raw string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL("x")+a.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(b)))
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			a.read(data, &got)
		}
	}
	return got, resp.StatusCode, string(b)
}

func TestAPIs_sameScenario_givesTheSameAnswerInEach(t *testing.T) {
	step := Step{
		Text:  "Ich schreibe ein Wörterbuch über Größe.",
		Tools: []Tool{{Name: "write", Path: "a b.txt", Content: "it's\n"}, {Name: "bash", Command: "ls -l"}, {Name: "Other", Input: map[string]any{"n": "v"}}},
		Usage: Usage{Input: 7, CacheRead: 5, Output: 9},
	}
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			s := start(t, Scenario{Runs: [][]Step{{step, {Text: "done"}}}})
			if got, _, _ := a.ask(t, s, a.side); got.text != "Mock title" || !got.ended {
				t.Errorf("side request: %+v", got)
			}
			got, status, raw := a.ask(t, s, a.prompt)
			if status != 200 || got.text != step.Text || got.input != 12 || got.output != 9 || !got.ended {
				t.Fatalf("%d %+v\n%s", status, got, raw)
			}
			if !strings.Contains(got.calls[a.shell], "ls -l") || got.calls["Other"] != `{"n":"v"}` {
				t.Errorf("calls %q", got.calls)
			}
			want := `"` + a.pathKey + `":"/home/dev/my app/a b.txt"`
			if a.pathKey == "" {
				want = `it'\\''s\n' \u003e'a b.txt'`
			}
			if !strings.Contains(got.calls[a.write], want) {
				t.Errorf("write call %s, want %s", got.calls[a.write], want)
			}
			if got, _, _ := a.ask(t, s, a.result); got.text != "done" {
				t.Errorf("after the tool's result: %+v", got)
			}
			turns := s.Turns("x")
			if len(turns) != 2 || turns[0].Prompt != "do it" || !turns[0].Fresh || turns[1].Fresh || turns[0].Model != "m" {
				t.Errorf("turns %+v", turns)
			}
		})
	}
}

func TestAPIs_failures_comeInTheVendorsWords(t *testing.T) {
	key := &APIError{Status: 401, Type: "authentication_error", Message: "invalid key", Header: map[string]string{"x-more": "1"}}
	cases := []struct {
		name string
		step Step
		want map[string][2]string // status and part of the body, by API
	}{
		{"error", Step{Error: key}, map[string][2]string{
			"chat completions": {"401", `"code":"invalid_api_key"`},
			"responses":        {"401", `"code":"invalid_api_key"`},
			"gemini":           {"401", `"status":"UNAUTHENTICATED"`},
		}},
		{"usage limit", Step{Limit: &Limit{Window: "five_hour", For: time.Hour}}, map[string][2]string{
			"chat completions": {"429", `Usage limit reached for 5 hour. Your limit will reset at 20`},
			"responses":        {"429", `"plan_type":"pro"`},
			"gemini":           {"429", `GenerateRequestsPerDay`},
		}},
		{"error in the stream", Step{Text: "words", StreamError: key}, map[string][2]string{
			"chat completions": {"200", `data: {"error":{"code":"invalid_api_key"`},
			"responses":        {"200", `event: response.failed`},
			"gemini":           {"200", `data: {"error":{"code":401`},
		}},
	}
	for _, c := range cases {
		for _, a := range apis() {
			t.Run(c.name+"/"+a.name, func(t *testing.T) {
				s := start(t, Scenario{Runs: [][]Step{{c.step}}})
				got, status, raw := a.ask(t, s, a.prompt)
				want := c.want[a.name]
				if want[0] != strconv.Itoa(status) || !strings.Contains(raw, want[1]) || got.ended {
					t.Errorf("%d, ended %t, want %v\n%s", status, got.ended, want, raw)
				}
			})
		}
	}
}

func TestAmp_scenario_isChosenByTheKey(t *testing.T) {
	s := start(t, Scenario{Runs: [][]Step{{{Text: "hello"}}}})
	origin, _, _ := strings.Cut(s.URL("x"), "/s/")
	post := func(path, key, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return string(b)
	}
	const key = "sgamp_dummy_scenario-x"
	if got := post("/api/internal?getUserInfo", key, "{}"); !strings.Contains(got, `"ok":true`) || !strings.Contains(got, "user_mock") {
		t.Errorf("getUserInfo: %s", got)
	}
	if got := post("/api/internal?getThread", key, "{}"); !strings.Contains(got, `"ok":false`) {
		t.Errorf("getThread: %s", got)
	}
	tools := `"tools":[{"name":"Bash","input_schema":{"properties":{"cmd":{}}}}],"stream":true`
	if got := post("/api/provider/anthropic/v1/messages", key, body(prompt, tools)); !strings.Contains(got, "hello") {
		t.Errorf("model request: %s", got)
	}
	if got := post("/api/internal?getUserInfo", "sgamp_dummy", "{}"); !strings.Contains(got, "no scenario") {
		t.Errorf("without a scenario: %s", got)
	}
}
