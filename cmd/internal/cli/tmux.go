package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"ralph/runner"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/tmux"
)

// reportVar names a file into which an inner ralph writes its last words, so
// that a start-up error outlives its pane.
const reportVar = "RALPH_REPORT"

// runInTmux opens the monitor beside the runner. It has handled the run when
// the runner was started in a session of its own; else the caller runs the
// loop here, with the monitor in the next pane or, where tmux cannot do it,
// without.
func (a *app) runInTmux(s *setup, f *runFlags) (handled bool, err error) {
	client := &tmux.Client{}
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("find ralph: %w", err)
	}
	l := tmux.Layout{Name: tmux.Name(s.dir), Dir: s.dir, Env: a.env, Monitor: []string{self, "-C", s.dir, "monitor"}}
	r := state.Open(filepath.Join(s.dir, state.DirName))
	if owner, alive := r.Owner(); alive {
		return true, fmt.Errorf("%w; watch it with: %s", &state.LockedError{Owner: owner}, watchWith(client, l.Name))
	}
	if pane := os.Getenv("TMUX_PANE"); insideTmux() && pane != "" {
		if _, err := client.Beside(context.Background(), pane, l); err != nil {
			a.withoutTmux(err)
		}
		return false, nil
	}
	if err := a.terminal(); err != nil {
		a.withoutTmux(err)
		return false, nil
	}
	size := termSize(a.in)
	l.Width, l.Height = int(size.Cols), int(size.Rows)
	report, err := os.CreateTemp("", "ralph-report-")
	if err != nil {
		return false, fmt.Errorf("open session: %w", err)
	}
	defer os.Remove(report.Name())
	_ = report.Close()
	l.Env = append(slices.Clone(l.Env), reportVar+"="+report.Name())
	l.Runner = append([]string{self}, f.argv(s)...)
	before, _ := r.Status()
	session, err := a.openSession(client, l)
	if err != nil {
		a.withoutTmux(err)
		return false, nil
	}
	return true, a.attach(client, session, &ending{r: r, before: before.RunID, report: report.Name()})
}

func insideTmux() bool { return os.Getenv("TMUX") != "" }

// terminal tells why tmux cannot be shown here.
func (a *app) terminal() error {
	switch name := os.Getenv("TERM"); {
	case !isatty.IsTerminal(a.in.Fd()) || !a.isTerminal():
		return errors.New("standard input and output are no terminal")
	case name == "" || name == "dumb":
		return fmt.Errorf("the terminal is %q", name)
	}
	return nil
}

// watchWith is what to type to see the run that is alive.
func watchWith(client *tmux.Client, name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := client.Find(ctx, name)
	if err != nil || s == nil || runnerCode(ctx, client, s) != stillRunning {
		return "ralph monitor"
	}
	return comeBack(s)
}

// comeBack is quoted because zsh expands a word that begins with "=".
func comeBack(s *tmux.Session) string {
	verb := "attach"
	if insideTmux() {
		verb = "switch-client"
	}
	return fmt.Sprintf("tmux %s -t '=%s'", verb, s.Name)
}

func (a *app) withoutTmux(err error) {
	a.warn(fmt.Sprintf("no tmux split: %v; the run goes on without, ralph monitor in another terminal shows the same", err))
}

