package ptyexec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRun_promptOfOneMebibyteArrivesWhole(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		prompt := bytes.Repeat([]byte("p\x00\x03\x04\n\xff"), 1<<20/6)
		exit, out := capture(t, Command{Args: self("hash"), Stdin: bytes.NewReader(prompt), Pipe: pipe})
		want := fmt.Sprintf("%d %x <nil>", len(prompt), sha256.Sum256(prompt))
		if out != want || exit.Code != 0 {
			t.Errorf("pipe %v: got %q, %+v; want %q", pipe, out, exit, want)
		}
	}
}

func TestRun_childThatNeverReadsItsPrompt_endsAtOnce(t *testing.T) {
	exit, _ := capture(t, Command{Args: self("exit", "3"), Stdin: bytes.NewReader(make([]byte, 1<<20))})
	if exit.Code != 3 || exit.Cause != CauseExited {
		t.Errorf("got %+v", exit)
	}
}

func TestRun_promptReaderThatBlocks_isLeftBehind(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	exit, _ := capture(t, Command{Args: self("exit", "0"), Stdin: r})
	if exit.Code != 0 {
		t.Errorf("got %+v", exit)
	}
}

func TestRun_noPrompt_stdinIsEmpty(t *testing.T) {
	_, out := capture(t, Command{Args: self("hash")})
	if !strings.HasPrefix(out, "0 e3b0c442") {
		t.Errorf("got %q", out)
	}
}

func TestRun_terminalIsRawSizedAndControlling(t *testing.T) {
	tests := []struct {
		name string
		c    Command
		want string
	}{
		{"default size", Command{}, "size=24x80 err=<nil> stdin=false stdout=true stderr=true echo=false opost=false icanon=false ctty=true leader=true"},
		{"own size", Command{Size: Size{Rows: 50, Cols: 211}}, "size=50x211 err=<nil> stdin=false stdout=true stderr=true echo=false opost=false icanon=false ctty=true leader=true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Args = self("terminal")
			if _, out := capture(t, tt.c); out != tt.want {
				t.Errorf("got  %q\nwant %q", out, tt.want)
			}
		})
	}
}

func TestRun_resize_childGetsTheSignalAndTheSize(t *testing.T) {
	sizes := make(chan Size, 1)
	var out bytes.Buffer
	exit, err := Run(t.Context(), Command{Args: self("resize"), Resize: sizes, Timeout: captureBound}, func(p []byte) bool {
		if out.Write(p); out.String() == "ready\n" {
			sizes <- Size{Rows: 33, Cols: 99}
			close(sizes)
		}
		return false
	})
	if err != nil || out.String() != "ready\nnow 33x99" || exit.Size != (Size{Rows: 33, Cols: 99}) {
		t.Errorf("got %q, %+v, %v", out.String(), exit, err)
	}
}

func TestRun_binaryOutputArrivesAsItIs(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		if _, out := capture(t, Command{Args: self("bytes"), Pipe: pipe}); out != string(allBytes()) {
			t.Errorf("pipe %v: %d bytes differ from the %d printed", pipe, len(out), len(allBytes()))
		}
	}
}

func TestRun_childThatEndsRightAfterPrinting_losesNothing(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, 500, 20000} {
		var want strings.Builder
		for i := range count {
			fmt.Fprintf(&want, "line %d\n", i)
		}
		for _, pipe := range []bool{false, true} {
			for range 5 {
				if _, out := capture(t, Command{Args: self("lines", fmt.Sprint(count)), Pipe: pipe}); out != want.String() {
					t.Errorf("%d lines, pipe %v: got %d of %d bytes", count, pipe, len(out), want.Len())
				}
			}
		}
	}
}

func TestRun_slowOutput_losesNothingAndEnds(t *testing.T) {
	t.Parallel()
	total := 0
	exit, err := Run(t.Context(), Command{Args: self("flood", "8")}, func(p []byte) bool {
		if total == 0 {
			time.Sleep(200 * time.Millisecond) // sleep: the pty fills meanwhile
		}
		if len(p) > chunkSize {
			t.Errorf("got %d bytes at once", len(p))
		}
		total += len(p)
		return false
	})
	if err != nil || exit.Code != 0 || total != 8<<20 {
		t.Errorf("got %d bytes, %+v, %v", total, exit, err)
	}
}

func TestRun_childChangesTheModes_nextChildStartsRaw(t *testing.T) {
	if _, out := capture(t, Command{Args: self("cooked")}); out != "a\r\nb\r\n" {
		t.Errorf("cooked: got %q", out)
	}
	if _, out := capture(t, Command{Args: self("lines", "1")}); out != "line 0\n" {
		t.Errorf("after it: got %q", out)
	}
}

func TestRun_environmentIsExactlyWhatWasAsked(t *testing.T) {
	_, out := capture(t, Command{Args: self("environ"), Env: []string{"B=2", "A=1", "B=3", "EMPTY="}})
	if out != "A=1\nB=3\nEMPTY=" {
		t.Errorf("got %q", out)
	}
	t.Setenv("PTYEXEC_INHERITED", "yes")
	if _, out := capture(t, Command{Args: self("environ")}); !strings.Contains(out, "PTYEXEC_INHERITED=yes") {
		t.Errorf("nil Env: got %q", out)
	}
}

