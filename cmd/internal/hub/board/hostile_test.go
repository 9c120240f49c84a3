package board

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/view"
)

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
		"`<script>XSS</script>` and `", "<a `title=\"` onclick=XSS>`x`",
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
			state.IterationEnd{Decision: state.Decision{Action: state.Action(text), Rule: text, Reason: text}, Title: text, Outcome: text, Detail: text, Failed: true, Says: text},
		} {
			e := state.NewEvent(at, time.Now(), p)
			e.Seq = int64(1000 + i)
			events = append(events, e)
		}
		p := sample.New(t, snapshot.Settled(), events)
		s.projects = append(s.projects, p)
		if _, err := question.In(p.Reader()).Add(question.Question{Run: st.RunID, Title: text, Text: text, Options: []string{text, text}, Context: text}); err != nil {
			t.Fatal(err)
		}
		s.login()
		s.until(s.run(0), "second task") // the plan is there from then on
		for _, path := range []string{"/", s.run(0), s.run(0) + "/i/7", s.run(0) + "/t/T2", s.run(0) + "/q/q1", s.run(0) + "/f/1", s.run(0) + "/report"} {
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

// A page stays below 60 KiB, no matter how many rows it has or how long they are.
func TestPages_everythingIsHuge_stayBelow60KiB(t *testing.T) {
	s := open(t)
	long := strings.Repeat("漢<字>&\" ", 80)
	snapshot, events := sample.Run(time.Now())
	st := &snapshot.Status
	st.Task.Title, st.Reason, st.LastTool, st.LastError, st.Model = long, long, long, long, long
	for i := range 40 { // status.json has at most 1 MiB
		st.Checks = append(st.Checks, state.CheckStatus{Name: fmt.Sprint(i, long), Result: "failed"})
		st.Review = append(st.Review, state.ReviewItem{N: i + 1, Text: long, Show: long})
		st.Slots = append(st.Slots, state.SlotStatus{Slot: i, Title: long, TaskID: long, LastTool: long})
		st.Verdicts = append(st.Verdicts, state.Verdict{Name: long, Verdict: "fail", Reasons: []state.Reason{{Text: long}}})
		st.EndsWhen = append(st.EndsWhen, state.Bound{Name: long, Have: 1, Most: 2})
	}
	for i := range 120 {
		for _, p := range []state.Payload{state.IterationStart{Title: long}, state.Limit{Name: fmt.Sprint(i, long)},
			state.Finding{Source: state.FoundByAudit, Text: long}, state.Text{Text: long},
			state.IterationEnd{Decision: state.Decision{Action: "retry", Rule: "x", Reason: long}, Title: long, Outcome: long, Detail: long, Failed: true}} {
			e := state.NewEvent(state.Origin{Run: st.RunID, Iteration: i + 8, Task: long}, time.Now(), p)
			e.Seq = int64(len(events) + 1)
			events = append(events, e)
		}
	}
	p := sample.New(t, snapshot.Settled(), events)
	s.projects = append(s.projects, p)
	for range 40 {
		if _, err := question.In(p.Reader()).Add(question.Question{Run: st.RunID, Title: long, Text: long + long, Options: []string{long, long, long}}); err != nil {
			t.Fatal(err)
		}
	}
	s.login()
	for _, path := range []string{"/", s.run(0), s.run(0) + "/i/20", s.run(0) + "/t/T1", s.run(0) + "/q/q1", s.run(0) + "/f/1"} {
		if status, body := s.get(path); status != http.StatusOK || len(body) > 60<<10 {
			t.Errorf("%s: %d, %d bytes", path, status, len(body))
		}
	}
	for _, id := range runParts() {
		t.Logf("%s: %d bytes", id, len(s.board.feeds[p.Dir].html(id)))
	}
}
