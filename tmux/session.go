package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Layout says what Open and Beside show.
type Layout struct {
	Name          string   // of the session; Open only
	Dir           string   // working directory of the panes
	Env           []string // environment of the programs, NAME=VALUE, without tmux's own variables
	Runner        []string // argv of the runner; Open only
	Monitor       []string // argv of the monitor
	Width, Height int      // of the client's terminal, in cells; 0: tmux's default. Open only
}

// Session is a session from Open. IDs are tmux's own: $N and %N.
type Session struct {
	ID      string
	Name    string
	Runner  string // pane
	Monitor string // pane
	mark    string
}

// minWide is the minimum width, in cells, for panes side by side.
const minWide = 100

// Open makes a detached session with the runner on the left and the monitor on
// the right; in a narrow terminal the runner is below. The runner starts last: if
// Open fails, it never started, and no session is left. When its program ends, a
// pane keeps its last screen; the monitor's only if it failed. The error wraps
// ErrDuplicate if a session of this name exists.
func (c *Client) Open(ctx context.Context, l Layout) (*Session, error) {
	l.Env = Forward(l.Env)
	stale := c.stale(ctx, l.Env)
	s := &Session{Name: l.Name}
	out, err := c.newSession(ctx, l)
	if err != nil {
		return nil, err
	}
	ok := false
	s.ID, s.Monitor, ok = strings.Cut(out, " ")
	if !ok {
		return nil, fmt.Errorf("open session %q: tmux answered %q", l.Name, out)
	}
	// tmux's own line about a dead pane scrolls away the first line of the pane,
	// which may be all that the runner printed. An older tmux has no such option.
	_, _ = c.ask(ctx, "set-option", "-w", "-t", s.Monitor, "remain-on-exit-format", "")
	if err = c.addRunner(ctx, l, s, stale); err == nil {
		err = c.configure(ctx, s)
	}
	if err != nil {
		_, _ = c.ask(context.WithoutCancel(ctx), "kill-session", "-t", s.ID)
		return nil, err
	}
	return s, nil
}

// stale returns the variables that the running server would add to a pane
// although the caller does not have them.
func (c *Client) stale(ctx context.Context, env []string) []string {
	out, err := c.ask(ctx, "show-environment", "-g")
	if err != nil {
		return nil // no server: a new one gets the caller's environment
	}
	var names []string
	for line := range strings.Lines(out) {
		name, _, ok := strings.Cut(line, "=")
		has := func(pair string) bool { return strings.HasPrefix(pair, name+"=") }
		if ok && name != "" && !own(name) && !slices.ContainsFunc(env, has) {
			names = append(names, name)
		}
	}
	return names
}

func (c *Client) newSession(ctx context.Context, l Layout) (string, error) {
	base := []string{"new-session", "-d", "-P", "-F", "#{session_id} #{pane_id}", "-s", l.Name}
	if l.Width > 0 && l.Height > 0 {
		base = append(base, "-x", strconv.Itoa(l.Width), "-y", strconv.Itoa(l.Height))
	}
	stay := []string{"set-option", "-w", "-t", "=" + l.Name + ":", "remain-on-exit", "on"}
	return c.run(ctx, l.Dir, pane(base, l.Env, l.Monitor), stay)
}

// addRunner splits the monitor's pane and starts the runner beside it.
func (c *Client) addRunner(ctx context.Context, l Layout, s *Session, stale []string) error {
	var before [][]string
	for _, name := range stale {
		before = append(before, []string{"set-environment", "-t", s.ID, "-r", name})
	}
	var err error
	s.Runner, err = c.split(ctx, l, before, splitting{target: s.Monitor, argv: l.Runner, runner: true,
		wide: l.Width >= minWide || l.Width <= 0})
	return err
}

// splitting says how split places a pane.
type splitting struct {
	target string
	argv   []string
	runner bool // it is the runner's: left of the monitor, or below it
	wide   bool // side by side
}

// Shares of the runner, whose few lines are headlines, in percent. The monitor has the rest.
const (
	shareLeft  = 33
	shareBelow = 25
)

