package monitor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"
	"github.com/rivo/tview"
	"golang.org/x/term"

	"ralph/state/view/follow"
)

// The event loop is woken by keys that no keyboard has: tview draws after each
// key, and its own QueueUpdateDraw would wait for ever once the loop has ended.
const (
	wakeDraw = tcell.KeyF64
	wakeSync = tcell.KeyF63
	wakeStop = tcell.KeyF62
	wakeCont = tcell.KeyF61
)

func syncEvent() tcell.Event { return tcell.NewEventKey(wakeSync, 0, tcell.ModNone) }

// redraws lets at most one request wait in the event loop.
type redraws struct{ pending atomic.Bool }

// redraw asks for a draw, from any goroutine, without waiting. After the end
// of the loop the one request that may still be sent stays in its channel.
func (u *ui) redraw() {
	if !u.redraws.pending.Swap(true) {
		u.app.QueueEvent(tcell.NewEventKey(wakeDraw, 0, tcell.ModNone))
	}
}

// memoryLimit keeps the collector from letting a flood of events grow the heap.
const memoryLimit = 40 << 20

func runScreen(ctx context.Context, o Options) (err error) {
	if os.Getenv("RUNEWIDTH_EASTASIAN") == "" {
		runewidth.DefaultCondition.EastAsianWidth = false // as terminals and tmux draw frames
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	defer func() {
		if p := recover(); p != nil {
			o.Screen.Fini()
			err = crashed(p)
		}
	}()
	f := follow.New(o.Dir, o.Now)
	defer f.Close()
	u := newUI(o, f)
	u.app = tview.NewApplication().SetRoot(u, true).SetScreen(o.Screen)
	for r, substitute := range substitutes() {
		o.Screen.RegisterRuneFallback(r, substitute)
	}
	u.app.SetInputCapture(u.capture)

	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	u.apply(f.Poll()) // the first draw shows the run
	ended := make(chan struct{})
	wait.Go(func() {
		defer u.app.Stop()
		defer u.caught()
		select {
		case <-u.started: // stopped before its loop, tview would open another screen
			u.pump(ctx)
		case <-ended:
		}
	})
	wait.Go(func() { u.jobControl(ctx) })
	err = u.loop()
	close(ended)
	cancel()
	wait.Wait()
	if e, ok := u.crash.Load().(error); ok {
		return e
	}
	return err
}

// crashed is a panic as an error, for people who report it.
func crashed(p any) error { return fmt.Errorf("monitor: %v\n%s", p, debug.Stack()) }

// caught ends the screen in an orderly way when a goroutine has panicked; it
// is deferred there.
func (u *ui) caught() {
	if p := recover(); p != nil {
		u.crash.Store(crashed(p))
		u.app.Stop()
	}
}

// substitutes stand for characters that the terminal's encoding does not have.
func substitutes() map[rune]string {
	return map[rune]string{
		'▸': ">", '▹': ">", '✓': "+", '✗': "x", '●': "*", '○': "o", '■': "#", '‖': "=", '…': "~", '━': "-", '·': "-", '»': ">",
		'▁': "_", '▂': "_", '▃': "-", '▄': "-", '▅': "=", '▆': "=", '▇': "#",
	}
}

// loop runs the event loop. A panic in it comes back as an error after tview
// has restored the terminal; a terminal that went away is a normal end.
func (u *ui) loop() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = crashed(p)
		}
	}()
	err = u.app.Run()
	if _, gone := errors.AsType[*tcell.EventError](err); gone {
		return nil
	}
	return err
}

// pump moves news from the feed to the screen until ctx ends.
func (u *ui) pump(ctx context.Context) {
	for u.feed.Wait(ctx) {
		u.apply(u.feed.Poll())
		u.readMore()
		u.redraw()
	}
}

// jobControl passes the signals of the shell's job control to the event loop.
func (u *ui) jobControl(ctx context.Context) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTSTP, syscall.SIGCONT)
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			key := wakeStop
			if s == syscall.SIGCONT {
				key = wakeCont
			}
			u.app.QueueEvent(tcell.NewEventKey(key, 0, tcell.ModNone))
		}
	}
}

// capture gets every key before tview; nil tells it to draw.
func (u *ui) capture(e *tcell.EventKey) *tcell.EventKey {
	switch e.Key() {
	case wakeDraw:
		u.redraws.pending.Store(false)
	case wakeSync:
		u.o.Screen.Sync()
	case wakeStop:
		u.toShell()
	case wakeCont:
		u.suspend(func() {}) // whoever had the terminal may have changed its modes
	default:
		u.key(e)
	}
	return nil
}

// suspend gives the terminal back while f runs.
func (u *ui) suspend(f func()) {
	u.app.Suspend(f)
}

// MouseHandler tells tview what the mouse does: the wheel scrolls what is
// below it, a click focuses.
func (u *ui) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		switch action {
		case tview.MouseLeftDown, tview.MouseScrollUp, tview.MouseScrollDown:
			u.focusAt(e.Position())
		default:
			return false, nil
		}
		switch action {
		case tview.MouseScrollUp:
			u.scroll(-3)
		case tview.MouseScrollDown:
			u.scroll(3)
		}
		return true, nil
	}
}

func (u *ui) focusAt(x, y int) {
	defer u.lock()()
	for _, p := range u.places {
		inside := x >= p.x && x < p.x+p.w && y >= p.y && y < p.y+p.h
		if inside && (p.panel == panelIterations || p.panel == panelLog) && u.raw == nil && !u.help {
			u.focus = p.panel
		}
	}
}

// guard is a terminal that gives itself back within a bound: tcell waits for
// its own goroutines, which may wait for a terminal that is gone.
type guard struct {
	tcell.Screen
	saved *term.State

	mu    sync.Mutex
	ended bool
}

const closeBound = 2 * time.Second

// Init does nothing: the screen is initialised already, and tview, which would
// do it again, ignores the error.
func (g *guard) Init() error { return nil }

// whileOpen keeps f apart from the end of the screen: tcell takes the cells away
// without its lock, and tview calls from its event loop without its own.
func (g *guard) whileOpen(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		f()
	}
}

// Clear empties the screen; tview calls it when the size has changed.
func (g *guard) Clear() { g.whileOpen(g.Screen.Clear) }

// Sync draws every cell again.
func (g *guard) Sync() { g.whileOpen(g.Screen.Sync) }

// Show draws what has changed.
func (g *guard) Show() { g.whileOpen(g.Screen.Show) }

// Resume takes the terminal again. Where that fails, as the terminal has gone
// away, nothing may draw any more: tcell is left without cells, and its draw,
// which advances by their widths, would never return.
func (g *guard) Resume() error {
	err := g.Screen.Resume()
	if err == nil {
		_, _, err = term.GetSize(int(os.Stdout.Fd()))
	}
	if err != nil {
		g.end()
	}
	return err
}

func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
}

// Fini restores the terminal.
func (g *guard) Fini() {
	g.end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Screen.Fini()
	}()
	select {
	case <-done:
	case <-time.After(closeBound):
		g.restore()
	}
}

func (g *guard) restore() {
	if g.saved != nil {
		_ = term.Restore(int(os.Stdout.Fd()), g.saved)
		_, _ = os.Stdout.WriteString("\x1b[0m\x1b[?25h\x1b[?1049l")
	}
}
