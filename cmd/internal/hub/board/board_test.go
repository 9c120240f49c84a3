package board

import (
	"bufio"
	"fmt"
	"io"
	"net"
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
	s.board = &Board{Door: &Door{Token: token, Used: filepath.Join(t.TempDir(), "used"), Now: time.Now}, Actions: true, Ralph: ralph, Projects: func() (dirs []string) {
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
	req, _ := http.NewRequest(http.MethodGet, s.URL+path, nil)
	return s.do(req)
}

// until asks for a page until it has a text.
func (s *site) until(path, text string) {
	s.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // sleep: polls
		if _, body := s.get(path); strings.Contains(body, text) {
			return
		} else if time.Now().After(end) {
			s.Fatalf("%s never has %q:\n%s", path, text, body)
		}
	}
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
	req, _ := http.NewRequest(http.MethodPost, s.URL+"/p/"+keyOf(s.projects[i].Dir)+"/do", strings.NewReader(form.Encode()))
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

func TestPages_livingFinishedAndHaltedRun_standSideBySideBelow60KiB(t *testing.T) {
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
			if status != http.StatusOK || len(body) > 60<<10 || strings.Contains(body, "cannot be shown") {
				t.Errorf("%s: %d, %d bytes\n%s", path, status, len(body), body)
			}
			if strings.Contains(body, "http://") || strings.Contains(body, "https://") {
				t.Errorf("%s refers to another host:\n%s", path, body)
			}
		}
	}
	_, body = s.get(s.run(0) + "/i/7")
	for _, want := range []string{"I will look at how the list endpoint", `<span class="add">+new line</span>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the iteration lacks %q:\n%s", want, body)
		}
	}
}

func TestRuns_filters_showOnlyWhatTheyName(t *testing.T) {
	s := open(t, "running", "halted")
	running, halted := s.run(0), s.run(1)
	for query, want := range map[string][2]bool{"": {true, true}, "?state=living": {true, false}, "?state=ended": {false, true},
		"?state=for-you": {}, "?state=nonsense&project=x": {true, true}, "?project=" + keyOf(s.projects[1].Dir): {false, true}} {
		_, body := s.get("/" + query)
		if got := [2]bool{strings.Contains(body, running), strings.Contains(body, halted)}; got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

func TestPages_eachThingOfARun_hasItsAddress(t *testing.T) {
	s := open(t, "checking")
	at := s.run(0)
	st, _ := s.projects[0].Reader().Status()
	st.Review = []state.ReviewItem{{N: 3, Text: "fewer tests", Show: "ralph diff 7"}}
	s.projects[0].JSON("status.json", st)
	if _, err := question.In(s.projects[0].Reader()).Add(question.Question{Run: st.RunID, Text: "Which one?"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/t/T2": "second task", "/q/q1": "Which one?", "/i/7": "Transcript",
		"/f/3": `<span class="add">+new line</span>`} {
		s.until(at+path, want) // a page knows a finding once its feed does
	}
	for _, path := range []string{"/t/T9", "/q/q2", "/q/..%2fq1", "/f/1", "/f/x", "/x/1"} {
		if status, _ := s.get(at + path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestFolded_answersOfATool_standUnderItsCall(t *testing.T) {
	got := folded([]row{{Role: "answer", Text: "0"}, {Role: "tool", Text: "a"}, {Role: "answer", Text: "1"}, {Role: "answer", Text: "2"},
		{Role: "error", Text: "e"}, {Role: "answer", Text: "3"}})
	if len(got) != 4 || len(got[1].Inside) != 2 || got[3].Text != "3" {
		t.Errorf("%+v", got)
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
	log, _ := os.ReadFile(filepath.Join(s.projects[0].Reader().HubDir(), "actions.jsonl"))
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

func TestFavicon_isThereAlsoBeforeALogin(t *testing.T) {
	s := open(t, "running")
	s.board.Door.Closed = true
	if status, body := s.get("/favicon.ico"); status != http.StatusOK || !strings.HasPrefix(body, "<svg") {
		t.Errorf("%d: %s", status, body)
	}
}

func TestLogin_sameLinkTwice_logsInTheFirstBrowserOnly(t *testing.T) {
	s := open(t, "running")
	link, _ := url.Parse(s.board.Door.Link(s.URL))
	for _, want := range []int{http.StatusOK, http.StatusGone, http.StatusGone} {
		s.client = &http.Client{} // another browser
		if status, body := s.get(link.RequestURI()); status != want {
			t.Errorf("%d, want %d: %s", status, want, body)
		}
	}
}

func TestLogin_useOfTheLinkCannotBeNoted_isRefused(t *testing.T) {
	s := open(t, "running")
	s.client = &http.Client{}
	s.board.Door.Used = "/dev/null/used"
	link, _ := url.Parse(s.board.Door.Link(s.URL))
	if status, body := s.get(link.RequestURI()); status != http.StatusInternalServerError || !strings.Contains(body, "log in with the token") {
		t.Errorf("%d: %s", status, body)
	}
}

func TestLogin_wrongOrExpiredCode_saysWhich(t *testing.T) {
	s := open(t, "running")
	now := time.Now()
	s.board.Door.Now = func() time.Time { return now }
	link, _ := url.Parse(s.board.Door.Link(s.URL))
	now = now.Add(linkTime + time.Minute)
	for path, want := range map[string]int{link.RequestURI(): http.StatusGone, "/login?code=wrong": http.StatusUnauthorized,
		"/login?code=" + token: http.StatusOK, "/login": http.StatusOK} {
		if status, body := s.get(path); status != want {
			t.Errorf("%s: %d, want %d\n%s", path, status, want, body)
		}
	}
	s.client = &http.Client{} // a viewer without a login
	for path, want := range map[string]bool{"/": true, "/login?code=" + token: false} {
		if _, body := s.get(path); strings.Contains(body, "log in to act") != want {
			t.Errorf("%s: it offers a login: %t\n%s", path, !want, body)
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
		if !said && strings.Contains(lines.Text(), `"id":"head"`) {
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
	if n := strings.Count(body, "\nralph_run_exit_code{"); n != 1 {
		t.Errorf("%d runs have an exit code; one has ended", n)
	}
	for _, want := range []string{`ralph_run_alive{`, `state="halted"`, `check="a \"b\\\nralph_run_alive{} 9"} 1`, `kind="output"} 84300`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// A page that is open and reads nothing holds up nobody, and loses its connection.
func TestEvents_clientThatNeverReads_isDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a client has ten seconds to read")
	}
	s := open(t, "running")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", s.run(0))
	streams := func() int {
		s.board.mu.Lock()
		defer s.board.mu.Unlock()
		return s.board.streams
	}
	wait := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) { // sleep: polls
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	wait("no stream", func() bool { return streams() == 1 })
	n := 0
	wait("it is still connected", func() bool {
		for range 100 {
			n++
			s.projects[0].Add(sample.Say(fmt.Sprintf("%d %s", n, strings.Repeat("x", 450))))
		}
		if status, _ := s.get("/"); status != http.StatusOK {
			t.Error("another page had to wait")
		}
		return streams() == 0
	})
}
