package agent

import (
	"fmt"
	"strings"
	"testing"

	"ralph/state"
)

// story is what an agent did, step by step.
type story struct {
	watch StuckWatch
	n     int
	why   string
	at    int // the step at which it was found stuck; 0: never
}

func (s *story) step(t state.Tool, answer string, failed bool) {
	s.n++
	t.ID = fmt.Sprint(s.n)
	if t.Sum == "" {
		t.Sum = t.Arg + t.Hunk
	}
	s.watch.See(t)
	t.Hunk, t.File, t.Sum = "", false, "" // an answer repeats the call without them
	if s.why = s.watch.See(state.ToolResult{Tool: t, Text: answer, Error: failed}); s.why != "" && s.at == 0 {
		s.at = s.n
	}
}

func (s *story) run(command, answer string) {
	s.step(state.Tool{Name: "Bash", Arg: command}, answer, false)
}
func (s *story) fails(command, answer string) {
	s.step(state.Tool{Name: "Bash", Arg: command}, answer, true)
}
func (s *story) read(file, answer string) {
	s.step(state.Tool{Name: "Read", Arg: file, File: true}, answer, false)
}

func (s *story) edit(file, from, to string) {
	s.step(state.Tool{Name: "Edit", Arg: file, File: true, Hunk: "- " + from + "\n+ " + to}, "The file "+file+" has been updated.", false)
}

const red = "--- FAIL: TestAdd (0.00s)\n    add_test.go:9: got 3, want 4\nFAIL\texample.com/add\t0.004s"

