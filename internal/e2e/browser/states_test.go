//go:build e2e && linux

package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"ralph/internal/sample"
	"ralph/internal/world"
	"ralph/state"
)

// hours makes a run of sample.States look as after hours of work: each iteration took as long as it says, and the runner
// is not silent while a test looks.
func hours(st *state.Status, alive bool, events []state.Event) (told []state.Event) {
	if alive {
		st.Timestamp = time.Now().Add(time.Hour)
	}
	at := st.StartedAt
	for _, e := range events {
		_, starts := e.Data.(state.IterationStart)
		if e.Iteration > 0 && e.Iteration < 7 {
			if end, over := e.Data.(state.IterationEnd); over {
				at = at.Add(time.Duration(end.Seconds) * time.Second)
			} else if starts {
				at = at.Add(5 * time.Second)
			}
			e.Time = at
		}
		if told = append(told, e); starts {
			told = append(told, state.NewEvent(state.Origin{Run: e.Run, Iteration: e.Iteration, Task: e.Task}, e.Time, state.Phase{Name: state.PhaseAgent}))
		}
	}
	return told
}

// everyState adds runs in the states that people see, besides those that are running, completed and halted.
func (s *site) everyState() {
	s.asking()
	all := sample.States(time.Now())
	for _, name := range []string{"waiting", "failed"} {
		snapshot, events := all[name]()
		events = hours(&snapshot.Status, snapshot.Alive, events)
		s.add(sample.New(s, snapshot, events))
	}
	fresh, events := all["running"]()
	events = hours(&fresh.Status, true, events)
	fresh.Status.LoopCount, fresh.Status.LastTool, fresh.Status.Task.Done = 0, "", 0
	s.add(sample.New(s, fresh, events[:1]))
	many, events := all["running"]()
	events = hours(&many.Status, true, events)
	many.Status.Task.Done, many.Status.Task.Total = 300, 500
	s.add(sample.New(s, many, events))
	s.Do(os.WriteFile(filepath.Join(s.projects[len(s.projects)-1].StateDir(), "fix_plan.md"), []byte(plan(500)), 0o600))
	beside, events := all["running"]()
	events = hours(&beside.Status, true, events)
	for n := 1; n <= 8; n++ {
		beside.Status.Slots = append(beside.Status.Slots, state.SlotStatus{Slot: n, Iteration: 6 + n, TaskID: fmt.Sprintf("T%d", n),
			Title: "Validate the currency of a refund", Since: time.Now().Add(-time.Duration(n) * time.Minute), LastTool: "Bash go test ./api/..."})
	}
	s.add(sample.New(s, beside, events))
}

// console collects what goes wrong in a page.
func console(ctx context.Context) func() []string {
	var mu sync.Mutex
	var all []string
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError {
				mu.Lock()
				all = append(all, m.String())
				mu.Unlock()
			}
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		said := all
		all = nil
		return said
	}
}

// shot is a page: a kind of page, or a state of a run.
type shot struct {
	name, path string
	wait       string
	axe        bool // axe looks at it
}

// shots are all kinds of pages, and all states of a run.
func (s *site) shots(ctx context.Context) []shot {
	all := []shot{{"runs", "/", "RUNNING", true}, {"runs that live", "/?state=living&project=", "RUNNING", false}, {"login", "/login?x=1", "Token", true}}
	s.must(ctx, chromedp.Navigate(s.url), text("Runs"))
	names := []string{"running", "ended", "halted", "question", "waiting", "failed", "fresh", "500 tasks", "8 side by side"}
	for i, p := range s.projects {
		run := eval[string](ctx, s, linkTo(p))
		for _, tab := range []string{"now", "plan", "review", "log"} {
			all = append(all, shot{names[i] + ", " + tab, run + "#at-" + tab, "", names[i] == "running" || names[i] == "question"})
		}
		switch names[i] {
		case "running":
			s.must(ctx, chromedp.Navigate(s.url+run), until(`document.querySelector('#plan .list a') !== null`))
			task := eval[string](ctx, s, `document.querySelector('#plan > .list a').getAttribute('href')`)
			s.must(ctx, chromedp.Navigate(s.url), text("Runs"))
			all = append(all, shot{"iteration", run + "/i/7", "Transcript", true}, shot{"report", run + "/report", "What to type", true},
				shot{"task", task, "Proof", true})
		case "question":
			all = append(all, shot{"one question", run + "/q/q1", "old offset", true}, shot{"one finding", run + "/f/1", "no longer run", true},
				shot{"report of a review", run + "/report", "ralph accept", true})
		}
	}
	return all
}

// look is a screen in one of its schemes.
type look struct {
	size
	dark bool
}

func (l look) String() string { return l.name + map[bool]string{true: ", dark"}[l.dark] }

// looks calls f for each page on each of the screens. A phone shows the parts of a run's page one at a time.
func (s *site) looks(ctx context.Context, shots []shot, looks []look, f func(page shot, l look, name string)) {
	s.Helper()
	if testing.Short() {
		looks = looks[:2]
	}
	for _, l := range looks {
		s.must(ctx, as(l.size, l.dark))
		for _, page := range shots {
			path, part, _ := strings.Cut(page.path, "#")
			if l.size != phone && part != "" && part != "at-now" {
				continue
			} else if l.size == phone {
				path = page.path
			}
			s.must(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+path), text(page.wait), chromedp.WaitReady("h1"))
			if strings.HasPrefix(page.name, "report") { // it refuses even the scripts of a test
				s.copy(ctx, path)
			}
			f(page, l, page.name+", "+l.String())
		}
	}
}

