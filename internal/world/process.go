package world

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Process is a program that runs in a World.
type Process struct {
	*exec.Cmd
	Exited chan struct{} // closed when it has ended
	w      *World
	out    *os.File        // not a pipe, which a leftover child could keep open
	read   <-chan struct{} // closed: all that it printed on its terminal is in out; nil: it has none
}

// Prepare prepares a program that Launch starts in the project. It has no input; its
// output is recorded.
func (w *World) Prepare(name string, args ...string) *Process {
	w.Helper()
	out, err := os.CreateTemp("", "ralph-world-out-")
	w.Do(err)
	_ = os.Remove(out.Name())
	p := &Process{Cmd: exec.Command(program(name), args...), Exited: make(chan struct{}), w: w, out: out}
	p.Dir, p.Env, p.Stdout, p.Stderr = w.Dir, w.Env, out, out
	return p
}

// Launch starts a prepared program. It is killed when the test ends.
func (p *Process) Launch() {
	p.w.Helper()
	p.w.Do(p.Start())
	go func() {
		_ = p.Cmd.Wait() // the exit code is read from ProcessState
		close(p.Exited)
	}()
	p.w.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.Exited
		p.Forget()
	})
}

// Start starts a program in the project.
func (w *World) Start(name string, args ...string) *Process {
	w.Helper()
	p := w.Prepare(name, args...)
	p.Launch()
	return p
}

// OnTerminal starts a program as the session leader of a terminal. Its output is read
// continuously.
func (w *World) OnTerminal(name string, args ...string) (p *Process, otherEnd *os.File) {
	w.Helper()
	p = w.Prepare(name, args...)
	master, slave, err := pty.Open()
	w.Do(err)
	defer slave.Close()
	w.Do(pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}))
	p.Stdin, p.Stdout, p.Stderr = slave, slave, slave
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.Launch()
	w.Cleanup(func() { _ = master.Close() })
	read := make(chan struct{})
	p.read = read
	go func() {
		defer close(read)
		_, _ = io.Copy(p.out, master)
	}()
	return p, master
}

// Alive reports whether the program still runs.
func (p *Process) Alive() bool {
	select {
	case <-p.Exited:
		return false
	default:
		return true
	}
}

// Wait returns the exit code as a shell sees it.
func (p *Process) Wait(within time.Duration) int {
	p.w.Helper()
	select {
	case <-p.Exited:
	case <-time.After(within):
		p.w.Fatalf("%q still runs after %s:\n%s", p.Args, within, p.Said())
	}
	if p.read != nil {
		select {
		case <-p.read:
		case <-time.After(time.Second): // something else has the terminal open
		}
	}
	status := p.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Ends waits for the end and checks the exit code.
func (p *Process) Ends(code int) {
	p.w.Helper()
	if got := p.Wait(Patience); got != code {
		p.w.Errorf("%q ended with %d, want %d:\n%s", p.Args, got, code, p.Said())
	}
}

// Said returns the end of the output so far, at most 256 KiB.
func (p *Process) Said() string {
	const most = 256 << 10
	info, err := p.out.Stat()
	if err != nil {
		return ""
	}
	data := make([]byte, most)
	n, _ := p.out.ReadAt(data, max(0, info.Size()-most))
	return string(data[:n])
}

// Forget closes the record of the output.
func (p *Process) Forget() { _ = p.out.Close() }
