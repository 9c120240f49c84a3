package ptyexec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// feedBound is how long Run waits for a pending Read of Stdin.
const feedBound = 100 * time.Millisecond

// startTries is how many guards start starts, if each is killed immediately.
const startTries = 3

// guards has the pid of each guard that this process has not yet waited for.
var guards sync.Map

// child is the runner's end of a started command.
type child struct {
	name    string
	path    string // of its program
	mark    uint64 // of its processes
	guard   *os.Process
	control *os.File // to the guard
	report  *os.File // from the guard
	stdin   *os.File // write end
	out     *os.File // pty master or read end; deadlines work
	tty     bool
}

// start starts the command under a guard.
func start(c Command) (*child, error) {
	if !initialised.Load() {
		return nil, errors.New("start child: ptyexec.Init was not called at the start of main")
	}
	s, err := newSpec(c)
	if err != nil {
		return nil, err
	}
	if s.tty {
		if ch := c.Spare.take(); ch != nil {
			if err := ch.tell(c, s); err == nil {
				return ch, nil
			}
			ch.close() // the spare guard was killed
		}
	}
	for try := 1; ; try++ {
		ch, err := newChild(s.tty)
		if err == nil {
			err = ch.tell(c, s)
		}
		if err == nil {
			return ch, nil
		}
		ch.close()
		if !errors.Is(err, syscall.EPIPE) || try == startTries { // EPIPE: the guard was killed before it knew anything
			return nil, fmt.Errorf("start guard of %q: %w", c.Args[0], err)
		}
	}
}

// newChild starts a guard that does not know yet what to run. Close the child even
// after an error.
func newChild(tty bool) (*child, error) {
	ch := &child{tty: tty}
	files, err := ch.open()
	defer closeAll(files)
	if err != nil {
		return ch, err
	}
	self, err := selfPath()
	if err != nil {
		return ch, err
	}
	becomeReaper() // of what a guard leaves that is killed
	sys := &syscall.SysProcAttr{Setsid: true}
	EndWithParent(sys, syscall.SIGCONT) // a stopped guard must see that the runner is dead
	ch.guard, err = os.StartProcess(self, []string{guardName}, &os.ProcAttr{Files: files, Sys: sys})
	if err == nil {
		guards.Store(ch.guard.Pid, true)
	}
	return ch, err
}

// open sets the runner's ends and returns the guard's, in the order of its
// descriptors; close them even after an error.
func (ch *child) open() (far []*os.File, err error) {
	far = make([]*os.File, 5)
	if far[fdNull], err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil { // file: of the system
		return far, err
	}
	if far[fdStdin], ch.stdin, err = os.Pipe(); err != nil {
		return far, err
	}
	if far[fdControl], ch.control, err = os.Pipe(); err != nil {
		return far, err
	}
	if ch.report, far[fdReport], err = os.Pipe(); err != nil {
		return far, err
	}
	if ch.tty {
		ch.out, far[fdOutput], err = openTerminal()
	} else {
		ch.out, far[fdOutput], err = os.Pipe()
	}
	return far, err
}

// tell makes the guard start the command.
func (ch *child) tell(c Command, s spec) error {
	ch.name, ch.path, ch.mark = c.Args[0], s.path, s.mark
	if ch.tty {
		if err := resize(ch.out, c.Size); err != nil {
			return fmt.Errorf("set terminal size: %w", err)
		}
	}
	if c.Stdin == nil {
		_ = ch.stdin.Close()
	}
	_, err := ch.control.Write(s.encode())
	return err
}

// openTerminal opens a pty in raw mode: it passes every byte unchanged and without
// an echo.
func openTerminal() (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	if _, err := term.MakeRaw(int(slave.Fd())); err != nil {
		return nil, slave, err
	}
	// As opened, the master ignores deadlines, and Close would not end a Read.
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, slave, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, slave, err
	}
	master = os.NewFile(uintptr(fd), blocking.Name())
	return master, slave, nil
}

// resize sets the size of the terminal.
func resize(master *os.File, size Size) error {
	if size == (Size{}) {
		size = Size{Rows: 24, Cols: 80}
	}
	conn, err := master.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	})
	return errors.Join(err, failed)
}

// feed copies the prompt to the child and closes its stdin. It is not an error if the
// child has ended or does not read it.
func (ch *child) feed(prompt io.Reader) {
	if prompt == nil {
		return
	}
	_, _ = io.Copy(ch.stdin, prompt)
	_ = ch.stdin.Close()
}

// close ends a guard that still runs, waits for it, and frees what start opened.
func (ch *child) close() {
	ch.free()
	ch.reap()
}

// free ends a guard that still runs and frees what start opened. reap must follow.
func (ch *child) free() {
	if ch.guard != nil {
		_ = ch.guard.Kill() // it should end by itself, but a stopped one would not
	}
	closeAll([]*os.File{ch.control, ch.report, ch.stdin, ch.out})
}

// reap waits for the guard, and collects orphans that have ended.
func (ch *child) reap() {
	if ch.guard != nil {
		collectOrphans(ch.guard.Pid)
		guards.Delete(ch.guard.Pid) // before Wait: afterwards the number may be another guard's
		_, _ = ch.guard.Wait()
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // a nil or closed file only gives an error
	}
}

