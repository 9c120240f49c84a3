package notify

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nicholas-fedor/shoutrrr"

	"ralph/cmd/internal/config"
	"ralph/state"
	"ralph/state/view"
)

func TestSend_failure_namesNoPartOfTheAddress(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for _, to := range []string{
		"ntfy://myname:mypassword@" + host + "/mytopic?scheme=http",
		"generic://" + host + "/mytopic?disabletls=yes&@Authorization=mypassword",
		"gotify://" + host + "/mypassword?disabletls=yes",
		"nonsense://mypassword@mytopic",
	} {
		err := Send(t.Context(), to, Test("/x/shop"))
		if err == nil {
			t.Fatal(to)
		}
		for _, secret := range []string{"mypassword", "mytopic", "myname"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error names %s: %v", to, secret, err)
			}
		}
	}
}

// The library quotes addresses that it made from parts of ours, escaped or not.
func TestHidden_partsOfTheAddress_inAnyForm(t *testing.T) {
	for _, c := range []struct{ to, text, want string }{
		{"slack://hook:T0HUNTER2-B0HUNTER3-XXHUNTER4@webhook", `Post "https://hooks.slack.com/services/T0HUNTER2/B0HUNTER3/XXHUNTER4": EOF`, `Post "[address]": EOF`},
		{"slack://hook:T0HUNTER2-B0HUNTER3-XXHUNTER4@webhook", "T0HUNTER2/B0HUNTER3/XXHUNTER4: EOF", "[...]/[...]/[...]: EOF"},
		{"googlechat://h.example/v1/spaces/HUNTER2/m?key=k1&token=HUNTER3%3D", `POST https://h.example/v1/spaces/HUNTER2/m?key=k1&token=HUNTER3%3D and k1, HUNTER3=, HUNTER3%3D: EOF`, "POST [address] and [...], [...]=, [...]%[...]: EOF"},
		{"generic://h.example/hook/HUNTER2%20a", `bad "HUNTER2 a", "HUNTER2%20a", "HUNTER2+a": EOF`, `bad "[...] a", "[...]%[...]", "[...]+a": EOF`},
		{"generic+http://h.example/x?token=HUNTER2%2Fabc%3D", "HUNTER2/abc= HUNTER2%2Fabc%3D, abc=, HUNTER2: EOF", "[...]/[...]= [...]%[...]%[...], [...]=, [...]: EOF"},
		{"bark://:HUNTER2-xy@h.example/", "device xy of HUNTER2 at h.example: EOF", "device [...] of [...] at h.[...]: EOF"},
		{"smtp://me:HUNTER2%26x1@h.example:25/?to=Me@Example.com", "550 me: me@example.com HUNTER2&x1, HUNTER2%26x1: EOF", "550 [...]: [...]@[...].[...] [...]&[...], [...]%[...]: EOF"},
		{"zulip://bot%40h.example:HUNTER2@h.example/?stream=ab&topic=HUNTER3", "stream ab,\n\x1b[1mHUNTER3: EOF", "stream [...], [...]: EOF"},
	} {
		if got := hidden(errors.New(c.text), c.to).Error(); got != c.want {
			t.Errorf("%s: %q, want %q", c.to, got, c.want)
		}
	}
}

// What says why a message was not sent stays.
func TestHidden_otherWords_stay(t *testing.T) {
	for _, text := range []string{"dial tcp: lookup: no such host", "unexpected status 500 Internal Server Error: the topic was not found", "connect: connection refused"} {
		to := "ntfy://u:p@ntfy.example/t?scheme=http&cache=no&firebase=yes&tags=a"
		if got := hidden(errors.New(text), to).Error(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestSend_longText_isCut(t *testing.T) {
	var got struct{ Message string }
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &got)
	}))
	defer s.Close()
	to := "generic://" + strings.TrimPrefix(s.URL, "http://") + "/?disabletls=yes&template=json"
	if err := Send(t.Context(), to, Message{Title: "t", Text: strings.Repeat("é", 9000) + "\nNext: ralph report"}); err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(got.Message)); n != most || !strings.HasSuffix(got.Message, "é…\nNext: ralph report") {
		t.Errorf("%d characters", n)
	}
}

