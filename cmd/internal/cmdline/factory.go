// Package cmdline has what all verbs share: streams, environment, project, configuration, option
// flags, and errors with an exit code.
package cmdline

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"ralph/cmd/internal/config"
	"ralph/cmd/internal/undo"
	"ralph/logs/termtext"
	"ralph/state"
)

// Factory is what a verb needs from its process. Verbs copy it to change it.
type Factory struct {
	Program  string // ralph, ralph-monitor or ralph-status; empty: ralph
	In       *os.File
	Out, Err io.Writer
	Env      []string // NAME=value, as os.Environ returns it
	Dir      string   // value of --dir; empty: look for the project
	Watched  bool     // the monitor is shown beside this program
	Shows    bool     // nothing will run: consent that a run needs is only named
	// Verb is the verb that is called; empty: none is known, and all are made.
	Verb string

	answers *bufio.Reader // of In, once somebody was asked
}

// New is the factory of this process.
func New() *Factory {
	return &Factory{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}
}

// Links are the names of links to ralph that stand for a verb.
func Links() []string { return []string{"ralph-monitor", "ralph-status"} }

// Ralph returns the path of ralph, for programs that run its verbs: this program, behind all
// links. A copy with the name of a link cannot run other verbs: for it, the ralph in the same
// folder, else the first in PATH.
func (f *Factory) Ralph() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find ralph: %w", err)
	}
	if file, err := filepath.EvalSymlinks(self); err == nil { // outside Linux, self is the path of the call
		self = file
	}
	const name = "ralph"
	if !slices.Contains(Links(), filepath.Base(self)) {
		return self, nil
	}
	if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find ralph: it is neither beside %s nor in PATH", f.Program)
	}
	return path, nil
}

// Project is the absolute path of the project folder.
func (f *Factory) Project() (string, error) {
	if f.Dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find project: %w", err)
		}
		return withoutLink(config.FindProject(here))
	}
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		return "", fmt.Errorf("find project: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", UsageError("--dir %q is not a folder", f.Dir)
	}
	return withoutLink(dir)
}

// Reader opens the state of the project.
func (f *Factory) Reader() (r *state.Reader, dir string, err error) {
	if dir, err = f.Project(); err != nil {
		return nil, "", err
	}
	return OpenState(dir), dir, nil
}

// OpenState opens the state of the project in dir.
func OpenState(dir string) *state.Reader { return state.Open(filepath.Join(dir, state.DirName)) }

// Lock locks a state directory for a verb, so that no run starts meanwhile, and warns about unusable files that
// it had to set aside. It fails with *state.LockedError when a run is alive.
func (f *Factory) Lock(dir, verb string) (*state.Writer, error) {
	w, _, err := f.LockAndRecover(dir, state.Owner{PID: os.Getpid(), RunID: verb, StartedAt: time.Now()})
	return w, err
}

// WithLock locks the state of the project for a verb of a person, and releases it after do; what as for RefuseAgent.
func (f *Factory) WithLock(verb, what string, do func(w *state.Writer) error) error {
	r, _, err := f.AsPerson(what)
	if err != nil {
		return err
	}
	w, err := f.Lock(r.Dir(), verb)
	if err != nil {
		return err
	}
	defer w.Release()
	return do(w)
}

// LockAndRecover is Lock, and says what became of a ralph undo that was killed.
//
//nolint:contextcheck,nolintlint // for its callers: what was begun must end, also after a signal
func (f *Factory) LockAndRecover(dir string, owner state.Owner) (*state.Writer, undo.Recovered, error) {
	w, aside, err := state.Acquire(dir, owner)
	for _, e := range aside {
		f.Warn(e)
	}
	if err != nil {
		return nil, undo.Recovered{}, err
	}
	done, err := undo.Recover(context.Background(), w, f.Loader(filepath.Dir(dir), nil))
	if done.Said != "" {
		f.Note("%s", done.Said)
	}
	if err != nil {
		return nil, done, errors.Join(err, w.Release())
	}
	return w, done, nil
}

// Loader reads the configuration of the project in dir; flags maps an option's
// key to the value of its flag.
func (f *Factory) Loader(dir string, flags map[string]string) config.Loader {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	return config.Loader{Dir: dir, Cwd: here, Env: f.Env, Home: home, Flags: flags}
}

// Say prints a line. Much of the text comes from files that an agent can write,
// so control characters are removed.
func (f *Factory) Say(format string, args ...any) {
	fmt.Fprintln(f.Out, Inert(fmt.Sprintf(format, args...)))
}

// Note prints a line about a question to standard error.
func (f *Factory) Note(format string, args ...any) {
	fmt.Fprintln(f.Err, Inert(fmt.Sprintf(format, args...)))
}

// Warn prints a warning.
func (f *Factory) Warn(what any) {
	fmt.Fprintln(f.Err, "ralph: warning:", Inert(fmt.Sprint(what)))
}

// Inert makes text from elsewhere harmless for the terminal.
func Inert(s string) string { return termtext.Clean(s) }

// CanAsk reports whether a person can answer.
func (f *Factory) CanAsk() bool { return isatty.IsTerminal(f.In.Fd()) }

// answer reads a line from the person.
func (f *Factory) answer() (string, error) {
	if f.answers == nil {
		f.answers = bufio.NewReader(f.In)
	}
	line, err := f.answers.ReadString('\n')
	return strings.TrimSpace(line), err
}

// Agree asks a question; anything but yes means no.
func (f *Factory) Agree(question string) bool {
	fmt.Fprint(f.Err, question, " [y/N] ")
	answer, _ := f.answer()
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(answer))
}

// Ask reads answers until accept returns nil; Enter means preset. The error is
// for a person who ends the input early.
func (f *Factory) Ask(question, preset string, accept func(string) error) error {
	for {
		fmt.Fprintf(f.Err, "%s [%s]: ", question, preset)
		answer, err := f.answer()
		if err != nil {
			fmt.Fprintln(f.Err)
			return &ExitError{state.ExitInterrupted, "interrupted; nothing was written"}
		}
		if err = accept(cmp.Or(answer, preset)); err == nil {
			return nil
		}
		fmt.Fprintln(f.Err, Inert(err.Error()))
	}
}

// IsTerminal reports whether Out is a terminal.
func (f *Factory) IsTerminal() bool {
	file, ok := f.Out.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// Width of the terminal in cells; 0 without a terminal, where nothing is cut.
func (f *Factory) Width() int {
	if file, ok := f.Out.(*os.File); ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 0
}