func TestRun_childInheritsNoDescriptorOfOurs(t *testing.T) {
	list := []string{"sh", "-c", "ls -1 /proc/self/fd"}
	want, err := exec.Command(list[0], list[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pipe := range []bool{false, true} {
		if _, out := capture(t, Command{Args: list, Pipe: pipe, Stdin: strings.NewReader("")}); out != string(want) {
			t.Errorf("pipe %v: got %q, want %q", pipe, out, want)
		}
	}
}

func TestRun_exitStatus(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		code   int
		signal syscall.Signal
	}{
		{"success", self("exit", "0"), 0, 0},
		{"failure", self("exit", "117"), 117, 0},
		{"killed by itself", self("suicide"), -1, syscall.SIGKILL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit, _ := capture(t, Command{Args: tt.args})
			want := Exit{Code: tt.code, Signal: tt.signal, Cause: CauseExited, Duration: exit.Duration}
			if exit != want || exit.Duration <= 0 {
				t.Errorf("got %+v, want %+v", exit, want)
			}
		})
	}
}

func TestRun_argv0StaysAsGiven_directoryIsEntered(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "agent")); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=relative:/nowhere:" + dir}
	_, out := capture(t, Command{Args: []string{"agent", "-child", "arguments", "a b", ""}, Env: env})
	if want := `["agent" "-child" "arguments" "a b" ""]`; out != want {
		t.Errorf("by PATH: got %s, want %s", out, want)
	}
	_, out = capture(t, Command{Args: []string{"./agent", "-child", "arguments"}, Dir: dir})
	if want := `["./agent" "-child" "arguments"]`; out != want {
		t.Errorf("relative to Dir: got %s, want %s", out, want)
	}
	_, out = capture(t, Command{Args: []string{"/bin/pwd"}, Dir: dir})
	if out != dir+"\n" {
		t.Errorf("pwd: got %q", out)
	}
}

func TestRun_cannotStart_saysWhatAndWhere(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "x", 0o644)
	write("noformat", "hello", 0o755)
	write("orphan", "#!/no/such/interpreter\n", 0o755)
	env := []string{"PATH=/nowhere:" + dir}
	tests := []struct {
		name  string
		c     Command
		is    error
		words []string
	}{
		{"not in PATH", Command{Args: []string{"nope"}, Env: env}, ErrNotFound, []string{`"nope"`, "/nowhere:" + dir}},
		{"no PATH", Command{Args: []string{"true"}, Env: []string{}}, ErrNotFound, []string{`"true"`}},
		{"no such file", Command{Args: []string{dir + "/nope"}}, ErrNotFound, []string{dir + "/nope"}},
		{"no x bit", Command{Args: []string{dir + "/plain"}}, ErrNotExecutable, []string{dir + "/plain", "rw-r--r--"}},
		{"no x bit, by PATH", Command{Args: []string{"plain"}, Env: env}, ErrNotExecutable, []string{dir + "/plain"}},
		{"directory", Command{Args: []string{dir}}, ErrNotExecutable, []string{dir}},
		{"no program", Command{Args: []string{dir + "/noformat"}}, ErrNotExecutable, []string{`/noformat"`, "for this machine"}},
		{"no interpreter", Command{Args: []string{dir + "/orphan"}}, ErrNotFound, []string{`/orphan"`, `its interpreter "/no/such/interpreter" is missing`}},
		{"no directory", Command{Args: []string{"/bin/true"}, Dir: dir + "/gone"}, os.ErrNotExist, []string{dir + "/gone"}},
		{"directory is a file", Command{Args: []string{"/bin/true"}, Dir: dir + "/plain"}, syscall.ENOTDIR, []string{dir + "/plain"}},
		{"too long", Command{Args: []string{"/bin/true", strings.Repeat("x", 1<<20)}}, syscall.E2BIG, []string{"/bin/true"}},
		{"nothing", Command{}, nil, []string{"no arguments"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit, _, err := try(t, tt.c)
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("got %+v, %v; want %v", exit, err, tt.is)
			}
			for _, word := range tt.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q is not in %q", word, err)
				}
			}
			if exit.Code != -1 {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestStartable_programsThatTheSystemRefuses_areNamedAndNothingRuns(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, text, want string }{
		{"text", "hello", "it is neither a script with a #! line nor a program for this machine"},
		{"elf", "\x7fELFbroken", "it is neither a script with a #! line nor a program for this machine"},
		{"orphan", "#!/no/such/interpreter -x\n", `its interpreter "/no/such/interpreter" is missing`},
		{"script", "#!/bin/sh\n: >" + dir + "/ran\n", ""},
	} {
		file := filepath.Join(dir, tt.name)
		if err := os.WriteFile(file, []byte(tt.text), 0o755); err != nil {
			t.Fatal(err)
		}
		err := Startable(file)
		if (err != nil) != (tt.want != "") || err != nil && !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := os.Stat(dir + "/ran"); err == nil {
		t.Error("the script ran")
	}
}

func TestRun_contextAlreadyDone_startsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	exit, err := Run(ctx, Command{Args: []string{"/no/such/program"}}, nil)
	if err != nil || exit.Cause != CauseCancelled {
		t.Errorf("got %+v, %v", exit, err)
	}
}

func TestRun_twoAtOnce_doNotDisturbEachOther(t *testing.T) {
	results := make(chan string, 2)
	for _, mode := range []string{"setsid", "lines"} {
		go func() {
			c := Command{Args: self("lines", "20000"), KillGrace: 200 * time.Millisecond}
			if mode == "setsid" {
				c.Args = self("parent", "setsid", "exit")
			}
			var n int
			exit, err := Run(t.Context(), c, func(p []byte) bool { n += len(p); return false })
			results <- fmt.Sprint(mode, exit.Code, exit.Leftover, err, mode == "lines" && n == 208890 || mode == "setsid" && n > 0)
		}()
	}
	got := []string{<-results, <-results}
	want := []string{"lines0 0<nil> true", "setsid0 1<nil> true"}
	if got[0] > got[1] {
		got[0], got[1] = got[1], got[0]
	}
	for i := range want {
		if strings.ReplaceAll(got[i], " ", "") != strings.ReplaceAll(want[i], " ", "") {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}
