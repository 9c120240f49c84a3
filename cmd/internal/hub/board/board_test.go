package board

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/hub/door"
	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/view"
)

const token = "TOKEN-OF-THE-TESTS-1234567890"

// site is a dashboard with a browser.
type site struct {
	*testing.T
	*httptest.Server
	board    *Board
	client   *http.Client
	projects []*sample.Project
	args     string // file: what ralph was called with
}

// open serves runs in these states, as sample.States names them.
func open(t *testing.T, states ...string) *site {
	t.Helper()
	s := &site{T: t, args: filepath.Join(t.TempDir(), "args")}
	all := sample.States(time.Now())
	for _, name := range states {
		snapshot, events := all[name]()
		s.projects = append(s.projects, sample.New(t, snapshot, events))
	}
	ralph := filepath.Join(t.TempDir(), "ralph")
	script := fmt.Sprintf(`#!/bin/sh
shift 2
case "$1 $2" in
"task list") echo '[{"id":"T1","title":"first <b>task</b>","state":"done"},{"id":"T2","title":"second task","state":"open"}]' ;;
"diff --run") printf 'diff --git a/x b/x\n+new line\n-old line\n' ;;
*) printf '%%s\n' "$*" >>%s; echo "did $1" ;;
esac
`, s.args)
	if err := os.WriteFile(ralph, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	s.client = &http.Client{Jar: jar}
	s.board = &Board{Door: &door.Door{Token: token, Now: time.Now}, Actions: true, Ralph: ralph, Projects: func() (dirs []string) {
		for _, p := range s.projects {
			dirs = append(dirs, p.Dir)
		}
		return dirs
	}}
	s.Server = httptest.NewServer(s.board.Handler(t.Context()))
	t.Cleanup(s.Server.Close)
	t.Cleanup(s.Server.CloseClientConnections)
	return s
}

func (s *site) do(req *http.Request) (status int, body string) {
	s.Helper()
	req.Header.Set("Accept", "text/html")
	res, err := s.client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func (s *site) get(path string) (status int, body string) {
	s.Helper()
	req, _ := http.NewRequest(http.MethodGet, s.URL+path, nil) //nolint:noctx // the test ends it
	return s.do(req)
}

func (s *site) login() {
	s.Helper()
	u, _ := url.Parse(s.board.Door.Link(s.URL))
	if status, body := s.get(u.RequestURI()); status != http.StatusOK {
		s.Fatalf("login: %d %s", status, body)
	}
}

// run is the address of a project's run.
func (s *site) run(i int) string {
	st, err := s.projects[i].Reader().Status()
	if err != nil {
		s.Fatal(err)
	}
	return project{Key: keyOf(s.projects[i].Dir)}.Path(st.RunID)
}

// post sends a form of the page of a run.
func (s *site) post(i int, form url.Values, edit ...func(*http.Request)) (status int, body string) {
	s.Helper()
	if form.Get("token") == "" {
		_, page := s.get(s.run(i))
		if found := regexp.MustCompile(`name="token" value="([0-9a-f]+)"`).FindStringSubmatch(page); found != nil {
			form.Set("token", found[1])
		}
	}
	req, _ := http.NewRequest(http.MethodPost, s.URL+"/p/"+keyOf(s.projects[i].Dir)+"/do", strings.NewReader(form.Encode())) //nolint:noctx // the test ends it
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, f := range edit {
		f(req)
	}
	return s.do(req)
}

func (s *site) called() string {
	data, _ := os.ReadFile(s.args)
	return string(data)
}

func TestPages_livingFinishedAndHaltedRun_standSideBySideBelow100KiB(t *testing.T) {
	s := open(t, "running", "completed", "halted")
	_, body := s.get("/")
	for _, want := range []string{"● RUNNING", "✓ COMPLETED", "■ HALTED", "6/10 done"} {
		if !strings.Contains(body, want) {
			t.Errorf("the list lacks %q:\n%s", want, body)
		}
	}
	for i := range s.projects {
		for _, path := range []string{"", "/report", "/i/7"} {
			status, body := s.get(s.run(i) + path)
			if status != http.StatusOK || len(body) > 100<<10 || strings.Contains(body, "cannot be shown") {
				t.Errorf("%s: %d, %d bytes\n%s", path, status, len(body), body)
			}
			if strings.Contains(body, "http://") || strings.Contains(body, "https://") {
				t.Errorf("%s refers to another host:\n%s", path, body)
			}
		}
	}
	_, body = s.get(s.run(0) + "/i/7")
	for _, want := range []string{"I will look at how the list endpoint", `<span class="add">&#43;new line</span>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the iteration lacks %q:\n%s", want, body)
		}
	}
}

func TestAct_eachAction_runsItsVerbAndIsRecorded(t *testing.T) {
	s := open(t, "running")
	s.login()
	for do, want := range map[string]string{
		"pause": "pause", "resume": "resume", "skip": "skip", "stop": "stop", "answer q1": "answer --by=dashboard -- q1 use -x",
		"option q1 2": "answer --by=dashboard --option=2 -- q1", "accept 2": "accept -- 2", "add": "task add -- use -x",
		"first T 2": "task move --first -- T 2", "last --all": "task move --last -- --all",
	} {
		status, body := s.post(0, url.Values{"do": {do}, "text": {" use -x "}})
		if status != http.StatusOK || !strings.Contains(body, "did ") || !strings.Contains(s.called(), want+"\n") {
			t.Errorf("%s: %d, called:\n%s\n%s", do, status, s.called(), body)
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.projects[0].Reader().HubDir(), "replies.jsonl"))
	if n := strings.Count(string(log), `"source":"dashboard"`); n != 10 {
		t.Errorf("%d of 10 are recorded:\n%s", n, log)
	}
}

func TestAct_withoutRight_isRefusedAndRunsNothing(t *testing.T) {
	s := open(t, "running", "halted")
	pause := func() url.Values { return url.Values{"do": {"pause"}} }
	if status, _ := s.post(0, pause()); status != http.StatusUnauthorized {
		t.Errorf("without a login: %d", status)
	}
	s.login()
	for name, c := range map[string]struct {
		form url.Values
		edit func(*http.Request)
		want int
	}{
		"wrong form token": {url.Values{"do": {"pause"}, "token": {"00"}}, nil, http.StatusForbidden},
		"another origin":   {pause(), func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"another site":     {pause(), func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"another name":     {pause(), func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest},
		"unknown action":   {url.Values{"do": {"reset"}}, nil, http.StatusBadRequest},
		"empty answer":     {url.Values{"do": {"answer q1"}, "text": {" "}}, nil, http.StatusBadRequest},
		"too much":         {url.Values{"do": {"add"}, "text": {strings.Repeat("x", 70<<10)}}, nil, http.StatusRequestEntityTooLarge},
	} {
		edit := c.edit
		if edit == nil {
			edit = func(*http.Request) {}
		}
		if status, body := s.post(0, c.form, edit); status != c.want {
			t.Errorf("%s: %d, want %d\n%s", name, status, c.want, body)
		}
	}
	if status, _ := s.post(1, pause()); status != http.StatusConflict {
		t.Errorf("no living run: %d", status)
	}
	s.board.Actions = false
	if status, _ := s.post(0, url.Values{"do": {"pause"}, "token": {"x"}}); status != http.StatusForbidden {
		t.Errorf("without --actions: %d", status)
	}
	if s.called() != "" {
		t.Errorf("ralph was called:\n%s", s.called())
	}
}

func TestLogin_wrongOrExpiredCode_saysWhich(t *testing.T) {
	s := open(t, "running")
	now := time.Now()
	s.board.Door.Now = func() time.Time { return now }
	link, _ := url.Parse(s.board.Door.Link(s.URL))
	now = now.Add(door.LinkTime + time.Minute)
	for path, want := range map[string]int{link.RequestURI(): http.StatusGone, "/login?code=wrong": http.StatusUnauthorized,
		"/login?code=" + token: http.StatusOK, "/login": http.StatusOK} {
		if status, body := s.get(path); status != want {
			t.Errorf("%s: %d, want %d\n%s", path, status, want, body)
		}
	}
}

func TestPages_vanishedRunOrProject_are404(t *testing.T) {
	s := open(t, "running", "completed")
	gone := s.run(1)
	if err := os.RemoveAll(s.projects[1].StateDir()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{gone, gone + "/report", gone + "/i/1", gone + "/events", "/p/x/r/y", s.run(0) + "x", s.run(0) + "/i/99",
		s.run(0) + "/i/x", "/p/" + keyOf(s.projects[0].Dir) + "/r/..%2f..", "/nothing"} {
		if status, _ := s.get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestEvents_newLine_arrivesAndIsInert(t *testing.T) {
	s := open(t, "running")
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+s.run(0)+"/events", nil)
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if !said && strings.Contains(lines.Text(), `"id":"now"`) {
			said = true
			s.projects[0].Add(sample.Say("</div><script>alert(1)</script>"))
		}
		if strings.Contains(lines.Text(), "alert(1)") {
			if strings.Contains(lines.Text(), "<script>") {
				t.Errorf("not inert in JSON: %s", lines.Text())
			}
			return
		}
	}
	t.Error("the line did not arrive")
}

// hostile are texts that must stay texts, wherever a page shows them.
func hostile() []string {
	return []string{
		`<script>XSS</script>`, `"><script>XSS</script>`, `'><img src=x onerror=XSS>`, `<svg onload=XSS>`, `</title><script>XSS</script>`,
		`</textarea><script>XSS</script>`, `</style><script>XSS</script>`, `javascript:XSS`, `" onmouseover="XSS`, `' onfocus='XSS' autofocus='`,
		`<a href="javascript:XSS">x</a>`, `<iframe src=//evil.example>`, `<base href=//evil.example>`, `<meta http-equiv=refresh content=0>`,
		`<form action=//evil.example>`, `{{.Token}}`, `{{template "form" .}}`, `&lt;script&gt;XSS&lt;/script&gt;`, `&#60;script&#62;XSS`,
		`<!--<script>XSS`, `]]><script>XSS</script>`, "\x00<script>XSS</script>", "<scr\x00ipt>XSS</scr\x00ipt>", "\x1b]8;;javascript:XSS\x07x\x1b]8;;\x07",
		"\u2028<script>XSS</script>", "\u202e<script>XSS</script>", "\ufeff<script>XSS</script>", "\xff\xfe<script>XSS</script>",
		`<math><mtext><script>XSS</script>`, `<template><script>XSS</script></template>`, `<details open ontoggle=XSS>`, `<input autofocus onfocus=XSS>`,
		"event: part\ndata: {\"id\":\"now\",\"html\":\"<script>XSS</script>\"}\n\n", "\r\n\r\n<script>XSS</script>", `\u003cscript\u003eXSS\u003c/script\u003e`,
		`../../../etc/passwd"><script>XSS</script>`, `-->"'/><script>XSS</script>`, `<link rel=stylesheet href=//evil.example>`,
		`<object data=//evil.example>`, `<style>@import '//evil.example'</style>`, `<button name=do value=stop>`,
	}
}

// tags counts what a page may only have of its own.
func tags(body string) (all string) {
	for _, name := range []string{"<script", "<form", "<button", "<iframe", "<base", "<meta", "<img", "<svg", "<style", "<object", "<template",
		"<textarea", "<input", "<math", "<link", "onerror=", "<details", "javascript:"} {
		all += fmt.Sprintf("%s %d ", name, strings.Count(body, name))
	}
	return all
}

// Where a text of others can be: what an agent prints, titles, files, branches, reasons, answers.
func TestPages_hostileTextEverywhere_addsNoElement(t *testing.T) {
	if n := len(hostile()); n < 40 {
		t.Fatalf("only %d texts", n)
	}
	pages := func(text string) (all []string) {
		s := open(t)
		snapshot, events := sample.Run(time.Now())
		st := &snapshot.Status
		st.Task.Title, st.LastTool, st.Phase, st.Reason, st.Model, st.AgentFrom, st.LastError = text, text, "agent", text, text, text, text
		st.Checks = []state.CheckStatus{{Name: text, Result: "failed"}}
		st.Review = []state.ReviewItem{{N: 1, Text: text, Show: text}}
		st.Slots = []state.SlotStatus{{Slot: 1, Title: text, TaskID: text}}
		at := state.Origin{Run: st.RunID, Iteration: 7, Task: text}
		for i, p := range []state.Payload{
			state.IterationStart{Title: text}, state.Text{Text: text}, state.Tool{ID: "x", Name: text, Arg: text, File: true},
			state.ToolResult{Tool: state.Tool{ID: "x", Name: text}, Text: text}, state.AgentError{Text: text},
			state.Finding{Source: state.FoundByAudit, Name: text, File: text, Text: text}, state.Commit{OID: text, Landed: text},
			state.Check{Name: text, Command: text, Says: text, Output: text}, state.Verdict{}, state.Feedback{Items: []string{text}},
			state.Decision{Action: "retry", Rule: text, Reason: text}, state.TaskChange{ID: text, Title: text, State: text, Why: text},
			state.IterationEnd{Decision: state.Decision{Action: text, Rule: text, Reason: text}, Title: text, Outcome: text, Detail: text, Failed: true, Says: text},
		} {
			e := state.NewEvent(at, time.Now(), p)
			e.Seq = int64(1000 + i)
			events = append(events, e)
		}
		p := sample.New(t, snapshot.Settled(), events)
		s.projects = append(s.projects, p)
		if _, err := question.In(p.Reader()).Add(question.Question{Run: st.RunID, Title: text, Text: text, Options: []string{text, text}, Context: text, Advice: text}); err != nil {
			t.Fatal(err)
		}
		s.login()
		for _, path := range []string{"/", s.run(0), s.run(0) + "/i/7", s.run(0) + "/report"} {
			status, body := s.get(path)
			if status != http.StatusOK {
				t.Fatalf("%q: %s: %d", text, path, status)
			}
			all = append(all, tags(body))
		}
		return all
	}
	want := pages("plain words")
	for _, text := range hostile() {
		for i, got := range pages(text) {
			plain := want[i]
			if strings.Contains(text, "javascript:") || strings.Contains(text, "onerror=") { // as a text it may be there, not in an address
				cut := func(s string) string { return regexp.MustCompile(`(onerror=|javascript:) \d+`).ReplaceAllString(s, "") }
				got, plain = cut(got), cut(plain)
			}
			if got != plain {
				t.Errorf("%q on page %d:\n got %s\nwant %s", text, i, got, plain)
			}
		}
	}
}

func TestAddresses_neverHoldTextOfOthers(t *testing.T) {
	s := open(t, "running")
	snapshot := view.Gather(s.projects[0].Reader(), time.Now())
	snapshot.Status.RunID = `javascript:XSS`
	s.projects[0].JSON("status.json", snapshot.Status)
	_, body := s.get("/")
	for _, found := range regexp.MustCompile(`(?:href|action|src)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(found[1], "/") {
			t.Errorf("address %q", found[1])
		}
	}
}

func TestMetrics_hostileNames_areOneLineEach(t *testing.T) {
	s := open(t, "running", "halted")
	st := view.Gather(s.projects[0].Reader(), time.Now()).Status
	st.Checks = []state.CheckStatus{{Name: "a \"b\\\nralph_run_alive{} 9", Result: "failed"}}
	s.projects[0].JSON("status.json", st)
	_, body := s.get("/metrics")
	line := regexp.MustCompile(`^(# (HELP|TYPE) \w+ .+|\w+\{(\w+="([^"\\\n]|\\[\\"n])*",?)+\} [-+.\de]+)$`)
	for text := range strings.Lines(body) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("%q", text)
		}
	}
	for _, want := range []string{`ralph_run_alive{`, `state="halted"`, `check="a \"b\\\nralph_run_alive{} 9"} 1`, `kind="output"} 84300`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}
