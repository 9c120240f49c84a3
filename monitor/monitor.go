// Package monitor shows a run as a screen or as a stream of lines. It controls the
// runner only through ralph's own verbs, so it can start and end at any time.
package monitor

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"

	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/follow"
	"ralph/state/view/summary"
)

// Options says what to watch and where to show it.
type Options struct {
	Dir   string   // the project: the folder that holds .ralph
	Ralph []string // argv of ralph for this project, without a verb; empty: no control
	// NoControl says why Ralph is empty.
	NoControl string
	Version   string           // of ralph, for people
	Theme     string           // a name that canvas.CheckTheme knows; empty: that of the environment
	Now       func() time.Time // nil: time.Now
	Plain     bool             // lines instead of a screen
	Out       io.Writer        // of lines; nil: standard output
	Screen    tcell.Screen     // nil: the terminal
}

func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	return o
}

// Run shows the screen until the user quits or ctx ends, and then returns nil. If the
// terminal cannot show a screen, Run prints why and continues like Plain. If the output is a
// file or a pipe, it prints the state of the run once, unless o.Plain asks to follow it.
func Run(ctx context.Context, o Options) error {
	o = o.filled()
	if o.Plain {
		return Plain(ctx, o)
	}
	if err := canvas.CheckTheme(os.Getenv(canvas.ThemeVariable)); err != nil {
		return fmt.Errorf("read %s: %w", canvas.ThemeVariable, err)
	}
	if o.Screen == nil && !term.IsTerminal(int(os.Stdout.Fd())) {
		return once(o)
	}
	if o.Screen != nil {
		return runScreen(ctx, o)
	}
	release := keepTerminal()
	screen, err := openTerminal()
	if err != nil {
		release()
		fmt.Fprintf(o.Out, "ralph monitor: %v; showing lines instead\n", err)
		return Plain(ctx, o)
	}
	o.Screen = screen
	err = runScreen(ctx, o)
	release() // not after a panic
	return err
}

// once prints the state of the run.
func once(o Options) error {
	f := follow.New(o.Dir, o.Now)
	defer f.Close()
	var m view.Model
	for m.Apply(f.Poll()); f.More(); {
		m.Apply(f.Poll())
	}
	_, err := fmt.Fprint(o.Out, summary.Text(&m, o.Now(), 0),
		"\nThe output is not a terminal, so this is how the run stands now. To follow it: ralph monitor --plain\n")
	if err != nil {
		return fmt.Errorf("write the state of the run: %w", err)
	}
	return nil
}

// openTerminal returns an initialised screen, or why there is none.
func openTerminal() (tcell.Screen, error) {
	name := os.Getenv("TERM")
	if name == "" || name == "dumb" {
		return nil, fmt.Errorf("TERM=%q cannot show a screen", name)
	}
	saved, _ := term.GetState(int(os.Stdout.Fd()))
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return nil, fmt.Errorf("TERM=%q is unknown (%w)", name, err)
	}
	return &guard{Screen: screen, saved: saved}, nil
}
