//go:build e2e && linux

package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
)

// browser is the one that all tests share: each has a tab of its own.
var browser struct {
	sync.Once
	ctx  context.Context
	end  func()
	err  error
	home string
}

func TestMain(m *testing.M) {
	code := world.Main(m)
	if browser.end != nil {
		browser.end()
		_ = os.RemoveAll(browser.home)
	}
	os.Exit(code)
}

// tab opens a tab. The test is skipped where there is no Chromium.
func tab(t *testing.T, long ...time.Duration) context.Context {
	t.Helper()
	browser.Do(func() {
		path, err := exec.LookPath("chromium")
		if browser.err = err; err != nil {
			return
		}
		if browser.home, browser.err = os.MkdirTemp("", "ralph-chromium-"); browser.err != nil {
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(browser.home),
			chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-component-update", true), chromedp.Env("HOME="+browser.home))
		ctx, end := chromedp.NewExecAllocator(context.Background(), options...) // it outlives the test
		browser.ctx, browser.end = chromedp.NewContext(ctx)
		last := browser.end
		browser.end = func() { last(); end() }
		browser.err = chromedp.Do(browser.ctx)
	})
	if browser.err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal("chromium:", browser.err)
		}
		t.Skip("chromium:", browser.err)
	}
	ctx, stop := chromedp.NewContext(browser.ctx)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, max(2*world.Patience, slices.Max(append(long, 0))))
	t.Cleanup(cancel)
	return ctx
}

// size is a screen.
type size struct {
	name          string
	width, height int64
}

var (
	phone   = size{"phone", 390, 844}
	tablet  = size{"tablet", 820, 1180}
	desktop = size{"desktop", 1440, 900}
)

// as makes the tab this screen, light or dark.
func as(s size, dark bool) step {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width,
			Height: s.height, DeviceScaleFactor: 1, Mobile: s == phone})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

type step = chromedp.Action[chromedp.Void]

// site is the dashboard of a user with some runs.
type site struct {
	*world.World
	hub      *world.Process
	url      string
	projects []*sample.Project
}

func newSite(t *testing.T, named ...string) *site {
	t.Helper()
	s := &site{World: world.New(t, "")}
	s.Write("README", "a folder\n")
	all := sample.States(time.Now())
	for _, name := range named {
		snapshot, events := all[name]()
		s.add(sample.New(t, snapshot, hours(&snapshot.Status, snapshot.Alive, events)))
	}
	s.serve("127.0.0.1:0")
	return s
}

// add makes the user know a project.
func (s *site) add(p *sample.Project) {
	name := []string{"shop-api", "mailer", "docs-site", "billing", "search", "gateway", "reports", "ledger", "web-shop", "mobile"}[len(s.projects)]
	dir := filepath.Join(filepath.Dir(p.Dir), name)
	s.Do(os.Rename(p.Dir, dir))
	p.Dir = dir
	s.Do(os.WriteFile(filepath.Join(p.StateDir(), "fix_plan.md"), []byte(plan(10)), 0o600))
	s.projects = append(s.projects, p)
	record, err := json.Marshal(map[string]string{"project": p.Dir})
	s.Do(err)
	s.Write(fmt.Sprintf("../.local/state/ralph/runs/%d.json", len(s.projects)), string(record))
}

// plan returns that of the runs.
func plan(n int) string {
	text := "# Plan\n\n"
	titles := []string{"Read the configuration", "Open the database", "Log every request", "Answer health checks", "List orders",
		"Create orders", "Add cursor pagination to the list endpoint", "Validate the currency of a refund", "Limit the rate", "Write the docs"}
	for i := range n {
		box, title := " ", titles[i%len(titles)]
		if i < n*6/10 {
			box = "x"
		}
		if i >= len(titles) {
			title += fmt.Sprintf(" of service %d", i/len(titles))
		}
		text += fmt.Sprintf("- [%s] %s\n", box, title)
	}
	return text
}

// serve starts the dashboard. Its port is the one that it was given the first time.
func (s *site) serve(listen string) {
	s.Helper()
	s.hub = s.Start("ralph", "serve", "--actions", "--listen", listen)
	at := regexp.MustCompile(`dashboard is at (http://\S+)/\n`)
	s.Until("the dashboard", func() bool {
		found := at.FindStringSubmatch(s.hub.Said())
		if found != nil {
			s.url = found[1]
		}
		return found != nil && strings.Contains(s.hub.Said(), "log in with")
	}, s.hub.Said)
}

// link logs a browser in.
func (s *site) link() string {
	return regexp.MustCompile(`http://\S+/login\S+`).FindString(s.hub.Said())
}

// login opens the link in a tab.
func (s *site) login(ctx context.Context) {
	s.Helper()
	s.must(ctx, chromedp.Navigate(s.link()), text("Runs"))
}

// run returns the address of a project's run.
func (s *site) run(ctx context.Context, p *sample.Project) (path string) {
	s.Helper()
	s.must(ctx, chromedp.Navigate(s.url), text("Runs"))
	return eval[string](ctx, s, linkTo(p))
}

// linkTo is a script that finds the address of a project's run on the page of all runs.
func linkTo(p *sample.Project) string {
	return fmt.Sprintf(`[...document.querySelectorAll('h2 a')].find(a => a.href.includes(%q)).getAttribute('href')`, keyOf(p.Dir))
}

// keyOf returns a project in addresses.
func keyOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:6])
}

func eval[T any](ctx context.Context, s *site, script string) T {
	s.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	s.Do(err)
	return v
}

func (s *site) must(ctx context.Context, steps ...step) {
	s.Helper()
	for _, do := range steps {
		if err := chromedp.Do(ctx, do); err != nil {
			body, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
			s.Fatalf("%v\nthe hub said: %s\nthe page: %.4000s", err, s.hub.Said(), body)
		}
	}
}

// text waits until the page shows a text, also on the page that comes next.
func text(want string) step { return until(fmt.Sprintf(`document.body.innerText.includes(%q)`, want)) }

func until(condition string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for end := time.Now().Add(world.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			is, err := chromedp.Evaluate[bool](condition)(ctx, t)
			if is && err == nil {
				return nil
			}
			if ctx.Err() != nil {
				break
			}
		}
		return fmt.Errorf("it never came: %s", condition)
	})
}

// click clicks an element. An update of the page may replace the element between the moment when it is found and the
// click, which nothing has received then: it is looked for again.
func click(selector string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for {
			_, err := chromedp.Click(selector)(ctx, t)
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "Could not find node") {
				return err
			}
		}
	})
}
