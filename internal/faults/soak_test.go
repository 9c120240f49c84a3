//go:build linux

package faults

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
)

// mixed is an agent that ends in every way that there is, by the number of its
// call. Every call changes a file, so that the loop never runs out of progress.
func mixed() int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	counter := os.Getenv(ledgerVar) + ".count"
	text, _ := os.ReadFile(counter)
	n, _ := strconv.Atoi(string(text))
	_ = os.WriteFile(counter, []byte(strconv.Itoa(n+1)), 0o600)
	_ = os.WriteFile("work.txt", fmt.Append(nil, n), 0o644)
	a := &actor{call: n}
	a.print(map[string]any{"type": "system", "subtype": "init", "session_id": "s", "model": "fake-1"})
	failed := func(text string, status int) int {
		return a.result(false, map[string]any{"is_error": true, "api_error_status": status, "result": text})
	}
	switch {
	case n%500 == 100:
		a.print(map[string]any{"type": "rate_limit_event", "rate_limit_info": map[string]any{"status": "rejected",
			"resetsAt": time.Now().Unix() + 1, "rateLimitType": "five_hour", "utilization": 1}})
		return failed("You've hit your 5-hour limit", 429)
	case n%500 == 300:
		return failed("API Error: 529 Overloaded.", 529)
	}
	switch n % 20 {
	case 0:
		fmt.Println("panic: something broke at", n)
		return 70
	case 1:
		return a.result(false, map[string]any{"result": ""})
	case 2:
		a.say("and then")
		return 0
	case 3:
		return a.result(false, map[string]any{"subtype": "error_max_turns", "is_error": true})
	case 4:
		return a.result(false, map[string]any{"result": "Shall I go on?"})
	case 5:
		return failed("prompt is too long", 400)
	case 6:
		return a.result(false, map[string]any{"permission_denials": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "t",
			"tool_input": map[string]any{"command": "rm -rf /"}}}})
	case 7:
		for range 50 {
			a.say(strings.Repeat("word ", 400))
		}
	case 8:
		r := rand.New(rand.NewPCG(1, uint64(n)))
		junk := make([]byte, 100<<10)
		for i := range junk {
			junk[i] = byte(r.Uint32())
		}
		_, _ = os.Stdout.Write(append(junk, '\n'))
	case 9:
		daemon("sleep 600")
	case 10:
		kill(os.Getpid(), syscall.SIGKILL)
	}
	return a.result(false, nil)
}

// sample is what the system says about the running loop.
type sample struct {
	at                         time.Time
	loops, rss, files, threads int // rss in KiB
}

func (w *project) sample(p *world.Process) sample {
	s := sample{at: time.Now()}
	if st, err := w.state().Status(); err == nil {
		s.loops = st.LoopCount
		if st.Status == state.StatusWaiting { // the limits of this agent are over at once
			_ = state.Send(w.state().Dir(), state.RequestResume)
		}
	}
	proc := fmt.Sprintf("/proc/%d/", p.Process.Pid)
	text, _ := os.ReadFile(proc + "status")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && f[0] == "VmRSS:":
			s.rss, _ = strconv.Atoi(f[1])
		case len(f) > 1 && f[0] == "Threads:":
			s.threads, _ = strconv.Atoi(f[1])
		}
	}
	files, _ := os.ReadDir(proc + "fd")
	s.files = len(files)
	return s
}

// soak runs the mixed agent for so many iterations, then makes the runner print
// its goroutines, which ends it, and counts them.
func soak(t *testing.T, iterations int) (all []sample, goroutines int, w *project) {
	t.Helper()
	w = newProject(t, "mixed", 1)
	for _, name := range []string{"CB_NO_PROGRESS_THRESHOLD", "CB_SAME_ERROR_THRESHOLD", "CB_PERMISSION_DENIAL_THRESHOLD"} {
		w.Set(name, "1000")
	}
	w.Set("MAX_ITERATIONS_PER_TASK", "0")
	w.Set("CB_OUTPUT_DECLINE_THRESHOLD", "100")
	p := w.ralph("--headless")
	for next := 0; ; time.Sleep(100 * time.Millisecond) {
		s := w.sample(p)
		if s.loops >= next {
			next = s.loops + max(1, iterations/100)
			all = append(all, s)
		}
		if s.loops >= iterations {
			break
		}
		if !p.Alive() {
			t.Fatalf("the loop ended by itself after %d iterations:\n%s", s.loops, p.Said())
		}
	}
	_ = p.Process.Signal(syscall.SIGQUIT)
	p.Wait(world.Patience)
	goroutines = strings.Count(p.Said(), "\ngoroutine ")
	w.NoneLeft(leftBound)
	return all, goroutines, w
}

func TestSoak_mixedAgent_staysAsSmallAndFastAsItBegan(t *testing.T) {
	if testing.Short() {
		t.Skip("long: hundreds of iterations")
	}
	iterations := amount(120, 50_000)
	_, few, _ := soak(t, 20)
	all, many, w := soak(t, iterations)
	if few == 0 || many > few+8 {
		t.Errorf("%d goroutines after 20 iterations, %d after %d", few, many, iterations)
	}
	fifth := len(all) / 5
	early, late := all[fifth:2*fifth], all[len(all)-fifth:]
	median := func(of []sample, get func(sample) int) int { // the median: a sample may meet git at work
		of = slices.SortedFunc(slices.Values(of), func(a, b sample) int { return get(a) - get(b) })
		return get(of[len(of)/2])
	}
	rss := func(s sample) int { return s.rss >> 10 }
	files := func(s sample) int { return s.files }
	threads := func(s sample) int { return s.threads }
	pace := func(of []sample) time.Duration {
		first, last := of[0], of[len(of)-1]
		return last.at.Sub(first.at) / time.Duration(max(1, last.loops-first.loops))
	}
	kept := diskUse(w.Path(".ralph"))
	t.Logf("%d iterations; early and late: %d and %d MiB, %d and %d open files, %d and %d threads, %s and %s an iteration; %d goroutines after 20, %d at the end; %d MiB on disk",
		all[len(all)-1].loops, median(early, rss), median(late, rss), median(early, files), median(late, files), median(early, threads), median(late, threads),
		pace(early).Round(time.Microsecond), pace(late).Round(time.Microsecond), few, many, kept>>20)
	if a, b := median(early, rss), median(late, rss); b > a+a/5+8 {
		t.Errorf("memory grew from %d to %d MiB", a, b)
	}
	if a, b := median(early, files), median(late, files); b > a+3 {
		t.Errorf("open files grew from %d to %d", a, b)
	}
	if a, b := median(early, threads), median(late, threads); b > a+6 {
		t.Errorf("threads grew from %d to %d", a, b)
	}
	if a, b := pace(early), pace(late); longForm && b > a+a/10 { // too few in the bounded form
		t.Errorf("an iteration took %s early and %s late", a, b)
	}
	if kept > rawBound {
		t.Errorf("%d MiB on disk", kept>>20)
	}
}
