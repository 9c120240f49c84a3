package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
)

// inTerminal lets another program have the terminal, once the key is handled.
func (u *ui) inTerminal(program func() error) {
	u.later = append(u.later, func() {
		var err error
		u.app.Suspend(func() { err = program() })
		if err != nil {
			defer u.lock()()
			u.fail(err.Error())
		}
	})
}

// editedBy runs a verb that opens an editor. The error is the last line that the verb wrote as one.
func editedBy(ralph, verb []string) error {
	problems, err := os.CreateTemp("", "ralph-verb-")
	if err != nil {
		return err
	}
	defer os.Remove(problems.Name())
	defer problems.Close()
	cmd := exec.Command(ralph[0], slices.Concat(ralph[1:], verb)...) //nolint:noctx // only the user ends it
	cmd.Stderr = problems
	if err = foreground(cmd); err != nil {
		out, _ := os.ReadFile(problems.Name()) // file: a temporary file
		return fmt.Errorf("%s failed: %s", strings.Join(verb[:2], " "), cmp.Or(act.Problem(out), err.Error()))
	}
	return nil
}

const pagerBytes = 64 << 20 // the pager gets the end of a longer log

// pageFile shows a copy of a file of the state directory in the pager.
func (u *ui) pageFile(path string) {
	dir := state.Project(u.feed.Reader().Dir())
	u.inTerminal(func() error {
		file, err := dir.Open(path)
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
		return inPager(filepath.Base(path)+".txt", string(data))
	})
}

// inPager shows a text in $PAGER, without escape sequences: some pagers pass them to the terminal.
func inPager(name, text string) error {
	command := pagerCommand()
	if command == nil {
		return errors.New("open log: set $PAGER or install less")
	}
	folder, err := os.MkdirTemp("", "ralph-log-")
	if err != nil {
		return fmt.Errorf("copy log: %w", err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(termtext.Clean(text)), 0o600); err != nil { // file: a copy or a terminal
		return fmt.Errorf("copy log: %w", err)
	}
	// Only the user ends the pager. Killed, it would leave the terminal in raw mode.
	return foreground(exec.Command(command[0], append(command[1:], path)...)) //nolint:noctx // see above
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