func newSpec(c Command) (spec, error) {
	if len(c.Args) == 0 {
		return spec{}, errors.New("start child: no arguments")
	}
	s := spec{args: c.Args, tty: !c.Pipe, prompt: c.Stdin != nil, grace: c.KillGrace, mark: newMark(), confine: c.Confine.Encode()}
	var err error
	if s.cover, err = c.Cover.Encode(); err != nil {
		return spec{}, err
	}
	if s.dir, err = workingDir(c.Dir); err != nil {
		return spec{}, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	// os/exec is only for the environment: no duplicates, PWD for a nil Env.
	s.env = (&exec.Cmd{Env: c.Env, Dir: c.Dir}).Environ()
	if s.path, err = lookUp(c.Args[0], s.dir, s.env); err != nil {
		return spec{}, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	if len(c.After) > 0 {
		program, err := lookUp(c.After[0], s.dir, s.env)
		if err != nil {
			return spec{}, fmt.Errorf("find %q: %w", c.After[0], err)
		}
		s.after = slices.Concat([]string{program}, c.After[1:])
	}
	return s, nil
}

// workingDir returns dir as an absolute path, which must be a directory.
func workingDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("enter working directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("enter working directory %q: %w", abs, syscall.ENOTDIR)
	}
	return abs, nil
}

// LookUp returns the program file that Run would start.
func LookUp(c Command) (string, error) {
	s, err := newSpec(c)
	return s.path, err
}

// lookUp finds the program file like execvp, but never in a relative element of
// PATH: that would run a file of the project.
func lookUp(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	path := Getenv(env, "PATH")
	failed := fmt.Errorf("%w in PATH %q", ErrNotFound, path)
	for _, element := range filepath.SplitList(path) {
		if !filepath.IsAbs(element) {
			continue
		}
		file := filepath.Join(element, name)
		err := executable(file)
		if err == nil {
			return file, nil
		}
		if errors.Is(err, ErrNotExecutable) && !errors.Is(failed, ErrNotExecutable) {
			failed = err
		}
	}
	return "", failed
}

// Getenv returns a variable of an environment; of equal names, the last counts.
func Getenv(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// executable returns nil, ErrNotFound, or ErrNotExecutable, naming the file.
func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w at %q", ErrNotFound, file)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotExecutable, err)
	case info.IsDir():
		return fmt.Errorf("%w: %q is a directory", ErrNotExecutable, file)
	case unix.Access(file, unix.X_OK) != nil:
		return fmt.Errorf("%w: %q has mode %v", ErrNotExecutable, file, info.Mode())
	}
	return nil
}

// startError translates the errno of a failed exec. The file exists, so "missing"
// means the interpreter in its first line, or the loader of a program.
func startError(file string, errno syscall.Errno) error {
	switch errno {
	case syscall.ENOENT:
		return fmt.Errorf("start %q: %w: its interpreter%s is missing", file, ErrNotFound, interpreter(file))
	case syscall.ENOEXEC:
		return fmt.Errorf("start %q: %w: it is neither a script with a #! line nor a program for this machine", file,
			ErrNotExecutable)
	case syscall.EACCES:
		return fmt.Errorf("start %q: %w: %w", file, ErrNotExecutable, errno)
	default:
		return fmt.Errorf("start %q: %w", file, errno)
	}
}

// interpreter is what the first line of a script names, quoted, after a space; empty: the file is no script.
func interpreter(file string) string {
	f, err := os.Open(file) // file: of the system
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 256)) // the kernel reads no more
	line, _, _ := strings.Cut(string(head), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	return fmt.Sprintf(" %q", words[0])
}

// Startable says why the system refuses to start a program file. It begins to start the file,
// and ends it before its first instruction. A system without ptrace does not tell.
func Startable(file string) error {
	cmd := &exec.Cmd{Path: file, Args: []string{file}, SysProcAttr: &syscall.SysProcAttr{Ptrace: true}}
	err := cmd.Start()
	if err == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return nil
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		err = startError(file, errno)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotExecutable) {
		return err
	}
	return nil // such as EPERM: the file may well start
}

// Spare keeps a guard with its pty ready. A guard takes some milliseconds to start, like
// this program; with a Spare, that happens while the previous command runs. Share one
// among Commands that run one after another. The zero value is ready to use; a nil Spare
// does nothing. It is safe for concurrent use.
type Spare struct {
	mu    sync.Mutex
	ready *child
	done  bool
	going sync.WaitGroup // guards that are about to end
}

// take returns the spare, or nil.
func (s *Spare) take() *child {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.ready
	s.ready = nil
	return ch
}

// spareDelay delays the start of a spare, so that it does not compete with the start of the child.
const spareDelay = 100 * time.Millisecond

// refill starts the next spare in the background, a little later. If that fails, the next command
// starts without one and reports why.
func (s *Spare) refill() {
	if s != nil {
		time.AfterFunc(spareDelay, s.fill)
	}
}

func (s *Spare) fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil || s.done {
		return
	}
	ch, err := newChild(true)
	if err != nil {
		ch.close()
		return
	}
	s.ready = ch
}

// reap waits for the guard of a command that is over; with a Spare, in the background: nothing of the
// command is left, and a guard takes a millisecond to go.
func (s *Spare) reap(ch *child) {
	if s == nil {
		ch.reap()
		return
	}
	s.going.Go(ch.reap)
}

// Close ends the spare guard and waits until no guard is left. Commands may still use s, but without its help.
func (s *Spare) Close() {
	defer s.going.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.ready != nil {
		s.ready.close()
		s.ready = nil
	}
}
