package runner

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ralph/runner/task/store"
	"ralph/state"
)

// stuckFakes get nowhere with the task "one".
var stuckFakes = map[string]func(*fake) int{
	"stuck": func(f *fake) int { return f.stuckOn(true, func() int { return f.result("I do not know how.", nil) }) },
	"needs-two": func(f *fake) int {
		return f.stuckOn(!strings.Contains(read1(planName), "[x] two"), func() int { return f.result("I do not know how.", nil) })
	},
	"crashes-on-one": func(f *fake) int {
		return f.stuckOn(true, func() int { put("half.txt", fmt.Sprint(f.call)); fmt.Println("panic: no parser"); return 70 })
	},
	"breaks-a-check": func(f *fake) int {
		return f.stuckOn(true, func() int {
			if f.call == 1 {
				put("broken", "")
			}
			return f.result("I do not know how.", nil)
		})
	},
}

func (f *fake) stuckOn(stuck bool, play func() int) int {
	_, after, _ := strings.Cut(f.prompt, "## Your task\n\n")
	title, _, _ := strings.Cut(after, "\n")
	log := os.Getenv(fakeCount) + ".tasks"
	put(log, read1(log)+title+" ")
	if title == "one" && stuck {
		return play()
	}
	put(os.Getenv(fakeCount)+"."+title, f.prompt)
	_ = os.Remove("broken")
	put(title+".txt", title)
	put(planName, strings.Replace(read1(planName), "- [ ] "+title, "- [x] "+title, 1))
	return f.result("ok"+block(!open1(planName), ""), nil)
}

func TestRun_oneTaskIsStuck_theOthersAreDoneFirst(t *testing.T) {
	three, ten := []string{"[ ] one", "[ ] two", "[ ] three"}, []string{}
	for i := range 10 {
		ten = append(ten, fmt.Sprintf("[ ] task %d", i+1))
	}
	for _, tt := range []struct {
		name, agent string
		boxes       []string
		set         func(*bench)
		rule        string
		exit        int
		tasks       string // of the calls
		reason      string
	}{
		{"until the end", "stuck", three, nil, "stagnation", 3, "one one two three one one one", `no progress in 3 consecutive iterations; the task: "one"`},
		{"until another is done", "needs-two", three, nil, "complete", 0, "one one two three one", ""},
		{"with the same error", "crashes-on-one", three, nil, "same_error", 3, "one one one one two three one one one one one", `the task: "one"`},
		{"and a bound on its iterations", "stuck", three, func(b *bench) { b.o.MaxPerTask = 3 }, "tasks_put_aside", 8, "one one two three one", `"one": not done after 3 iterations`},
		{"and leaves a check red", "breaks-a-check", three, func(b *bench) { b.o.MaxRetries = 3; b.check("test ! -f broken || { echo it is broken; exit 1; }") }, "stagnation", 3, "one one one two three one one one", ""},
		{"and is a part of the other", "stuck", []string{"[ ] two\n  - [ ] one"}, nil, "stagnation", 3, "one one one", ""},
		{"and was named for the run", "stuck", three, func(b *bench) {
			for _, t := range store.Read(store.At(b.dir, b.d.Plan, nil)).List.Tasks {
				b.o.OnlyTasks = append(b.o.OnlyTasks, t.ID)
			}
		}, "stagnation", 3, "one one one", ""},
		{"like all others", "idler", ten, nil, "stagnation", 3, "", "no progress in 3 consecutive iterations"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.agent, tt.boxes...)
			if tt.set != nil {
				tt.set(b)
			}
			b.repository()
			r := b.run(t.Context())
			wantEnd(t, r, tt.rule, tt.exit)
			log, _ := os.ReadFile(b.counter() + ".tasks")
			if got := strings.TrimSpace(string(log)); got != tt.tasks {
				t.Errorf("worked on %s, want %s (%s)", got, tt.tasks, b.rules())
			}
			if !strings.Contains(r.Decision.Reason, tt.reason) || tt.rule == "stagnation" && !strings.Contains(r.Decision.Next, "ralph task show ") {
				t.Errorf("reason %s; next %s", r.Decision.Reason, r.Decision.Next)
			}
			if tt.agent == "idler" && b.calls() != 3 {
				t.Errorf("%d calls", b.calls())
			}
			for id, known := range b.status().Tasks {
				if known.Aside.Stuck {
					t.Errorf("%s still waits for the others", id)
				}
			}
			told := 0
			for _, c := range payloads[state.TaskChange](b) {
				if c.State == state.TaskPutAside && strings.HasSuffix(c.Why, "; another task comes first") {
					told++
				}
			}
			if wantTold := strings.Contains(tt.tasks, "two") || tt.agent == "idler"; (told == 1) != wantTold {
				t.Errorf("told %d times that a task is put aside", told)
			}
			if tt.agent == "breaks-a-check" {
				prompt, _ := os.ReadFile(b.counter() + ".two")
				for _, want := range []string{`"one" got stuck and is put aside for now.`, "This check failed at the end of a task that was put aside.", "it is broken"} {
					if !strings.Contains(string(prompt), want) {
						t.Errorf("the prompt of the next task lacks %q:\n%s", want, prompt)
					}
				}
			}
			if br, _ := b.w.Breaker(); (br.State == state.BreakerOpen) != (tt.exit == 3) {
				t.Errorf("breaker %+v", br)
			}
		})
	}
}
