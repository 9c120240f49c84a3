package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"ralph/runner"
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
	if pane := os.Getenv("TMUX_PANE"); os.Getenv("TMUX") != "" && pane != "" {
		if _, err := client.Beside(context.Background(), pane, l); err != nil {
			a.withoutTmux(err)
		}
		return false, nil
	}
	if !isatty.IsTerminal(a.in.Fd()) || !a.isTerminal() {
		a.withoutTmux(errors.New("standard input and output are no terminal"))
		return false, nil
	}
	r := state.Open(filepath.Join(s.dir, state.DirName))
	if owner, alive := r.Owner(); alive {
		return true, fmt.Errorf("%w; watch it with: ralph monitor", &state.LockedError{Owner: owner})
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
	session, err := a.openSession(client, l)
	if err != nil {
		a.withoutTmux(err)
		return false, nil
	}
	return true, a.attach(client, session, report.Name(), r)
}

func (a *app) withoutTmux(err error) {
	fmt.Fprintf(a.err, "ralph: warning: no tmux split: %v; the run goes on without, ralph monitor in another terminal shows the same\n", err)
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
	return client.Open(ctx, l)
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
// ended; the runner's exit code becomes this one's.
func (a *app) attach(client *tmux.Client, s *tmux.Session, report string, r *state.Reader) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	code := make(chan int, 1)
	go func() { code <- followRunner(ctx, client, s) }()
	err := client.Attach(ctx, s)
	if err != nil {
		cancel()
		<-code
		return fmt.Errorf("show session: %w; the run goes on in tmux session %s", err, s.Name)
	}
	cancel()
	switch exit := <-code; {
	case exit == stillRunning:
		a.say("detached: the run goes on; come back with: tmux attach -t =%s", s.Name)
		return nil
	case exit == gone:
		return a.lastWords(r, report, runner.ExitTerminated)
	default:
		return a.lastWords(r, report, exit)
	}
}

const (
	stillRunning = -1 // the runner's pane is alive
	gone         = -2 // pane, session or server were killed
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
		_, watching := client.Pane(ask, s.Monitor)
		if code != stillRunning && (watching != nil || ctx.Err() != nil) {
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

// lastWords repeats in the user's own terminal how the run ended.
func (a *app) lastWords(r *state.Reader, report string, code int) error {
	if text, err := os.ReadFile(report); err == nil && len(text) > 0 {
		return &exitError{code: code, text: strings.TrimSpace(string(text))}
	}
	if s, err := r.Status(); err == nil && s.ExitReason != "" {
		a.say("ralph: %s after %s, %d of %d tasks done", s.Status, count(s.LoopCount, "iteration"), s.Task.Done, s.Task.Total)
		a.say("ralph: why: %s (rule %s, exit code %d)", s.Reason, s.Rule, s.ExitCode)
	}
	if code == runner.ExitComplete {
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