// stories were written down before the watch was tried on any of them: first those that are
// certainly stuck, then those that are not.
func stories() (circles, works map[string]func(*story)) {
	times := func(n int, do func(s *story, i int)) func(*story) {
		return func(s *story) {
			for i := range n {
				do(s, i)
			}
		}
	}
	circles = map[string]func(*story){
		"the same command, the same answer": times(20, func(s *story, _ int) { s.run("ls -la", "total 0") }),
		"the same command, no answer":       times(20, func(s *story, _ int) { s.run("date +%s >> ticks.txt; sleep 0.2", "") }),
		"the same failure":                  times(12, func(s *story, _ int) { s.fails("make build", "make: *** No rule to make target 'build'.") }),
		"the same failure, other times": times(12, func(s *story, i int) {
			s.fails("go test ./...", fmt.Sprintf("--- FAIL: TestAdd (0.0%ds)\nFAIL 0.%03ds", i, i))
		}),
		"a file that is not there": times(12, func(s *story, _ int) {
			s.step(state.Tool{Name: "Read", Arg: "docs/spec.md", File: true}, "File does not exist.", true)
		}),
		"an edit that does not fit": times(12, func(s *story, _ int) {
			s.step(state.Tool{Name: "Edit", Arg: "a.go", File: true, Hunk: "- x\n+ y"}, "String to replace not found in file.", true)
		}),
		"reads the same file for ever": times(20, func(s *story, _ int) { s.read("a.go", "package a") }),
		"reads two files in turn":      times(12, func(s *story, _ int) { s.read("a.go", "package a"); s.read("b.go", "package b") }),
		"searches and reads": times(12, func(s *story, _ int) {
			s.run("grep -rn foo .", "a.go:1: foo")
			s.read("a.go", "foo")
			s.run("git status", "clean")
		}),
		"edits there and back": times(8, func(s *story, _ int) {
			s.edit("a.go", "x := 1", "x := 2")
			s.edit("a.go", "x := 2", "x := 1")
		}),
		"edits there and back, and tests": times(8, func(s *story, _ int) {
			s.edit("a.go", "x := 1", "x := 2")
			s.fails("go test ./...", red)
			s.edit("a.go", "x := 2", "x := 1")
			s.fails("go test ./...", red+" too")
		}),
		"tests without an edit": times(12, func(s *story, _ int) { s.fails("npm test", "1 failing"); s.read("a.js", "let a") }),
		"a sub-agent in circles": times(20, func(s *story, i int) {
			s.step(state.Tool{Name: "Bash", Arg: "ls", Parent: "task1"}, "a b", false)
			s.read(fmt.Sprintf("f%d.go", i), "package f")
		}),
		"works, then circles": func(s *story) {
			for i := range 30 {
				s.read(fmt.Sprintf("f%d.go", i), "package f")
			}
			for range 15 {
				s.run("cargo build", "Compiling")
			}
		},
	}
	works = map[string]func(*story){
		"reads many files": times(200, func(s *story, i int) { s.read(fmt.Sprintf("f%d.go", i), "package f") }),
		"reads a file page by page": times(40, func(s *story, i int) {
			s.step(state.Tool{Name: "Read", Arg: "big.go", File: true, Sum: fmt.Sprint("big.go", i)}, "x", false)
		}),
		"writes many files": times(60, func(s *story, i int) {
			s.step(state.Tool{Name: "Write", Arg: fmt.Sprintf("f%d.go", i), File: true}, "File created.", false)
		}),
		"a tool with hidden numbers": times(40, func(s *story, i int) {
			s.step(state.Tool{Name: "mcp__db__insert", Arg: "users", Sum: fmt.Sprint(i)}, "ok", false)
		}),
		"tests after each edit": times(40, func(s *story, i int) {
			s.edit("a.go", fmt.Sprint("a", i), fmt.Sprint("b", i))
			s.run("go test ./...", "ok example.com/a 0.004s")
		}),
		"a check that was red before": times(40, func(s *story, i int) {
			s.edit(fmt.Sprintf("f%d.go", i), "a", "b")
			s.fails("make test", red)
		}),
		"fewer failures each time": times(40, func(s *story, i int) {
			s.edit("a.go", fmt.Sprint("a", i), fmt.Sprint("b", i))
			s.fails("npm test", fmt.Sprintf("%d failing", 100-i))
		}),
		"waits for a pipeline":          times(60, func(s *story, _ int) { s.run("sleep 30 && gh run view 12", "in_progress") }),
		"asks for a pipeline":           times(60, func(s *story, _ int) { s.run("gh run view 12", "in_progress") }),
		"waits for a job in background": times(60, func(s *story, _ int) { s.step(state.Tool{Name: "BashOutput", Arg: "bash_1"}, "", false) }),
		"waits for a server":            times(30, func(s *story, _ int) { s.fails("sleep 2; curl -s localhost:8080", "connection refused") }),
		"looks for a flaky test":        times(8, func(s *story, _ int) { s.run("go test -run Flaky -count=1 .", "ok 0.1s") }),
		"a failure three times":         times(3, func(s *story, _ int) { s.fails("make", "error") }),
		"looks again after each edit": times(30, func(s *story, i int) {
			s.edit("a.go", fmt.Sprint(i), fmt.Sprint(i+1))
			s.run("git status --short", " M a.go")
		}),
		"the same edit in many files": times(40, func(s *story, i int) { s.edit(fmt.Sprintf("f%d.go", i), "old", "new") }),
		"tries a thing and takes it back": times(2, func(s *story, _ int) {
			s.edit("a.go", "x := 1", "x := 2")
			s.fails("go test ./...", red)
			s.edit("a.go", "x := 2", "x := 1")
		}),
		"a counter": times(40, func(s *story, i int) { s.run("wc -l out.txt", fmt.Sprint(i, " out.txt")) }),
		"a loop over commands": times(10, func(s *story, i int) {
			s.run("go vet ./...", "")
			s.run("go test ./...", "")
			s.edit("a.go", fmt.Sprint(i), "x")
		}),
		"notes its work": times(40, func(s *story, i int) {
			s.step(state.Tool{Name: "TodoWrite", Arg: "todos", Sum: fmt.Sprint(i)}, "Todos have been modified", false)
		}),
		"answers that are not shown": times(60, func(s *story, i int) { s.watch.See(state.Tool{ID: fmt.Sprint(i), Name: "Bash", Arg: "ls", Sum: "ls"}) }),
		"changes that are not shown": times(60, func(s *story, _ int) {
			s.watch.See(state.Tool{ID: "1", Name: "file_change", Arg: "a.go", File: true})
			s.why = s.watch.See(state.ToolResult{Tool: state.Tool{ID: "1"}})
		}),
		"answers without a call": times(60, func(s *story, _ int) { s.why = s.watch.See(state.ToolResult{Text: "x"}) }),
		"eight sub-agents at one file": times(8, func(s *story, i int) {
			s.step(state.Tool{Name: "Read", Arg: "a.go", File: true, Parent: fmt.Sprint(i)}, "package a", false)
		}),
		"twelve hard tries in a file": times(11, func(s *story, i int) {
			s.edit("a.go", "x", fmt.Sprint("y", i))
			s.fails("go test ./...", red)
		}),
		"commits piece by piece": times(30, func(s *story, i int) {
			s.run("git add -A", "")
			s.run(fmt.Sprintf("git commit -m 'part %d'", i), fmt.Sprintf("[main %07x]", i))
		}),
	}
	return circles, works
}

func TestSee_circles_areFound(t *testing.T) {
	circles, _ := stories()
	for name, tell := range circles {
		s := &story{}
		if tell(s); s.why == "" {
			t.Errorf("%s: not found", name)
		}
		t.Logf("%s: at step %d of %d: %s", name, s.at, s.n, s.why)
	}
}

// Of a long answer only the beginning is known, and what changes may stand at its end.
func TestSee_answersThatWereCut_sayNothing(t *testing.T) {
	s := &story{}
	for range 30 {
		s.fails("make check", strings.Repeat("ok  \ta/package\n", 250)+" …")
	}
	if s.at > 0 {
		t.Errorf("stuck at step %d: %s", s.at, s.why)
	}
}

func TestSee_work_isLeftAlone(t *testing.T) {
	_, works := stories()
	for name, tell := range works {
		s := &story{}
		if tell(s); s.why != "" {
			t.Errorf("%s: %s", name, s.why)
		}
	}
}
