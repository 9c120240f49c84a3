package monitor

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"ralph/monitor/canvas"
	"ralph/state/view/follow"
)

// wakeDraw is a key that no keyboard has. It wakes the event loop: tview draws after each key; its own
// QueueUpdateDraw would block forever after the end of the loop.
const wakeDraw = tcell.KeyF64

// redraw asks for a draw, from any goroutine. At most one request is queued, so it
// never blocks, not even after the end of the loop.
func (u *ui) redraw() {
	if !u.pending.Swap(true) {
		u.app.QueueEvent(tcell.NewEventKey(wakeDraw, 0, tcell.ModNone))
	}
}

// memoryLimit in bytes makes the garbage collector run often enough in a flood of events, and
// beside a plan of 20,000 tasks. The pages of the program itself come on top.
const memoryLimit = 26 << 20

func runScreen(ctx context.Context, o Options) error {
	if os.Getenv("RUNEWIDTH_EASTASIAN") == "" {
		runewidth.DefaultCondition.EastAsianWidth = false // as terminals and tmux draw frames
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	f := follow.New(o.Dir, o.Now)
	defer f.Close()
	u := newUI(o, f)
	u.theme = canvas.ThemeOf(o.Theme, o.Screen.Colors())
	u.app.SetRoot(u, true).SetScreen(o.Screen).EnablePaste(true)
	for r, substitute := range substitutes() {
		o.Screen.RegisterRuneFallback(r, substitute)
	}
	u.app.SetInputCapture(u.capture)

	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	u.apply(f.Poll())
	ended := make(chan struct{})
	wait.Go(func() {
		select {
		case <-u.started: // stopped before its loop, tview would open another screen
			u.pump(ctx)
		case <-ended:
		}
		u.app.Stop()
	})
	err := u.loop()
	close(ended)
	cancel()
	wait.Wait()
	return err
}

// substitutes replace characters that the terminal's encoding lacks.
func substitutes() map[rune]string {
	return map[rune]string{
		'▸': ">", '▹': ">", '✓': "+", '✗': "x", '⊘': "/", '⏸': "=", '×': "x", '●': "*", '○': "o",
		'■': "#", '‖': "=", '…': "~", '━': "-", '·': "-", '»': ">",
		'▁': "_", '▂': "_", '▃': "-", '▄': "-", '▅': "=", '▆': "=", '▇': "#",
	}
}

// loop runs the event loop. A closed terminal is not an error.
func (u *ui) loop() error {
	err := u.app.Run()
	if _, gone := errors.AsType[*tcell.EventError](err); gone {
		return nil
	}
	return err
}

// pump applies updates of the feed until ctx ends. The screen has clocks: without news, it is drawn once a second.
func (u *ui) pump(ctx context.Context) {
	for drawn := int64(0); u.feed.Wait(ctx); {
		news, second := u.apply(u.feed.Poll()), time.Now().Unix()
		if u.run.readOlder() || news || second != drawn {
			drawn = second
			u.redraw()
		}
	}
}

// capture gets every key before tview; nil tells it to draw.
func (u *ui) capture(e *tcell.EventKey) *tcell.EventKey {
	if e.Key() == wakeDraw {
		u.pending.Store(false)
	} else {
		u.key(e)
	}
	return nil
}

// guard is a terminal whose Fini returns within closeBound. tcell's own Fini waits for
// goroutines that may hang if the terminal is gone. It gives tcell only the cells that have
// changed: one that tview clears and draws as it was would be printed again.
type guard struct {
	tcell.Screen
	saved *term.State
	next  tcell.CellBuffer

	mu    sync.Mutex
	ended bool
}

const closeBound = 2 * time.Second

// Init does nothing: tview would initialise the screen a second time.
func (g *guard) Init() error { return nil }

// whileOpen calls f unless the screen has ended. tcell frees its cells without a lock,
// so f must not run at the same time.
func (g *guard) whileOpen(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		f()
	}
}

// Clear begins a frame.
func (g *guard) Clear() {
	g.next.Resize(g.Size())
	g.next.Fill(' ', plain)
}

// SetContent sets a cell of the frame.
func (g *guard) SetContent(x, y int, base rune, marks []rune, style tcell.Style) {
	g.next.SetContent(x, y, base, marks, style)
}

// GetContent returns a cell of the frame.
func (g *guard) GetContent(x, y int) (base rune, marks []rune, style tcell.Style, width int) {
	return g.next.GetContent(x, y)
}

// Sync draws every cell again.
func (g *guard) Sync() { g.whileOpen(g.Screen.Sync) }

// Show draws what has changed.
func (g *guard) Show() {
	g.whileOpen(func() {
		w, h := g.next.Size()
		for i := range w * h {
			x, y := i%w, i/w
			base, marks, style, _ := g.next.GetContent(x, y)
			was, wasMarks, wasStyle, _ := g.Screen.GetContent(x, y)
			if base != was || style != wasStyle || !slices.Equal(marks, wasMarks) {
				g.Screen.SetContent(x, y, base, marks, style)
			}
		}
		g.Screen.Show()
	})
}

// Resume takes the terminal back. If that fails because the terminal is gone, nothing
// may draw any more: tcell then has no cells, and its draw would never return.
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