// split makes a pane and returns its id.
func (c *Client) split(ctx context.Context, l Layout, before [][]string, p splitting) (string, error) {
	side, share := "-v", shareBelow
	if p.wide {
		side, share = "-h", shareLeft
	}
	if !p.runner {
		share = 100 - share
	}
	words := []string{"split-window", "-d", "-P", "-F", "#{pane_id}", "-t", p.target, side, "-l", fmt.Sprintf("%d%%", share)}
	if p.runner == p.wide {
		words = append(words, "-b")
	}
	return c.run(ctx, l.Dir, append(before, pane(words, l.Env, p.argv))...)
}

func pane(words, env, argv []string) []string {
	for _, pair := range env {
		words = append(words, "-e", pair)
	}
	return append(append(words, "--"), withoutShell(argv)...)
}

// mark is the session option by which Find and Close recognize ralph's sessions.
const mark = "@ralph-panes"

func (c *Client) configure(ctx context.Context, s *Session) error {
	s.mark = strings.Join([]string{s.Runner, s.Monitor, strconv.Itoa(os.Getpid())}, " ")
	if _, err := c.ask(ctx, "set-option", "-t", s.ID, mark, s.mark); err != nil {
		return err
	}
	c.keepOnFailure(ctx, s.Monitor)
	c.keepShares(ctx, s)
	_, _ = c.ask(ctx, "select-pane", "-t", s.Monitor) // it gets the keys
	return nil
}

// keepShares keeps the places and shares of the panes when the window is resized: by
// itself, tmux takes as many cells from the runner as from the monitor. Panes that a person
// added stay where they are. A server that is too old ignores it, and nothing depends on it.
func (c *Client) keepShares(ctx context.Context, s *Session) {
	hook := fmt.Sprintf("if-shell -F '#{==:#{window_panes},2}' { if-shell -F '#{e|<:#{window_width},%d}' "+
		"{ move-pane -dv -s %s -t %s ; resize-pane -t %[2]s -y %[4]d%% } "+
		"{ move-pane -bdh -s %[2]s -t %[3]s ; resize-pane -t %[2]s -x %[5]d%% } }",
		minWide, s.Runner, s.Monitor, shareBelow, shareLeft)
	_, _ = c.ask(ctx, "set-hook", "-w", "-t", s.Monitor, "window-resized", hook)
}

// keepOnFailure closes the pane when its program succeeds. Some servers are too old
// for pane options or this value; nothing depends on them.
func (c *Client) keepOnFailure(ctx context.Context, id string) {
	_, _ = c.ask(ctx, "set-option", "-p", "-t", id, "remain-on-exit", "failed")
}

// monitorOf is the pane option by which Beside recognizes its monitors. Its value is
// the project's folder.
const monitorOf = "@ralph-monitor"

// Beside splits the pane target and starts the monitor in the new pane, on the
// right or, in a narrow window, above. It returns that pane, or the one of a
// monitor of the same folder that already runs in this window. A new one gets the focus.
func (c *Client) Beside(ctx context.Context, target string, l Layout) (string, error) {
	p, err := c.Pane(ctx, target)
	if err != nil {
		return "", err
	}
	if id := c.beside(ctx, target, l.Dir); id != "" {
		return id, nil
	}
	l.Env = Forward(l.Env)
	id, err := c.split(ctx, l, nil, splitting{target: target, argv: l.Monitor, wide: p.Width >= minWide})
	if err != nil {
		return "", err
	}
	c.keepOnFailure(ctx, id)
	_, _ = c.ask(ctx, "set-option", "-p", "-t", id, monitorOf, l.Dir)
	_, _ = c.ask(ctx, "select-pane", "-t", id) // it gets the keys
	return id, nil
}

// beside returns the pane of a running monitor in the target's window, and closes
// one that failed. It also returns "" if the server has no pane options.
func (c *Client) beside(ctx context.Context, target, dir string) string {
	out, err := c.ask(ctx, "list-panes", "-t", target, "-F", "#{pane_id} #{pane_dead} #{"+monitorOf+"}")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimRight(line, "\n"), " ", 3)
		switch {
		case len(words) < 3 || words[2] != dir:
		case words[1] == "1":
			_, _ = c.ask(ctx, "kill-pane", "-t", words[0])
		default:
			return words[0]
		}
	}
	return ""
}