// What a service does not show as a title stands in the text.
func TestSend_serviceWithoutTitle_textNamesProjectAndResult(t *testing.T) {
	body := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		_, _ = w.Write([]byte("{}")) // ntfy's answer is JSON
		body <- r.Header.Get("Title") + "|" + string(data)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for to, want := range map[string]string{
		"generic://" + host + "/?disabletls=yes": "|ralph: shop: completed\n9 of 9 tasks done",
		"ntfy://" + host + "/topic?scheme=http":  "ralph: shop: completed|9 of 9 tasks done",
	} {
		if err := Send(t.Context(), to, Message{Title: "ralph: shop: completed", Text: "9 of 9 tasks done"}); err != nil {
			t.Fatal(err)
		}
		if got := <-body; got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

func TestOf_events(t *testing.T) {
	s := view.Snapshot{Dir: "/x/shop", Status: state.Status{Task: state.TaskStatus{Done: 5, Total: 9}, Usage: state.Usage{CostUSD: 1.5},
		Checks: []state.CheckStatus{{Name: "build", Result: "passed"}, {Name: "test\nall", Result: "failed"}}}}
	for name, c := range map[string]struct {
		event state.Payload
		on    string
		want  string
	}{
		"review":        {state.RunEnd{Exit: 9}, "review", "Next: ralph status"},
		"unanswered":    {state.RunEnd{Exit: 9, Decision: state.Decision{Rule: "question"}}, "review", "Next: ralph questions"},
		"halted":        {state.RunEnd{Exit: 3}, "halted", "5 of 9 tasks done"},
		"ceiling":       {state.RunEnd{Exit: 4, Next: "to continue: ralph resume"}, "ended", "Next: to continue: ralph resume"},
		"its own":       {state.RunEnd{Exit: 4, Status: "stopped", Done: 1, Total: 6, Iterations: 2}, "ended", "1 of 6 tasks done, 2 iterations\nChecks: build passed, test all failed\n"},
		"question":      {state.Question{ID: "q1", Title: "Choose a store", Ask: state.Ask{Text: "Which?", Options: []string{"a"}}}, "question", "Task: Choose a store\n5 of 9 tasks done, $1.50\nChecks: build passed, test all failed\nWhich?\n1: a\nAnswer: ralph answer q1 TEXT, or --option N"},
		"limit":         {state.Decision{Action: "wait", Rule: "usage_limit", Reason: "5-hour"}, "limited", "5-hour"},
		"hour":          {state.Decision{Action: "wait", Rule: "hourly"}, "waiting", "Next"},
		"for answers":   {state.Decision{Action: "wait", Rule: "question"}, "", ""},
		"going on":      {state.Decision{Action: "continue"}, "", ""},
		"paused":        {state.Paused{}, "waiting", "ralph resume"},
		"limit in turn": {state.IterationEnd{Decision: state.Decision{Action: "wait", Rule: "usage_limit"}}, "limited", "Next"},
	} {
		m, ok := Of(state.Event{Data: c.event}, s)
		if ok != (c.on != "") || m.On != c.on || !strings.Contains(m.Text, c.want) {
			t.Errorf("%s: %+v, %v", name, m, ok)
		}
	}
}

func TestOf_runWithoutChecks_isNotProven(t *testing.T) {
	end := state.RunEnd{Status: state.StatusCompleted, Unproven: state.NoCheckRan}
	m, _ := Of(state.Event{Data: end}, view.Snapshot{Dir: "/x/shop"})
	if m.On != "ended" || m.Title != "ralph: shop: completed, not proven: no check ran" {
		t.Errorf("%+v", m)
	}
}

// The first program that is there and works shows the message.
func TestSend_desktop_takesTheFirstProgram(t *testing.T) {
	for name, c := range map[string]struct {
		programs []string // fails: those that end with an error
		fails    string
		want     string
	}{
		"all":           {[]string{"tt", "terminal-notifier", "notify-send"}, "", "tt"},
		"tt fails":      {[]string{"tt", "terminal-notifier", "notify-send"}, "tt", "tt terminal-notifier"},
		"that of Linux": {[]string{"notify-send"}, "", "notify-send"},
		"none":          {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			shown := filepath.Join(dir, "shown")
			for _, p := range c.programs {
				end := ""
				if p == c.fails {
					end = "exit 1\n"
				}
				if err := os.WriteFile(filepath.Join(dir, p), []byte("#!/bin/sh\nprintf '"+p+" ' >>'"+shown+"'\n"+end), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(shown, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			via := Desktop(t.Context(), Test("/x/shop"))
			if want := c.want[strings.LastIndex(c.want, " ")+1:]; via != want {
				t.Errorf("it used %q, want %q", via, want)
			}
			got, err := os.ReadFile(shown)
			if err != nil || strings.TrimRight(string(got), " ") != c.want {
				t.Errorf("%q, want %q, %v", got, c.want, err)
			}
		})
	}
}

// What ralph refuses offline is what the library cannot send. Its logger sends nothing.
func TestServices_areThoseOfTheLibrary(t *testing.T) {
	sender, err := shoutrrr.NewSender(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(sender.ListServices(), func(name string) bool { return name == "logger" })
	slices.Sort(got)
	if want := config.Services(); !slices.Equal(got, want) {
		t.Errorf("the library has %q, NOTIFY takes %q", got, want)
	}
}
