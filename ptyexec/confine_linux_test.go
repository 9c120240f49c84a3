package ptyexec

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ralph/ptyexec/confine"
)

// needLandlock skips a test where the kernel cannot confine.
func needLandlock(t *testing.T, version int) {
	t.Helper()
	if v := confine.Version(); v < version {
		t.Skipf("Landlock %d is needed; the kernel has %d", version, v)
	}
}

// system are the paths that any program needs.
func system() []string { return []string{"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/dev"} }

func TestRun_confined_touchesOnlyWhatItMay(t *testing.T) {
	needLandlock(t, confine.Min)
	root := t.TempDir()
	for _, dir := range []string{"project", "secrets", "readable"} {
		if err := os.MkdirAll(filepath.Join(root, dir, "below"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "file"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	limits := &confine.Limits{Read: append(system(), filepath.Join(root, "readable")), Write: []string{filepath.Join(root, "project"), "/dev"}}
	tests := []struct {
		name, script string
		want         bool
	}{
		{"read a secret", "cat secrets/file", false},
		{"list secrets", "ls secrets", false},
		{"read through a link", "ln -s ../secrets/file project/link && cat project/link", false},
		{"read through a hard link", "ln secrets/file project/hard && cat project/hard", false},
		{"empty a secret", ": > secrets/file", false},
		{"truncate", "truncate -s 0 readable/file", false},
		{"remove", "rm -f readable/file; test ! -e readable/file", false},
		{"write what is only readable", "echo x > readable/file", false},
		{"make a file elsewhere", "echo x > new", false},
		{"move out", "mv project/file readable/", false},
		{"read", "cat readable/file", true},
		{"work in the project", "mkdir project/a && echo x > project/a/b && mv project/a/b project/below/ && rm -r project/a", true},
		{"print on the terminal", "test -t 1 && echo x > /dev/null && echo x > /dev/tty", true},
		{"a grandchild is confined, too", "setsid sh -c 'cat secrets/file'", false},
		{"signal a process outside", fmt.Sprintf("kill -0 %d", os.Getpid()), confine.Version() < 6},
		{"signal the guard", "kill -0 $PPID", confine.Version() < 6},
		{"look into the guard", "cat /proc/$PPID/environ", false},
		{"speak for the guard", "test -e /proc/$PPID/fd/4", false},
		{"signal a child", "sleep 60 & kill $!", true},
	}
	for _, spare := range []*Spare{nil, {}} {
		for _, test := range tests {
			exit, out := capture(t, Command{Args: []string{"/bin/sh", "-c", test.script}, Dir: root, Confine: limits, Spare: spare})
			if (exit.Code == 0) != test.want {
				t.Errorf("%s: exit %d, want success: %v\n%s", test.name, exit.Code, test.want, out)
			}
		}
		if spare != nil {
			spare.Close()
		}
	}
	for _, dir := range []string{"secrets", "readable"} {
		if b, err := os.ReadFile(filepath.Join(root, dir, "file")); string(b) != "text" {
			t.Errorf("%s: %q, %v", dir, b, err)
		}
	}
}

func TestRun_confined_leavesNothingBehind(t *testing.T) {
	needLandlock(t, confine.Min)
	dir := t.TempDir()
	// Until it has a session of its own, the end of the shell would end it.
	exit, out := capture(t, Command{Args: []string{"/bin/sh", "-c", "setsid sh -c ': > ready; exec sleep 600' & until test -e ready; do sleep 0.01; done; echo up"},
		Dir: dir, Confine: &confine.Limits{Read: []string{"/"}, Write: []string{"/dev", dir}}})
	if exit.Leftover != 1 || !strings.Contains(out, "up") {
		t.Errorf("got %+v, %q; want one process ended", exit, out)
	}
}

func TestRun_confined_connectsOnlyToItsPorts(t *testing.T) {
	needLandlock(t, confine.TCP)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := uint16(listener.Addr().(*net.TCPAddr).Port)
	for _, test := range []struct {
		ports []uint16
		want  int
	}{{nil, 0}, {[]uint16{}, 1}, {[]uint16{port}, 0}, {[]uint16{port ^ 1}, 1}} {
		exit, out := capture(t, Command{Args: []string{"/bin/bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port)},
			Confine: &confine.Limits{Read: []string{"/"}, Write: []string{"/dev"}, Ports: test.ports}})
		if exit.Code != test.want {
			t.Errorf("ports %v: exit %d, want %d\n%s", test.ports, exit.Code, test.want, out)
		}
	}
}

func TestErrnoOf_unknownError_saysThatTheKernelLacksIt(t *testing.T) {
	if got := errnoOf(errors.New("no errno")); got != syscall.ENOSYS {
		t.Errorf("got %v", got)
	}
}