// openSession replaces a session of this project whose run is over.
func (a *app) openSession(client *tmux.Client, l tmux.Layout) (*tmux.Session, error) {
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
	// A server ends with its last session, and refuses new ones meanwhile.
	for try := 0; ; try++ {
		s, err := client.Open(ctx, l)
		if !errors.Is(err, tmux.ErrNoServer) || try == 20 {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// argv is the command line of the inner runner: every flag that was given here.
func (f *runFlags) argv(s *setup) []string {
	verb := "run"
	if f.once {
		verb = "once"
	}
	argv := append([]string{"-C", s.dir, verb}, s.cfg.Flags()...)
	for flag, set := range map[string]bool{"--live": f.live, "--headless": f.headless} {
		if set {
			argv = append(argv, flag)
		}
	}
	return append(argv, "--output="+f.output)
}

// attach shows the session until the user leaves it, then tells how the run
// ended; the runner's exit code becomes this one's. A closed terminal or a
// SIGTERM leaves the session too, and the run goes on.
func (a *app) attach(client *tmux.Client, s *tmux.Session, e *ending) error {
	leave, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(leave)
	defer cancel()
	code := make(chan int, 1)
	go func() { code <- followRunner(ctx, client, s) }()
	err := a.show(ctx, client, s)
	cancel()
	switch exit := <-code; {
	case exit == gone:
		return a.lastWords(e, e.await())
	case exit != stillRunning:
		return a.lastWords(e, exit)
	case err != nil:
		return fmt.Errorf("show session: %w; the run goes on in tmux session %s, see it with: ralph monitor, end it with: ralph stop", err, s.Name)
	}
	a.say("detached: the run goes on; come back with: %s", comeBack(s))
	a.say("or watch it with: ralph monitor, end it with: ralph stop")
	if leave.Err() != nil {
		return &exitError{code: rules.ExitTerminated}
	}
	return nil
}

const (
	stillRunning = -1 // the runner's pane is alive
	gone         = -2 // the runner, its pane, session or server were killed
)

// followRunner waits for the end of the runner. Once the user has closed the
// monitor too, nothing is left to look at and the session is closed. When ctx
// ends it tells what it knows.
func followRunner(ctx context.Context, client *tmux.Client, s *tmux.Session) int {
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for code := stillRunning; ; {
		ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if code == stillRunning {
			code = runnerCode(ask, client, s)
		}
		p, closed := client.Pane(ask, s.Monitor)
		watching := closed == nil && (!p.Dead || p.Status > 0) // one that failed still says why
		if code != stillRunning && (!watching || ctx.Err() != nil) {
			_ = client.Close(ask, s)
		}
		cancel()
		if ctx.Err() != nil {
			return code
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
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

// leaveScreen undoes what tmux has set in a terminal: the mouse, bracketed
// paste, the second screen, the hidden cursor, colours.
const leaveScreen = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m\r\n"

// show attaches, and restores the terminal where the tmux server was killed,
// which alone would have done it.
func (a *app) show(ctx context.Context, client *tmux.Client, s *tmux.Session) error {
	before, _ := term.GetState(int(a.in.Fd()))
	err := client.Attach(ctx, s)
	if before != nil {
		_ = term.Restore(int(a.in.Fd()), before)
	}
	if err != nil {
		fmt.Fprint(a.out, leaveScreen)
	}
	return err
}

// ending is where the last words of a run in a session are found.
type ending struct {
	r      *state.Reader
	before string // id of the run before
	report string // file of a start-up error
}

// status is the last status of the run; false: it never had one.
func (e *ending) status() (state.Status, bool) {
	s, err := e.r.Status()
	return s, err == nil && s.ExitReason != "" && s.RunID != e.before
}

// patience is how long a runner without a terminal may take to end its agent
// and to record why.
const patience = 15 * time.Second

// await waits for the end of a runner whose exit code tmux cannot tell.
func (e *ending) await() int {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, alive := e.r.Owner(); !alive {
			break
		}
	}
	if s, ok := e.status(); ok {
		return s.ExitCode
	}
	return rules.ExitTerminated
}

// lastWords repeats in the user's own terminal how the run ended.
func (a *app) lastWords(e *ending, code int) error {
	if text, err := os.ReadFile(e.report); err == nil && len(text) > 0 {
		return &exitError{code: code, text: strings.TrimSpace(string(text))}
	}
	if s, ok := e.status(); ok {
		(&console{out: a.out}).end(runner.Result{
			Decision:   rules.Decision{Status: s.Status, Reason: s.Reason, Rule: s.Rule, Exit: s.ExitCode, ExitReason: s.ExitReason, Next: s.Next},
			Iterations: s.LoopCount, Usage: s.Usage, Done: s.Task.Done, Total: s.Task.Total,
		})
	} else {
		a.say("ralph: the runner left no last words, its exit code is %d; see .ralph/logs/ralph.log", code)
	}
	if code == rules.ExitComplete {
		return nil
	}
	return &exitError{code: code}
}

// keepReport leaves an error for the outer ralph.
func (a *app) keepReport(text string) {
	if a.reportFile != "" {
		_ = os.WriteFile(a.reportFile, []byte(text+"\n"), 0o600) // its pane shows it too
	}
}