const maxPage = 60 << 10

// sizeOf is how many bytes the page has, with its style and script.
const sizeOf = `Promise.all(['', ...[...document.querySelectorAll('link[rel=stylesheet],script[src]')].map(e => e.href || e.src)]
	.map(u => u === '' && location.protocol === 'about:' ? new Blob([document.documentElement.outerHTML]).size :
		fetch(u || location.href).then(r => r.text()).then(t => new Blob([t]).size)))
	.then(all => all.reduce((a, b) => a + b))`

func TestPages_lightAndDark_axeFindsNothing(t *testing.T) {
	source, err := axe()
	if err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ctx := tab(t, 20*world.Patience)
	s := newSite(t, "running", "completed", "halted")
	s.everyState()
	s.login(ctx)
	shots := slices.DeleteFunc(s.shots(ctx), func(page shot) bool { return !page.axe })
	s.looks(ctx, shots, []look{{phone, true}, {desktop, false}, {phone, false}, {desktop, true}}, func(_ shot, _ look, name string) {
		s.must(ctx, chromedp.Evaluate[chromedp.Void](source))
		if found := eval[[]string](ctx, s, violations); len(found) > 0 {
			t.Errorf("%s: %s", name, strings.Join(found, "\n"))
		}
	})
}

// Pictures are kept with go test -artifacts.
func TestPages_everyStateSizeAndScheme_fit(t *testing.T) {
	ctx := tab(t, 20*world.Patience)
	s := newSite(t, "running", "completed", "halted")
	s.everyState()
	s.login(ctx)
	s.pictures(ctx2{ctx, s.run(ctx, s.projects[0])})
	said := console(ctx)
	all := []look{{phone, true}, {desktop, false}, {tablet, false}, {phone, false}, {tablet, true}, {desktop, true}}
	pictures := t.ArtifactDir()
	s.looks(ctx, s.shots(ctx), all, func(page shot, l look, name string) {
		size := eval[int](ctx, s, sizeOf)
		shown, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		s.Do(err)
		s.Do(os.WriteFile(filepath.Join(pictures, strings.ReplaceAll(name, " ", "-")+".png"), shown, 0o600))
		if eval[bool](ctx, s, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("%s: it is wider than the screen", name)
		}
		if size == 0 || size > maxPage {
			t.Errorf("%s: %d bytes", name, size)
		}
		if high := eval[int64](ctx, s, `document.documentElement.scrollHeight`); l.size == phone && high > 3*phone.height {
			t.Errorf("%s: %d pixels high", name, high)
		}
		first := map[string]string{"runs": ".card", "question, now": "#head a.look", "question, review": "#asked .card"}[page.name]
		if first != "" && !eval[bool](ctx, s, fmt.Sprintf(`(e => e.matches('.needs, .look') && e.getBoundingClientRect().bottom < innerHeight)(document.querySelector(%q))`, first)) {
			t.Errorf("%s: what needs a person does not stand first", name)
		}
		if said := said(); len(said) > 0 {
			t.Errorf("%s: %s", name, strings.Join(said, "\n"))
		}
	})
}

// Without scripts, everything can be read.
func TestPages_withoutScripts_showEverything(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running")
	path := s.run(ctx, s.projects[0])
	s.must(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	for _, c := range []struct {
		size
		path, want string
	}{{desktop, "/", "Add cursor pagination"}, {desktop, path, "I will look at how"}, {desktop, path, "last progress in iteration 6"},
		{phone, path + "#at-log", "I will look at how"}, {phone, path + "#at-plan", "Limit the rate"}, {phone, path + "/i/2", "required check failed"},
		{desktop, path + "/report", "What to type"}} {
		s.must(ctx, as(c.size, false), chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+c.path), text(c.want))
	}
}

func TestReport_printed_hasTwoPages(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "completed")
	s.must(ctx, chromedp.Navigate(s.url+s.run(ctx, s.projects[0])+"/report"), text("What to type"))
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
	s.Do(err)
	if n := bytes.Count(pdf, []byte("/Type /Page\n")); n < 1 || n > 2 {
		t.Errorf("%d pages", n)
	}
}

// A phone that loses its connection says so, keeps what it shows, and catches up.
func TestPhone_losesItsConnection_saysSoAndCatchesUp(t *testing.T) {
	ctx := tab(t)
	s := newSite(t, "running")
	path := s.run(ctx, s.projects[0])
	s.must(ctx, as(phone, true), chromedp.Navigate(s.url+path+"#at-log"), text("RUNNING"))
	s.Do(s.hub.Process.Kill())
	<-s.hub.Exited
	s.projects[0].Add(sample.Say("said meanwhile"))
	s.must(ctx, text("no connection; trying again"), text("RUNNING"))
	s.serve(strings.TrimPrefix(s.url, "http://"))
	s.must(ctx, until(`document.getElementById('link').textContent === ''`), text("said meanwhile"))
}
