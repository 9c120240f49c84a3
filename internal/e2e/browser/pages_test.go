//go:build e2e && linux

package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ralph/internal/sample"
	"ralph/internal/world"
	"ralph/state"
	"ralph/state/question"
)

var update = flag.Bool("update", false, "write the pictures of the documentation")

// asking adds a run that asks a question and waits for a person to accept a finding.
func (s *site) asking() *sample.Project {
	snapshot, events := sample.States(time.Now())["completed"]()
	st := &snapshot.Status
	st.Status, st.ExitReason, st.Rule, st.ExitCode = state.StatusReview, "review", "review", 9
	st.Reason = "everything is done, but it needs your review"
	st.Review = []state.ReviewItem{{N: 1, Name: "fewer-tests", Text: "4 tests ran that did not run before, and 6 no longer run", Show: "ralph diff 7"}}
	p := sample.New(s, snapshot.Settled(), hours(st, false, events))
	_, err := question.In(p.Reader()).Add(question.Question{Run: st.RunID, Iteration: 7, Task: "#7", Title: "Add cursor pagination",
		AskedAt: time.Now(), Text: "Shall the old offset stay for one more release?", Options: []string{"keep it", "remove it"}})
	s.Do(err)
	s.add(p)
	return p
}

// copy shows the same page without its rule that it runs no script, not even that of a test.
func (s *site) copy(ctx context.Context, path string) {
	s.Helper()
	s.must(ctx, chromedp.Navigate(s.url+"/"), chromedp.WaitReady("h1"))
	text := eval[string](ctx, s, fmt.Sprintf(`fetch(%q).then(r => r.text())`, path))
	text = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(text, "")
	s.must(ctx, chromedp.Navigate("about:blank"))
	eval[bool](ctx, s, fmt.Sprintf(`document.open(), document.write(%q), document.close(), true`, text))
}

func TestPage_newEvents_areShownWithin300Milliseconds(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running")
	path := s.run(ctx, s.projects[0])
	s.must(ctx, as(desktop, false), chromedp.Navigate(s.url+path), text("RUNNING"), chromedp.Evaluate[chromedp.Void](`
		window.delays = [];
		new MutationObserver(all => { for (const m of all) for (const n of m.addedNodes) {
			const found = n.textContent.match(/stamp (\d+)/); if (found) delays.push(Date.now() - Number(found[1])); } })
			.observe(document.getElementById('log'), {childList: true})`))
	for i := range 15 {
		s.projects[0].Add(sample.Say(fmt.Sprintf("stamp %d", time.Now().UnixMilli())))
		s.must(ctx, until(fmt.Sprintf(`delays.length > %d`, i)))
	}
	delays := eval[[]int](ctx, s, `delays`)
	slices.Sort(delays)
	t.Logf("milliseconds: %v", delays)
	if median := delays[len(delays)/2]; median > 300 {
		t.Errorf("%d ms", median)
	}
}

func TestPhone_personAnswersAndAccepts_ralphDoesIt(t *testing.T) {
	ctx := tab(t)
	s := newSite(t)
	p := s.asking()
	s.login(ctx)
	path := s.run(ctx, p)
	s.must(ctx, as(phone, false), chromedp.Navigate(s.url+path+"#at-review"), text("Shall the old offset stay"),
		chromedp.SendKeys(`//section[@id="asked"]//textarea`, "keep it, but warn"), click(`//button[text()="Answer"]`),
		text("answered q1"), text("Findings"), // it goes back by itself
		click(`//button[text()="Accept 1"]`), text("nothing is left to look at"), text("COMPLETED"))
	all, err := question.In(p.Reader()).List()
	s.Do(err)
	if q := all[0]; q.Answer != "keep it, but warn" || q.AnsweredBy != "dashboard" {
		t.Errorf("%+v", q)
	}
	if st, err := p.Reader().Status(); err != nil || st.Status != state.StatusCompleted {
		t.Errorf("%s, %v", st.Status, err)
	}
	log, err := os.ReadFile(filepath.Join(p.Reader().HubDir(), "actions.jsonl"))
	if n := strings.Count(string(log), `"source":"dashboard"`); n != 2 {
		t.Errorf("%d recorded, %v: %s", n, err, log)
	}
}

func TestKeys_ofTheRun_leadThroughItsIterations(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running")
	path := s.run(ctx, s.projects[0])
	at := func(want string) step { return until(fmt.Sprintf(`location.pathname === %q`, want)) }
	s.must(ctx, as(desktop, false), chromedp.Navigate(s.url+path), text("RUNNING"), press("?"), until(`document.getElementById('keys').open`),
		press(kb.Escape), until(`!document.getElementById('keys').open`), press(kb.ArrowLeft), at(path+"/i/7"),
		until(`document.querySelector('#strip a[aria-current]').getAttribute('href').endsWith('/i/7')`), press(kb.ArrowLeft), at(path+"/i/6"),
		text("Iteration 6"), press(kb.ArrowRight), at(path+"/i/7"), text("Iteration 7"), press(kb.Escape), at(path), text("RUNNING"),
		press(kb.Escape), at("/"))
}

