package mockllm

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	tools  = `"tools":[{"name":"Bash"},{"name":"Write"}]`
	prompt = `{"role":"user","content":[{"type":"text","text":"<system-reminder>ignore</system-reminder>"},{"type":"text","text":"do it"}]},` +
		`{"role":"system","content":[{"type":"text","text":"# Environment\n - Primary working directory: /home/dev/my app\n - Platform: linux"}]}`
	answered = prompt + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}`
	resumed = answered + `,{"role":"assistant","content":[{"type":"text","text":"done"}]},{"role":"user","content":"and now this"}`
)

func body(messages, more string) string {
	return `{"model":"m","messages":[` + messages + `],` + more + `}`
}

func start(t *testing.T, sc Scenario) *Server {
	t.Helper()
	s, err := New(map[string]Scenario{"x": sc})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// post sends a model request and returns the answer, its body read as far as it goes.
func post(t *testing.T, s *Server, body string) (*http.Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL("x")+"/v1/messages?beta=true", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// reply is a whole answer, from plain JSON or put together from a stream.
type reply struct {
	Stop    string `json:"stop_reason"`
	Content []struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
	} `json:"content"`
	Usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

// assemble does what an agent does with a stream of events.
func assemble(t *testing.T, stream string) (m reply, last string) {
	t.Helper()
	partial := map[int]string{}
	sc := bufio.NewScanner(strings.NewReader(stream))
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var ev struct {
			Type    string          `json:"type"`
			Index   int             `json:"index"`
			Message reply           `json:"message"`
			Block   json.RawMessage `json:"content_block"`
			Delta   struct {
				Text    string `json:"text"`
				Partial string `json:"partial_json"`
				Stop    string `json:"stop_reason"`
			} `json:"delta"`
			Usage struct {
				Output int `json:"output_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatalf("event is not JSON: %v: %s", err, data)
		}
		last = ev.Type
		switch ev.Type {
		case "message_start":
			m = ev.Message
		case "content_block_start":
			m.Content = slices.Grow(m.Content, 1)[:len(m.Content)+1]
			if err := json.Unmarshal(ev.Block, &m.Content[ev.Index]); err != nil {
				t.Fatal(err)
			}
		case "content_block_delta":
			m.Content[ev.Index].Text += ev.Delta.Text
			partial[ev.Index] += ev.Delta.Partial
		case "content_block_stop":
			if p := partial[ev.Index]; p != "" {
				if err := json.Unmarshal([]byte(p), &m.Content[ev.Index].Input); err != nil {
					t.Fatalf("tool input %q: %v", p, err)
				}
			}
		case "message_delta":
			m.Stop, m.Usage.Output = ev.Delta.Stop, ev.Usage.Output
		}
	}
	return m, last
}

func TestMessages_streamedAndPlain_giveTheSameAnswer(t *testing.T) {
	step := Step{
		Text:  "Ich schreibe ein Wörterbuch über Größe und äußere Maße.",
		Tools: []Tool{{Name: "write", Path: "a b.txt", Content: "x\"y\n"}, {Name: "bash", Command: "ls -l"}, {Name: "Task", Input: map[string]any{"n": "v"}}},
		Usage: Usage{Input: 7, Output: 9},
	}
	for _, stream := range []bool{true, false} {
		s := start(t, Scenario{Runs: [][]Step{{step}}})
		resp, text, err := post(t, s, body(prompt, tools+`,"stream":`+strconv.FormatBool(stream)))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("stream %t: %v %v", stream, resp, err)
		}
		var m reply
		if stream {
			var last string
			if m, last = assemble(t, text); last != "message_stop" {
				t.Errorf("stream ends with %q", last)
			}
		} else if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if m.Stop != "tool_use" || m.Usage.Input != 7 || m.Usage.Output != 9 || len(m.Content) != 4 || m.Content[0].Text != step.Text {
			t.Fatalf("stream %t: %+v", stream, m)
		}
		if w := m.Content[1]; w.Name != "Write" || w.Input["file_path"] != "/home/dev/my app/a b.txt" || w.Input["content"] != "x\"y\n" {
			t.Errorf("write call: %+v", w)
		}
		if b := m.Content[2]; b.Name != "Bash" || b.Input["command"] != "ls -l" {
			t.Errorf("bash call: %+v", b)
		}
		if o := m.Content[3]; o.Name != "Task" || o.Input["n"] != "v" {
			t.Errorf("other call: %+v", o)
		}
	}
}

func TestMessages_onlyTurnsOfTheLoop_moveTheScenarioOn(t *testing.T) {
	s := start(t, Scenario{Runs: [][]Step{{{Text: "one"}, {Text: "two"}}, {{Text: "three"}}}})
	say := func(b string) string {
		_, text, err := post(t, s, b)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := assemble(t, text)
		return m.Content[0].Text
	}
	const stream = `,"stream":true`
	steps := []struct{ name, body, want string }{
		{"title without tools", body(prompt, `"stream":true`), "Mock title"},
		{"warm-up", body(`{"role":"user","content":"Warmup"}`, tools+stream), "Mock title"},
		{"forced tool", body(prompt, tools+stream+`,"tool_choice":{"type":"tool","name":"Bash"}`), "Mock title"},
		{"first prompt", body(prompt, tools+stream), "one"},
		{"tool result", body(answered, tools+stream), "two"},
		{"end of the script", body(answered, tools+stream), "Nothing more is scripted."},
		{"resumed with a new prompt", body(resumed, tools+stream), "three"},
		{"last run repeats", body(prompt, tools+stream), "three"},
	}
	for _, c := range steps {
		if got := say(c.body); got != c.want {
			t.Errorf("%s: answer %q, want %q", c.name, got, c.want)
		}
	}
	http.Head(s.URL("x") + "/api/hello")
	http.Post(s.URL("x")+"/v1/messages/count_tokens", "application/json", strings.NewReader(body(prompt, tools)))
	if n := len(s.Turns("x")); n != 5 {
		t.Errorf("%d turns, want 5", n)
	}
	if got := s.Prompts("x"); !slices.Equal(got, []string{"do it", "and now this", "do it"}) {
		t.Errorf("prompts %q", got)
	}
	if n := len(s.Requests("x")); n != 10 {
		t.Errorf("%d requests, want 10", n)
	}
}

