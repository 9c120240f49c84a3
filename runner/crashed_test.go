package runner

import (
	"os"
	"strings"
	"testing"
)

// crashTickFakes crash once, after they have ticked their task.
var crashTickFakes = map[string]func(*fake) int{
	"crash-red":   func(f *fake) int { return f.crashAfterTick(true) },
	"crash-green": func(f *fake) int { return f.crashAfterTick(false) },
}

func (f *fake) crashAfterTick(red bool) int {
	_, after, _ := strings.Cut(f.prompt, "## Your task\n\n")
	title, _, _ := strings.Cut(after, "\n")
	log := os.Getenv(fakeCount) + ".tasks"
	put(log, read1(log)+title+" ")
	f.work()
	switch {
	case f.call == 1 && red:
		put("broken", "")
		fallthrough
	case f.call == 1:
		return 1
	case strings.Contains(f.prompt, "\nit is broken"):
		_ = os.Remove("broken")
	}
	return f.result("ok"+block(!open1(planName), ""), nil)
}

func TestRun_callThatTickedItsTaskCrashes_theChecksDecide(t *testing.T) {
	for agent, want := range map[string]string{"crash-red": "one one two", "crash-green": "one two"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one", "[ ] two")
			b.repository()
			b.check("test ! -f broken || { echo it is broken; exit 1; }")
			wantEnd(t, b.run(t.Context()), "complete", 0)
			if log, _ := os.ReadFile(b.counter() + ".tasks"); strings.TrimSpace(string(log)) != want {
				t.Errorf("worked on %s, want %s (%s)", log, want, b.rules())
			}
		})
	}
}
