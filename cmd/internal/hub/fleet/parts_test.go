package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// partVar makes the test binary the server of a fleet, or many workers in one process: the figures are those of processes.
const (
	partVar   = "RALPH_FLEET_PART"
	amountVar = "RALPH_FLEET_AMOUNT"
	homeVar   = "RALPH_FLEET_HOME"
)

// play is a part of a fleet, until stdin ends.
func play(part string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if part == "node" {
		return node(ctx)
	}
	if part == "server" {
		return Server{StateHome: os.Getenv(homeVar), Host: "127.0.0.1", Port: -1}.Serve(ctx, func(string) { fmt.Println("ready") })
	}
	a, err := Local(os.Getenv(homeVar), false)
	if err != nil {
		return err
	}
	amount, err := strconv.Atoi(os.Getenv(amountVar))
	if err != nil {
		return err
	}
	errs := make(chan error, amount)
	for range amount {
		go func() {
			errs <- Worker(ctx, Work{Access: a, Slots: 1, Carry: simulated, Log: func(string, ...any) {}})
		}()
	}
	fmt.Println("ready")
	for range amount {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// simulated is a turn of an agent that works for as many milliseconds as the run says, and says something ten times.
func simulated(ctx context.Context, in io.Reader, say func([]byte)) (why string) {
	lines := bufio.NewReader(in)
	if _, err := lines.ReadString('\n'); err != nil {
		return err.Error()
	}
	say([]byte("hello\n"))
	text, err := lines.ReadString('\n')
	ms, bad := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || bad != nil {
		return fmt.Sprintf("the run says %q", text)
	}
	for range 10 {
		select {
		case <-ctx.Done():
			return "cut off"
		case <-time.After(time.Duration(ms) * time.Millisecond / 10):
		}
		say([]byte(`{"event":{"kind":"tool","text":"` + strings.Repeat("x", 200) + "\"}}\n"))
	}
	say([]byte("end\n"))
	return ""
}

// process is a part of the fleet as a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.Closer
}

func startPart(tb testing.TB, part, home string, amount int) process {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), partVar+"="+part, homeVar+"="+home, fmt.Sprint(amountVar, "=", amount))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 0 { // a killed one has been waited for
			tb.Errorf("%s: %v", part, err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		tb.Fatalf("%s says %q: %v", part, line, err)
	}
	return process{cmd, in}
}

// tally is what a series of turns took.
type tally struct {
	mu    sync.Mutex
	start []time.Duration // from ready to started
}

// one has a turn carried out, and notes when a worker began.
func (t *tally) one(ctx context.Context, a Access, work time.Duration) error {
	in, feed := io.Pipe()
	outR, out := io.Pipe()
	ready := time.Now()
	go func() { _, _ = io.WriteString(feed, "you\n") }()
	said := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(outR)
		if line, _ := lines.ReadString('\n'); line == "hello\n" {
			t.mu.Lock()
			t.start = append(t.start, time.Since(ready))
			t.mu.Unlock()
			_, _ = fmt.Fprintln(feed, work.Milliseconds())
		}
		rest, _ := io.ReadAll(lines)
		said <- string(rest)
	}()
	err := Turn(ctx, Offer{Access: a}, in, out)
	_ = out.Close()
	defer feed.Close()
	if rest := <-said; err == nil && !strings.HasSuffix(rest, "end\n") {
		return fmt.Errorf("the turn ends with %.80q", rest)
	}
	return err
}

// series has as many turns carried out as there are workers, several times, all workers busy.
func (t *tally) series(ctx context.Context, a Access, workers, turns int) error {
	errs := make(chan error, workers)
	for range workers {
		go func() {
			for range turns {
				if err := t.one(ctx, a, time.Second); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range workers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (t *tally) percentile(p int) time.Duration {
	slices.Sort(t.start)
	return t.start[min(len(t.start)*p/100, len(t.start)-1)]
}

func TestWrite_endlessLineOfAWorker_endsTheTurnWithFlatMemory(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	l := newLink(func([]byte, bool) error { return nil })
	defer l.Close()
	turn := &client{out: w, link: l, over: cancel}
	go turn.write(l)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data := []byte(strings.Repeat("x", 256<<10))
	sent := 0
	for seq := uint64(1); sent < 300<<20 && ctx.Err() == nil; seq, sent = seq+1, sent+len(data) {
		frame, err := linkFrame{Seq: seq, Data: data}.encode()
		if err != nil {
			t.Fatal(err)
		}
		for l.Take(frame) != nil && ctx.Err() == nil { // a slow reader
			runtime.Gosched()
		}
	}
	runtime.ReadMemStats(&after)
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "a line of more than 16 MiB") {
		t.Errorf("after %d MiB: %v", sent>>20, err)
	}
	if held := (after.HeapSys - before.HeapSys) >> 20; after.HeapSys > before.HeapSys && held > 150 {
		t.Errorf("the heap grew by %d MiB", held)
	}
}
