package ptyexec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	goflag "flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The children of the tests are this test binary, told by its arguments what to do.
func TestMain(m *testing.M) {
	Init()
	if len(os.Args) > 2 && os.Args[1] == "-child" {
		childModes()[os.Args[2]](os.Args[3:])
		syscall.Exit(0) // os.Exit would print about coverage, and take a second under the race detector
	}
	// In a guard that ends by itself, the race detector would sleep for a second.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	goflag.Parse()
	_ = goflag.Set("test.parallel", "8") // the parallel tests wait more than they compute
	os.Exit(m.Run())
}

func self(mode string, args ...string) []string {
	return append([]string{os.Args[0], "-child", mode}, args...)
}

func childModes() map[string]func(args []string) {
	return map[string]func([]string){
		"hash": func([]string) {
			h := sha256.New()
			n, err := io.Copy(h, os.Stdin)
			fmt.Printf("%d %x %v", n, h.Sum(nil), err)
		},
		"terminal":  func([]string) { describeTerminal() },
		"resize":    func([]string) { printSizes() },
		"bytes":     func([]string) { _, _ = os.Stdout.Write(allBytes()) },
		"lines":     func(args []string) { printLines(args[0]) },
		"flood":     func(args []string) { flood(args[0]) },
		"environ":   func([]string) { fmt.Print(strings.Join(os.Environ(), "\n")) },
		"arguments": func(args []string) { fmt.Printf("%q", os.Args) },
		"exit":      func(args []string) { syscall.Exit(number(args[0])) },
		"suicide":   func([]string) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
		"stubborn":  func([]string) { beStubborn() },
		"obedient": func([]string) {
			terminated := make(chan os.Signal, 1)
			signal.Notify(terminated, syscall.SIGTERM)
			fmt.Println("ready")
			<-terminated
			fmt.Print("goodbye")
			syscall.Exit(7)
		},
		"mute": func([]string) {
			for fd := range 3 {
				_ = syscall.Close(fd)
			}
			time.Sleep(300 * time.Millisecond) // sleep: it lives on in silence
			syscall.Exit(4)
		},
		"cooked": func([]string) {
			t, _ := unix.IoctlGetTermios(1, unix.TCGETS)
			t.Oflag |= unix.OPOST | unix.ONLCR
			t.Lflag |= unix.ECHO | unix.ICANON | unix.ISIG
			_ = unix.IoctlSetTermios(1, unix.TCSETS, t)
			fmt.Print("a\nb\n")
		},
		"final": func([]string) {
			fmt.Print("FINAL")
			time.Sleep(time.Minute) // sleep: it hangs after its result
		},
		"drip": func(args []string) {
			for range number(args[0]) {
				fmt.Print(".")
				time.Sleep(100 * time.Millisecond) // sleep: the pace of its output
			}
		},
		"parent":    beParent,
		"middle":    func(args []string) { startGrandchild(args[0]) },
		"parricide": func(args []string) { killParent(args[0], args[1]) },
		"hopper":    hop,
		"lowered": func([]string) {
			_ = unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 7, Max: 7})
			beStubborn()
		},
		"runner": runInside,
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func allBytes() []byte {
	var b []byte
	for range 300 {
		for v := range 256 {
			b = append(b, byte(v))
		}
	}
	return b
}

func printLines(count string) {
	var b bytes.Buffer
	for i := range number(count) {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	_, _ = os.Stdout.Write(b.Bytes())
}

func flood(mebibytes string) {
	b := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	for range number(mebibytes) * 16 {
		_, _ = os.Stdout.Write(b)
	}
}

func describeTerminal() {
	w, h, err := term.GetSize(1)
	t, _ := unix.IoctlGetTermios(1, unix.TCGETS)
	_, ttyErr := os.Open("/dev/tty")
	session, _ := unix.Getsid(0)
	fmt.Printf("size=%dx%d err=%v stdin=%v stdout=%v stderr=%v echo=%v opost=%v icanon=%v ctty=%v leader=%v",
		h, w, err, term.IsTerminal(0), term.IsTerminal(1), term.IsTerminal(2),
		t.Lflag&unix.ECHO != 0, t.Oflag&unix.OPOST != 0, t.Lflag&unix.ICANON != 0, ttyErr == nil, session == os.Getpid())
}

func printSizes() {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	fmt.Println("ready")
	<-changed
	w, h, _ := term.GetSize(1)
	fmt.Printf("now %dx%d", h, w)
}

func beStubborn() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	fmt.Println("ready")
	_ = os.Stdout.Close()
	time.Sleep(time.Minute) // sleep: only KILL ends it
}

