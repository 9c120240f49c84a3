package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/view"
)

// control runs "ralph VERB" in the background and shows its result.
func (u *ui) control(name string) {
	defer u.lock()()
	if len(u.o.Ralph) > 0 && !u.model.Alive {
		u.say("no runner is alive here; start one with: ralph")
		return
	}
	u.act(name)
}

// act runs ralph with arguments in the background and shows its result. u is locked.
func (u *ui) act(args ...string) {
	if len(u.o.Ralph) == 0 {
		u.fail(view.Join(": ", args[0]+" failed", cmp.Or(u.o.NoControl, "this screen cannot control the runner")))
		return
	}
	u.say("%s …", args[0])
	go func() {
		defer u.caught()
		text, ok := runVerb(u.ralph(), args...)
		defer u.redraw()
		defer u.lock()()
		if !ok {
			u.fail(text)
			return
		}
		u.say("%s", text)
	}()
}

// ralph runs verbs.
func (u *ui) ralph() act.Ralph { return act.Ralph{Command: u.o.Ralph} }

// runVerb returns the last line that the verb printed, or why it failed.
func runVerb(ralph act.Ralph, args ...string) (text string, ok bool) {
	name := args[0]
	if name == "task" || name == "agent" {
		name += " " + args[1]
	}
	said := ralph.Run(context.Background(), args...)
	if said.Err != nil {
		return name + " failed: " + said.Line(), false
	}
	return cmp.Or(said.Line(), name+" requested"), true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

const pagerBytes = 64 << 20 // the pager gets the end of a longer log

// path is the file of the log or the raw output on the screen.
func (u *ui) path() string {
	if u.page != nil {
		return u.feed.Reader().RawPath(u.run(), u.page.of)
	}
	return u.feed.Reader().LiveLogPath()
}

// file is path relative to the project.
func (u *ui) file() string { return view.Within(filepath.Dir(u.feed.Reader().Dir()), u.path()) }

// unfiled is what is on the screen but not in a file: a review, a filtered log, or the
// tasks before the first run. An empty name: it is in the file path.
func (u *ui) unfiled() (name string, lines []string) {
	switch {
	case u.page != nil && u.page.tail == nil:
		for _, l := range u.page.logView.lines {
			lines = append(lines, l.Text)
		}
		if u.page.filter != nil {
			return "log.txt", lines
		}
		return fmt.Sprintf("iteration-%d.diff", u.page.of), lines
	case u.page == nil && u.listsTasks():
		return "tasks.txt", u.plan
	}
	return "", nil
}

// openWith opens what is on the screen in another program.
func (u *ui) openWith(program func(path string) error) {
	u.mu.Lock()
	path := u.path()
	name, lines := u.unfiled()
	u.mu.Unlock()
	var err error
	u.app.Suspend(func() {
		if name == "" {
			if err = u.plain(path); err == nil {
				err = program(path)
			}
			return
		}
		err = withCopy(name, strings.Join(lines, "\n")+"\n", program)
	})
	if err != nil {
		defer u.lock()()
		u.fail(err.Error())
	}
}

// plain says what is in the place of a file of the state directory; nil: a plain file, or nothing.
func (u *ui) plain(path string) error {
	f, err := state.Project(u.feed.Reader().Dir()).Open(path)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the program says so
	}
	return err
}

// withCopy runs a program with a file of its own, without escape sequences: some pagers
// pass them to the terminal.
func withCopy(name, text string, program func(path string) error) error {
	folder, err := os.MkdirTemp("", "ralph-log-")
	if err != nil {
		return fmt.Errorf("copy log: %w", err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(termtext.Clean(text)), 0o600); err != nil { // file: a copy or a terminal
		return fmt.Errorf("copy log: %w", err)
	}
	return program(path)
}

// inPager shows a copy of a file.
func inPager(path string) error {
	command := pagerCommand()
	if command == nil {
		return fmt.Errorf("open log: set $PAGER or install less")
	}
	file, err := os.Open(path) // file: openWith has looked at it
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > pagerBytes {
		_, _ = file.Seek(-pagerBytes, io.SeekEnd)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	return withCopy(filepath.Base(path)+".txt", string(data), func(copied string) error {
		// Only the user ends the pager. Killed, it would leave the terminal in raw mode.
		return foreground(exec.Command(command[0], append(command[1:], copied)...)) //nolint:noctx // see above
	})
}

// inEditor opens the file itself.
func inEditor(path string) error {
	if !exists(path) {
		return fmt.Errorf("open %s: it does not exist", filepath.Base(path))
	}
	for _, text := range []string{os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"} {
		if words := strings.Fields(text); len(words) > 0 {
			return foreground(exec.Command(words[0], append(words[1:], path)...)) //nolint:noctx // the user ends it
		}
	}
	return nil
}

// pagerCommand is $PAGER, else $EDITOR, else less.
func pagerCommand() []string {
	for _, text := range []string{os.Getenv("PAGER"), os.Getenv("EDITOR"), "less", "more"} {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if _, err := exec.LookPath(words[0]); err == nil {
			return words
		}
	}
	return nil
}

// foreground runs a program as the foreground process group of the terminal, so that
// Ctrl-C reaches it and not this process.
func foreground(cmd *exec.Cmd) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0) // file: a copy or a terminal
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout = tty, tty
	if cmd.Stderr == nil {
		cmd.Stderr = tty
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: int(tty.Fd())}
	// This process takes the terminal back from the background, where SIGTTOU would stop it.
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	if err = cmd.Start(); err == nil {
		err = stay(cmd.Process)
		_ = cmd.Process.Release()
	}
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, syscall.Getpgrp())
	if err != nil {
		return fmt.Errorf("run %s: %w", filepath.Base(cmd.Path), err)
	}
	return nil
}

// stay waits for the end of a program. It resumes one that stops itself, as less does for
// Ctrl-Z: there is no shell to resume it, and the screen would stay blocked.
func stay(p *os.Process) error {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		case status.Stopped():
			_ = syscall.Kill(-p.Pid, syscall.SIGCONT)
		case status.Exited() && status.ExitStatus() != 0:
			return fmt.Errorf("exit status %d", status.ExitStatus())
		default: // also after Ctrl-C, which is a way to leave it
			return nil
		}
	}
}

// stopSelf stops this process as Ctrl-Z does, until the shell resumes it. It sends
// SIGSTOP because the Go runtime swallows SIGTSTP once signal.Notify was called for it.
func stopSelf() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	time.Sleep(20 * time.Millisecond) // the signal may reach another thread first
}

// underShell reports whether a shell with job control can resume this process: its
// parent is in the same session but in another process group.
func underShell() bool {
	parent := syscall.Getppid()
	group, err := syscall.Getpgid(parent)
	if err != nil || group == syscall.Getpgrp() {
		return false
	}
	theirs, err1 := unix.Getsid(parent)
	ours, err2 := unix.Getsid(0)
	return err1 == nil && err2 == nil && theirs == ours
}