// What has the focus keeps it while the run goes on.
func TestKeys_runGoesOn_focusStays(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running", "completed")
	s.login(ctx)
	path := s.run(ctx, s.projects[0])
	on := func(what string) step {
		return until(`(e => e.href || e.value || e.textContent)(document.activeElement).includes('` + what + `')`)
	}
	n := 0
	changes := func(part string) step { // the part is another one
		return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := chromedp.Evaluate[chromedp.Void](`document.querySelector('`+part+`').firstElementChild.id = 'old'`)(ctx, t)
			n++
			st, _ := s.projects[0].Reader().Status()
			st.LoopCount, st.Task.Title = 7+n, fmt.Sprintf("another task %d", n)
			s.projects[0].JSON("status.json", st)
			s.projects[0].Add(state.NewEvent(state.Origin{Run: st.RunID, Iteration: 7 + n}, time.Now(), state.IterationStart{Title: st.Task.Title}))
			if err == nil {
				_, err = until(`!document.getElementById('old')`)(ctx, t)
			}
			return err
		})
	}
	focus := func(selector string) step {
		return chromedp.Evaluate[chromedp.Void](`document.querySelector('` + selector + `').focus()`)
	}
	s.must(ctx, as(desktop, false), chromedp.Navigate(s.url+path), text("RUNNING"), until(`document.querySelectorAll('#plan .list a').length > 3`),
		focus(`#iterations a[href$="/i/5"]`), changes("#iterations"), on("/i/5"), press("k"), on("/i/6"), press(kb.ArrowDown), on("/i/5"),
		changes("#iterations"), on("/i/5"), press(kb.Enter), text("Iteration 5"), press(kb.Escape), text("RUNNING"), on("/i/5"), // where it was
		focus(`#head button[value=stop]`), changes("#head"), on("stop"),
		focus(`#plan summary`), changes("#head"), on("done"),
		press("?"), until(`document.getElementById('keys').open`), press(kb.Escape), until(`!document.getElementById('keys').open`),
		slash, until(`document.activeElement.id === "find" && document.activeElement.value === ""`), chromedp.KeyEvent("cursor"), until(`[...document.querySelectorAll('#plan .list a')].filter(a => a.checkVisibility()).length === 1`),
		changes("#head"), press(kb.Enter), on("/t/"), slash, press(kb.Escape), text("Limit the rate"),
		chromedp.Navigate(s.url), text("COMPLETED"), press("j"), press("j"), on(keyOf(s.projects[1].Dir)), changes("#runs"), on(keyOf(s.projects[1].Dir)))
}

// press presses a key, once the script of the page is there.
func press(key string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := until(`document.readyState === 'complete'`)(ctx, t)
		if err == nil {
			_, err = chromedp.KeyEvent(key)(ctx, t)
		}
		return err
	})
}

// The hub is killed while a run works, and comes back: the run does not notice, the page does.
func TestHub_killedDuringARun_runGoesOnAndThePageConnectsAgain(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "halted", "completed")
	s.Set("TMPDIR", t.TempDir())
	run := s.Start("ralph", "demo")
	s.must(ctx, chromedp.Navigate(s.url), text("HALTED"), text("COMPLETED"), text("RUNNING"), // side by side
		chromedp.Click(`//article[contains(., "RUNNING")]//a`), text("Log"), text("RUNNING"))
	s.Do(s.hub.Process.Kill())
	<-s.hub.Exited
	s.must(ctx, text("no connection; trying again"))
	s.serve(strings.TrimPrefix(s.url, "http://"))
	s.must(ctx, until(`document.getElementById('link').textContent === ''`),
		text("COMPLETED"))
	if code := run.Wait(world.Patience); code != 0 {
		t.Errorf("exit code %d:\n%s", code, run.Said())
	}
}

func TestPage_sleeps_isUpToDateAfterwards(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running")
	path := s.run(ctx, s.projects[0])
	s.must(ctx, chromedp.Navigate(s.url+path), text("RUNNING"), lifecycle(page.SetWebLifecycleStateStateFrozen))
	for i := range 500 { // more than a page keeps
		s.projects[0].Add(sample.Say(fmt.Sprintf("while it sleeps %d", i)))
	}
	s.must(ctx, lifecycle(page.SetWebLifecycleStateStateActive), text("while it sleeps 499"))
	if lines := eval[int](ctx, s, `document.getElementById('log').childElementCount`); lines > 200 {
		t.Errorf("%d lines", lines)
	}
}

// lifecycle lets the page sleep, or wakes it up.
func lifecycle(to page.SetWebLifecycleStateState) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: to})
		return err
	})
}

// What an agent says stays text, on the page and in its updates.
func TestPage_hostileText_runsNothing(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running")
	path := s.run(ctx, s.projects[0])
	hostile := `<script>window.XSS=1</script><img src=x onerror="window.XSS=1"><svg onload="window.XSS=1"><iframe srcdoc="<script>parent.XSS=1</script>">`
	s.projects[0].Add(sample.Say("before " + hostile))
	s.must(ctx, chromedp.Navigate(s.url+path), text("before <script>"))
	_, err := question.In(s.projects[0].Reader()).Add(question.Question{Run: "20261120-131810", Text: hostile, Options: []string{hostile}})
	s.Do(err)
	s.projects[0].Add(sample.Say("after " + hostile))
	s.must(ctx, text("after <script>"), until(`document.getElementById('asked').innerText.includes('<script>')`))
	if n := eval[int](ctx, s, `document.querySelectorAll('script').length + document.querySelectorAll('main img, main iframe').length`); n != 1 {
		t.Errorf("%d scripts, pictures and frames", n)
	}
	// The policy also stops what an escape forgets.
	if eval[bool](ctx, s, `(() => { const d = document.createElement('div'); d.innerHTML = '<img src=x onerror="window.XSS=1">';
		document.body.append(d); return new Promise(done => setTimeout(() => done(!!window.XSS), 300)); })()`) {
		t.Error("an inline script ran")
	}
}

// slash presses / as a keyboard does: as one event, whose text does not come if the page takes the key.
func slash(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"})
	return chromedp.Void{}, err
}