// beParent starts a grandchild in the way of args[0], prints its pid, and then
// exits, or stays where args[1] says so.
func beParent(args []string) {
	if args[0] == "daemon" {
		middle := exec.Command(os.Args[0], "-child", "middle", "daemon")
		middle.Stdout, middle.Stderr = os.Stdout, os.Stderr
		middle.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := middle.Run(); err != nil {
			panic(err)
		}
	} else {
		startGrandchild(args[0])
	}
	switch args[1] {
	case "stay":
		time.Sleep(time.Minute) // sleep: it outlives its runner, if nobody ends it
	case "ignore":
		beStubborn()
	}
}

// startGrandchild prints "pid N" once the grandchild ignores TERM. All kinds hold
// the terminal open as their stderr.
func startGrandchild(kind string) {
	mode := "stubborn"
	if kind == "lowered" {
		kind, mode = "daemon", kind
	}
	cmd := exec.Command(os.Args[0], "-child", mode)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	switch kind {
	case "plain":
	case "setsid":
		cmd.SysProcAttr.Setsid = true
	case "daemon":
		cmd.SysProcAttr.Setsid = true
		cmd.Env = []string{}
		cmd.Dir = "/"
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		panic(err)
	}
	_, _ = io.ReadAll(out)
	fmt.Printf("pid %d\n", cmd.Process.Pid)
}

// killParent prints the pids of itself and of a grandchild that ignores TERM first. After KILL it hangs.
func killParent(sig, kind string) {
	signal.Ignore(syscall.SIGTERM)
	startGrandchild(kind)
	fmt.Printf("pid %d\n", os.Getpid())
	_ = syscall.Kill(os.Getppid(), syscall.Signal(number(sig)))
	if sig == "9" {
		time.Sleep(time.Minute) // sleep: it outlives its guard, if nobody ends it
	}
	syscall.Exit(6)
}

// hop is a process that is soon another one, with a new number. It notes each number in a file.
func hop(args []string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	_ = os.Stdout.Close()
	_ = os.WriteFile(args[0], []byte(strconv.Itoa(os.Getpid())), 0o600)
	time.Sleep(20 * time.Millisecond) // sleep: so often it changes
	_, _ = os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
}

// runInside is a runner in a process of its own.
func runInside(args []string) {
	var after []string
	if args[0] == "after" {
		after, args = []string{"sh", "-c", "echo ran >> " + args[1]}, args[2:]
	}
	c := Command{Args: self(args[0], args[1:]...), KillGrace: 200 * time.Millisecond, After: after}
	exit, err := Run(context.Background(), c, func(p []byte) bool {
		_, _ = os.Stdout.Write(p)
		return false
	})
	fmt.Printf("inner %+v %v", exit, err)
}

// captureBound is long for a busy machine, and shorter than what a test would
// otherwise wait for: a minute of grace, a child that hangs.
const captureBound = 30 * time.Second

// capture runs the command to its end, within captureBound, and returns its output.
func capture(t *testing.T, c Command) (Exit, string) {
	t.Helper()
	exit, out, err := try(t, c)
	if err != nil {
		t.Fatalf("Run: %v; output %q", err, out)
	}
	return exit, out
}

func try(t *testing.T, c Command) (Exit, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), captureBound)
	defer cancel()
	var out bytes.Buffer
	exit, err := Run(ctx, c, func(p []byte) bool {
		out.Write(p)
		return false
	})
	if ctx.Err() != nil {
		t.Fatalf("still running after %v; output %q", captureBound, out.String())
	}
	return exit, out.String(), err
}

// printedPids returns N of each line "pid N".
func printedPids(t *testing.T, out string) (pids []int) {
	t.Helper()
	for line := range strings.Lines(out) {
		var pid int
		if n, _ := fmt.Sscanf(line, "pid %d", &pid); n == 1 {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Fatalf("no pid in %q", out)
	}
	return pids
}

// wantGone fails if one of the processes lives.
func wantGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d is still there", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func gone(pid int) bool {
	p, err := stat(pid)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	return err == nil && p.state == "Z"
}

// descendants lists the tree below pid.
func descendants(pid int) (pids []int) {
	children, _ := processes(func(p process) bool { return p.parent == pid })
	for _, child := range children {
		pids = append(append(pids, child), descendants(child)...)
	}
	return pids
}

func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// eventually polls until it holds.
func eventually(t *testing.T, bound time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", bound, what)
		}
	}
}