func TestMessages_failure_isServedSoOftenAndThePromptGoesOn(t *testing.T) {
	s := start(t, After(Plan(1), Step{Error: &APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded", Header: map[string]string{"retry-after": "2"}}, Times: 2}))
	var got []string
	for _, messages := range []string{prompt, prompt, prompt, answered} {
		resp, text, err := post(t, s, body(messages, tools+`,"stream":true`))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 200 && (resp.Header.Get("retry-after") != "2" || !strings.Contains(text, `"type":"overloaded_error"`)) {
			t.Errorf("error answer %v: %s", resp.Header, text)
		}
		got = append(got, resp.Status[:3])
	}
	if !slices.Equal(got, []string{"529", "529", "200", "200"}) {
		t.Errorf("answers %v", got)
	}
	turns := s.Turns("x")
	if turns[2].Run != 1 || turns[2].Step != 2 || turns[3].Run != 1 || turns[3].Step != 3 || turns[0].Answer != "error" {
		t.Errorf("turns %+v", turns)
	}
}

func TestMessages_usageLimit_rejectsUntilTheTimeItNames(t *testing.T) {
	s := start(t, After(Plan(1), Step{Limit: &Limit{Window: "five_hour", For: 100 * time.Millisecond}}))
	var reset time.Time
	deadline := time.Now().Add(5 * time.Second)
	for rejected := 0; ; rejected++ {
		resp, _, err := post(t, s, body(prompt, tools+`,"stream":true`))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == 200 {
			if rejected == 0 || time.Now().Before(reset) {
				t.Errorf("accepted after %d rejections, %v before the reset", rejected, time.Until(reset))
			}
			break
		}
		const prefix = "anthropic-ratelimit-unified-"
		secs, err := strconv.ParseInt(resp.Header.Get(prefix+"reset"), 10, 64)
		at := time.Unix(secs, 0)
		if err != nil || !reset.IsZero() && !at.Equal(reset) {
			t.Fatalf("reset %v, before %v: %v", at, reset, err)
		}
		reset = at
		if resp.StatusCode != 429 || resp.Header.Get(prefix+"representative-claim") != "five_hour" || resp.Header.Get(prefix+"5h-status") != "rejected" {
			t.Fatalf("answer %s with %v", resp.Status, resp.Header)
		}
		if time.Now().After(deadline) {
			t.Fatal("the limit never ends")
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestMessages_cutStream_isResetOrSilent(t *testing.T) {
	t.Run("reset in the middle", func(t *testing.T) {
		s := start(t, Scenario{Runs: [][]Step{{{Text: "some words that are cut", Cut: &Cut{After: 3}}, {Text: "whole"}}}})
		_, text, err := post(t, s, body(prompt, tools+`,"stream":true`))
		if err == nil || strings.Count(text, "event: ") != 3 {
			t.Errorf("err %v after %q", err, text)
		}
		if _, text, err = post(t, s, body(prompt, tools+`,"stream":true`)); err != nil || !strings.Contains(text, "whole") {
			t.Errorf("second try: %v %q", err, text)
		}
	})
	t.Run("reset before the headers", func(t *testing.T) {
		s := start(t, Scenario{Runs: [][]Step{{{Cut: &Cut{}, Times: -1}}}})
		if resp, _, err := post(t, s, body(prompt, tools+`,"stream":true`)); err == nil {
			t.Errorf("answer %s", resp.Status)
		}
	})
	t.Run("silent until the server closes", func(t *testing.T) {
		s := start(t, Scenario{Runs: [][]Step{{{Text: "some words", Cut: &Cut{After: 2, Hang: true}}}}})
		time.AfterFunc(150*time.Millisecond, func() { s.Close() })
		began := time.Now()
		_, text, err := post(t, s, body(prompt, tools+`,"stream":true`))
		if err == nil || time.Since(began) < 100*time.Millisecond || strings.Count(text, "event: ") != 2 {
			t.Errorf("err %v after %v: %q", err, time.Since(began), text)
		}
	})
}

func TestMessages_streamError_comesAfterAGoodStart(t *testing.T) {
	s := start(t, Scenario{Runs: [][]Step{{{Text: "words", StreamError: &APIError{Type: "overloaded_error", Message: "Overloaded"}}}}})
	resp, text, err := post(t, s, body(prompt, tools+`,"stream":true`))
	if _, last := assemble(t, text); err != nil || resp.StatusCode != 200 || last != "error" {
		t.Errorf("%v, last event %q", err, last)
	}
}

func TestServer_unknownScenario_namesTheKnownOnes(t *testing.T) {
	s := start(t, Plan(1))
	resp, err := http.Post(s.URL("y")+"/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != 404 || !strings.Contains(string(b), `"x"`) {
		t.Errorf("%s: %s", resp.Status, b)
	}
}

func TestListen_addressOfTheNetwork_refuses(t *testing.T) {
	if s, err := Listen("0.0.0.0:0", nil); err == nil {
		s.Close()
		t.Error("listens on every address")
	}
}

func TestBuiltin_everyScenario_isAccepted(t *testing.T) {
	s, err := New(Builtin())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}
