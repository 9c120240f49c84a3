package console

// This file runs ralph in tmux: the runner on the left, the monitor on the
// right, which gets most of the space; in a narrow terminal one above the other.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
	"ralph/tmux"
)

// reportVar names a file into which an inner ralph writes why it could not
// start, so that the error outlives its pane.
const reportVar = "RALPH_REPORT"

// Reporter passes an error of this process to the outer ralph, if there is one: then
// the monitor watches, too. It removes the variable from the environment: the agent
// must not see it.
func Reporter() (tell func(text string), watched bool) {
	path := os.Getenv(reportVar)
	_ = os.Unsetenv(reportVar)
	return func(text string) {
		if path != "" {
			_ = os.WriteFile(path, []byte(text+"\n"), 0o600) // file: a temporary file; the pane shows it too
		}
	}, path != ""
}

// Split is a run that wants the monitor beside it.
type Split struct {
	*cmdline.Factory
	Project string   // absolute
	Runner  []string // arguments of the inner ralph
	// Summary prints how the run ended.
	Summary func(state.Status)
}

// Open opens the monitor beside the runner. The run is handled if the runner
// was started in a session of its own. Otherwise the caller runs the loop here,
// with the monitor in the next pane or, where tmux cannot do it, without.
func (w Split) Open() (handled bool, err error) {
	client := &tmux.Client{}
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("find ralph: %w", err)
	}
	l := tmux.Layout{Name: tmux.Name(w.Project), Dir: w.Project, Env: w.Env}
	l.Monitor = []string{self, "-C", w.Project, "monitor"}
	r := cmdline.OpenState(w.Project)
	if owner, alive := r.Owner(); alive {
		return true, fmt.Errorf("%w; watch it with: %s", &state.LockedError{Owner: owner}, watchWith(client, l.Name))
	}
	if pane := os.Getenv("TMUX_PANE"); insideTmux() && pane != "" {
		if _, err := client.Beside(context.Background(), pane, l); err != nil {
			w.without(err)
			return false, nil
		}
		w.Watched = true
		return false, nil
	}
	if err := w.terminal(); err != nil {
		w.without(err)
		return false, nil
	}
	size := cmdline.TermSize(w.In)
	l.Width, l.Height = int(size.Cols), int(size.Rows)
	report, err := os.CreateTemp("", "ralph-report-")
	if err != nil {
		return false, fmt.Errorf("open session: %w", err)
	}
	defer os.Remove(report.Name())
	_ = report.Close()
	l.Env = append(slices.Clone(l.Env), reportVar+"="+report.Name())
	l.Runner = append([]string{self}, w.Runner...)
	before, _ := r.Status()
	session, err := openSession(client, l)
	if err != nil {
		w.without(err)
		return false, nil
	}
	return true, w.attach(client, session, &ending{r: r, before: before.RunID, report: report.Name()})
}

func insideTmux() bool { return os.Getenv("TMUX") != "" }

// terminal says why tmux cannot be shown here.
func (w Split) terminal() error {
	switch name := os.Getenv("TERM"); {
	case !w.CanAsk() || !w.IsTerminal():
		return errors.New("standard input and output are not a terminal")
	case name == "" || name == "dumb":
		return fmt.Errorf("the terminal is %q", name)
	}
	return nil
}

// watchWith is what to type to see the running ralph.
func watchWith(client *tmux.Client, name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := client.Find(ctx, name)
	if err != nil || s == nil || runnerCode(ctx, client, s) != stillRunning {
		return "ralph monitor"
	}
	return comeBack(s)
}

// comeBack quotes the name because zsh expands a word that begins with "=".
func comeBack(s *tmux.Session) string {
	verb := "attach"
	if insideTmux() {
		verb = "switch-client"
	}
	return fmt.Sprintf("tmux %s -t '=%s'", verb, s.Name)
}

func (w Split) without(err error) {
	w.Warn(fmt.Sprintf("no tmux split: %v; the run continues without; "+
		"watch it with ralph monitor in another terminal", err))
}

// openSession replaces a session of this project whose run has ended.
func openSession(client *tmux.Client, l tmux.Layout) (*tmux.Session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	old, err := client.Find(ctx, l.Name)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if err := client.Close(ctx, old); err != nil {
			return nil, err
		}
	}
	// A server ends with its last session and refuses new ones meanwhile.
	for try := 0; ; try++ {
		s, err := client.Open(ctx, l)
		if !errors.Is(err, tmux.ErrNoServer) || try == 20 {
			return s, err
		}
		if !cmdline.Pause(ctx, 100*time.Millisecond) {
			return nil, err
		}
	}
}

