//go:build e2e && linux

package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ralph/internal/sample"
	"ralph/internal/world"
	"ralph/state"
)

// everyState adds runs in the states that people see, besides those that are running, completed and halted.
func (s *site) everyState() {
	s.asking()
	all := sample.States(time.Now())
	for _, name := range []string{"waiting", "failed"} {
		snapshot, events := all[name]()
		s.add(sample.New(s, snapshot, events))
	}
	fresh, events := all["running"]()
	fresh.Status.LoopCount, fresh.Status.LastTool, fresh.Status.Task.Done = 0, "", 0
	s.add(sample.New(s, fresh, events[:1]))
	many, events := all["running"]()
	many.Status.Task.Done, many.Status.Task.Total = 300, 500
	s.add(sample.New(s, many, events))
	s.Do(os.WriteFile(filepath.Join(s.projects[len(s.projects)-1].StateDir(), "fix_plan.md"), []byte(plan(500)), 0o600))
	beside, events := all["running"]()
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

// shot is what a page must be like.
type shot struct {
	name, path string
	wait       string
}

// shots are all kinds of pages, and all states of a run.
func (s *site) shots(ctx context.Context) []shot {
	all := []shot{{"runs", "/", "RUNNING"}, {"runs that live", "/?state=living&project=", "RUNNING"}, {"login", "/login?x=1", "Token"}}
	s.must(ctx, chromedp.Navigate(s.url), text("Runs"))
	names := []string{"running", "ended", "halted", "question", "waiting", "failed", "fresh", "500 tasks", "8 side by side"}
	for i, p := range s.projects {
		run := eval[string](ctx, s, linkTo(p))
		for _, tab := range []string{"now", "plan", "review", "log"} {
			all = append(all, shot{names[i] + ", " + tab, run + "#at-" + tab, ""})
		}
		switch names[i] {
		case "running":
			s.must(ctx, chromedp.Navigate(s.url+run), until(`document.querySelector('#plan .list a') !== null`))
			task := eval[string](ctx, s, `document.querySelector('#plan > .list a').getAttribute('href')`)
			s.must(ctx, chromedp.Navigate(s.url), text("Runs"))
			all = append(all, shot{"iteration", run + "/i/7", "Transcript"}, shot{"report", run + "/report", "What to type"}, shot{"task", task, "Proof"})
		case "question":
			all = append(all, shot{"one question", run + "/q/q1", "old offset"}, shot{"one finding", run + "/f/1", "no longer run"},
				shot{"report of a review", run + "/report", "ralph accept"})
		}
	}
	return all
}

const maxPage = 60 << 10

// sizeOf is how many bytes the page has, with its style and script.
const sizeOf = `Promise.all(['', ...[...document.querySelectorAll('link[rel=stylesheet],script[src]')].map(e => e.href || e.src)]
	.map(u => u === '' && location.protocol === 'about:' ? new Blob([document.documentElement.outerHTML]).size :
		fetch(u || location.href).then(r => r.text()).then(t => new Blob([t]).size)))
	.then(all => all.reduce((a, b) => a + b))`

// Pictures are kept with go test -artifacts.
func TestPages_everyStateSizeAndScheme_fitAndAreAccessible(t *testing.T) {
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
	s.pictures(ctx2{ctx, s.run(ctx, s.projects[0])})
	said := console(ctx)
	looks := []struct {
		size
		dark bool
	}{{phone, true}, {desktop, false}, {tablet, false}, {phone, false}, {tablet, true}, {desktop, true}}
	if testing.Short() {
		looks = looks[:2]
	}
	shots := s.shots(ctx)
	pictures := t.ArtifactDir()
	for _, page := range shots {
		for _, look := range looks {
			if strings.Contains(page.path, "#at-") && !strings.HasSuffix(page.path, "now") && look.size != phone {
				continue // elsewhere, all parts stand on one page
			}
			name := fmt.Sprintf("%s, %s", page.name, look.name)
			if look.dark {
				name += ", dark"
			}
			path := page.path
			if look.size != phone {
				path, _, _ = strings.Cut(path, "#")
			}
			s.must(ctx, as(look.size, look.dark), chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+path), text(page.wait), chromedp.WaitReady("h1"))
			if strings.HasPrefix(page.name, "report") { // it refuses even the scripts of a test
				s.copy(ctx, path)
			}
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
			if high := eval[int64](ctx, s, `document.documentElement.scrollHeight`); look.size == phone && high > 3*phone.height {
				t.Errorf("%s: %d pixels high", name, high)
			}
			if said := said(); len(said) > 0 {
				t.Errorf("%s: %s", name, strings.Join(said, "\n"))
			}
			s.must(ctx, chromedp.Evaluate[chromedp.Void](source))
			if found := eval[[]string](ctx, s, serious); len(found) > 0 {
				t.Errorf("%s: %s", name, strings.Join(found, "\n"))
			}
		}
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