// Find returns the session of this exact name, nil if there is none. It fails if
// the session exists but is not from Open.
func (c *Client) Find(ctx context.Context, name string) (*Session, error) {
	out, err := c.ask(ctx, "list-sessions", "-F", "#{session_id} #{session_name} #{"+mark+"}")
	if errors.Is(err, ErrNoServer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 2 || words[1] != name {
			continue
		}
		if len(words) != 5 {
			return nil, fmt.Errorf("use tmux session %q: it was not opened by ralph", name)
		}
		return &Session{ID: words[0], Name: name, Runner: words[2], Monitor: words[3],
			mark: strings.Join(words[2:], " ")}, nil
	}
	return nil, nil
}

// Attach shows the session in the terminal of this process until the user detaches,
// the session ends, or ctx does; none of them is an error.
func (c *Client) Attach(ctx context.Context, s *Session) error {
	cmd, err := c.command(ctx, "", "attach-session", "-t", s.ID)
	if err != nil {
		return err
	}
	var bad bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &bad
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return failure("attach-session", bad.String(), err)
	}
	return nil
}

// Pane is the state of one pane.
type Pane struct {
	ID            string
	Width, Height int
	Dead          bool // its program has ended; the last screen stays
	Status        int  // exit status of a dead pane; -1 after a signal
}

// Pane returns the state of a pane. The error wraps ErrGone if it was closed.
func (c *Client) Pane(ctx context.Context, id string) (Pane, error) {
	a, err := c.askPane(ctx, id)
	if err != nil || !a.Dead || a.known || a.pid <= 0 || a.server <= 0 {
		return a.Pane, err
	}
	// libutempter, which many builds of tmux use, can swallow the server's SIGCHLD
	// at the end of a pane, so that tmux never learns the status. One more signal
	// makes it check all its children.
	_ = syscall.Kill(a.server, syscall.SIGCHLD)
	if a, err = c.askPane(ctx, id); err != nil {
		return Pane{}, err
	}
	// A program's terminal closes a moment before the program ends.
	a.Dead = a.Dead && (a.known || syscall.Kill(a.pid, 0) != nil)
	return a.Pane, nil
}

// answer has what tmux knows about a pane.
type answer struct {
	Pane
	known       bool // tmux knows how the program ended
	pid, server int  // processes: the pane's program, the tmux server
}

func (c *Client) askPane(ctx context.Context, id string) (answer, error) {
	const format = "#{pane_id},#{pane_width},#{pane_height},#{pane_dead},#{pane_dead_status},#{pane_dead_signal}," +
		"#{pane_pid},#{pid}"
	out, err := c.ask(ctx, "list-panes", "-t", id, "-F", format)
	if err != nil {
		return answer{}, err
	}
	for line := range strings.Lines(out) {
		words := strings.Split(strings.TrimSpace(line), ",")
		if len(words) != 8 || words[0] != id {
			continue
		}
		a := answer{Pane: Pane{ID: id, Dead: words[3] == "1", Status: -1}, known: words[4]+words[5] != ""}
		a.Width, _ = strconv.Atoi(words[1])
		a.Height, _ = strconv.Atoi(words[2])
		if words[4] != "" {
			a.Status, _ = strconv.Atoi(words[4])
		}
		a.pid, _ = strconv.Atoi(words[6])
		a.server, _ = strconv.Atoi(words[7])
		return a, nil
	}
	return answer{}, fmt.Errorf("find pane %q: %w", id, ErrGone)
}

// Close ends the session. If it is gone, or another session has its id now, it does nothing.
func (c *Client) Close(ctx context.Context, s *Session) error {
	now, err := c.Find(ctx, s.Name)
	if err != nil || now == nil || now.ID != s.ID || now.mark != s.mark {
		return err
	}
	_, err = c.ask(ctx, "kill-session", "-t", s.ID)
	if errors.Is(err, ErrGone) || errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}