// attach shows the session until the user leaves it, then says how the run
// ended; the runner's exit code becomes this one's. A closed terminal or a
// SIGTERM leaves the session too, and the run continues.
func (w Split) attach(client *tmux.Client, s *tmux.Session, e *ending) error {
	leave, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(leave)
	defer cancel()
	code := make(chan int, 1)
	go func() { code <- followRunner(ctx, client, s) }()
	err := w.show(ctx, client, s)
	cancel()
	switch exit := <-code; {
	case exit == gone:
		return w.lastWords(e, e.await())
	case exit != stillRunning:
		return w.lastWords(e, exit)
	case err != nil:
		return fmt.Errorf("show session: %w; the run continues in tmux session %s; "+
			"watch it with ralph monitor, end it with ralph stop", err, s.Name)
	}
	w.Say("detached: the run continues; come back with: %s", comeBack(s))
	w.Say("or watch it with: ralph monitor, end it with: ralph stop")
	if leave.Err() != nil {
		return &cmdline.ExitError{Code: state.ExitTerminated}
	}
	return nil
}

const (
	stillRunning = -1 // the runner's pane is alive
	gone         = -2 // the runner, its pane, session or server was killed
)

// followRunner waits for the runner to end. Once the user has closed the monitor
// too, it closes the session. When ctx ends it returns what it knows.
func followRunner(ctx context.Context, client *tmux.Client, s *tmux.Session) int {
	ticker := time.Tick(300 * time.Millisecond)
	for code := stillRunning; ; {
		// Only what tmux is asked after the end of ctx counts as what is known at its end.
		last := ctx.Err() != nil
		ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if code == stillRunning {
			code = runnerCode(ask, client, s)
		}
		p, closed := client.Pane(ask, s.Monitor)
		watching := closed == nil && (!p.Dead || p.Status > 0) // a failed monitor still says why
		if code != stillRunning && (!watching || last) {
			_ = client.Close(ask, s)
		}
		cancel()
		if last {
			return code
		}
		select {
		case <-ctx.Done():
		case <-ticker:
		}
	}
}

// runnerCode is the exit code of the runner's pane, stillRunning or gone.
func runnerCode(ctx context.Context, client *tmux.Client, s *tmux.Session) int {
	p, err := client.Pane(ctx, s.Runner)
	switch {
	case errors.Is(err, tmux.ErrGone) || errors.Is(err, tmux.ErrNoServer):
		return gone
	case err != nil || !p.Dead:
		return stillRunning
	case p.Status < 0:
		return gone
	}
	return p.Status
}

// leaveScreen undoes what tmux sets in a terminal: the mouse, bracketed paste,
// the second screen, the hidden cursor, colours.
const leaveScreen = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m\r\n"

// show attaches. It restores the terminal itself because a killed tmux server
// does not.
func (w Split) show(ctx context.Context, client *tmux.Client, s *tmux.Session) error {
	before, _ := term.GetState(int(w.In.Fd()))
	err := client.Attach(ctx, s)
	if before != nil {
		_ = term.Restore(int(w.In.Fd()), before)
	}
	if err != nil {
		fmt.Fprint(w.Out, leaveScreen)
	}
	return err
}

// ending is where the last words of a run in a session are found.
type ending struct {
	r      *state.Reader
	before string // id of the previous run
	report string // file with a start-up error
}

// status is the last status of the run; false: it never had one.
func (e *ending) status() (state.Status, bool) {
	s, err := e.r.Status()
	return s, err == nil && s.ExitReason != "" && s.RunID != e.before
}

// patience is how long a runner without a terminal may take to end its agent
// and record why.
const patience = 15 * time.Second

// await waits for the end of a runner whose exit code tmux does not know.
func (e *ending) await() int {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, alive := e.r.Owner(); !alive {
			break
		}
	}
	if s, ok := e.status(); ok {
		return s.ExitCode
	}
	return state.ExitTerminated
}

// lastWords repeats in the user's own terminal how the run ended.
func (w Split) lastWords(e *ending, code int) error {
	if text, err := os.ReadFile(e.report); err == nil && len(text) > 0 { // file: a temporary file
		return &cmdline.ExitError{Code: code, Text: strings.TrimSpace(string(text))}
	}
	if s, ok := e.status(); ok {
		w.Summary(s)
	} else {
		w.Say("ralph: the runner ended without a word, with exit code %d; see .ralph/logs/ralph.log", code)
	}
	if code == state.ExitComplete {
		return nil
	}
	return &cmdline.ExitError{Code: code}
}
