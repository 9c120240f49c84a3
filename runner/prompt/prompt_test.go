package prompt

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/runner/gate"
	"ralph/runner/task"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func story() Input {
	return Input{
		Template: "# Build the shop\n\nUse Go.\n", PlanPath: "prd.json", Done: 3, Total: 10, Remaining: 7, Iteration: 4, MaxIterations: 20,
		Task: &task.Task{
			ID: "US-004", Title: "Pay by card", Description: "As a buyer I pay by card.",
			Criteria: []string{"declined cards are shown\nwith the reason", "typecheck passes"}, Notes: "keys are in the vault",
		},
		Last:     "worked on US-003, 4 files changed, tests passed\nlast message: cart is done",
		Refused:  "You printed EXIT_SIGNAL with 7 tasks open.",
		Feedback: []string{"go test ./...\n--- FAIL: TestPay\n", "```\nnested\n```"},
		Aside:    []string{"US-009 Refunds"},
		Attempt:  1, MaxAttempts: 10, Mode: "gate",
		Checks: []Check{{"lint", "golangci-lint run"}, {"test", "(cd api && echo `date` &&\n go test ./...)"}},
	}
}

func TestBuild_golden(t *testing.T) {
	for name, in := range map[string]Input{
		"story": story(),
		"checkbox": {
			Template: "Work through the plan.", PlanPath: ".ralph/fix_plan.md", Task: &task.Task{ID: "ab12cd34", Title: "Log in"},
			Done: 1, Total: 2, Remaining: 1, Iteration: 1,
		},
		"no-plan": {Template: "Fix the bug.\n\n", Iteration: 2, Last: "nothing changed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".golden")
			got := Build(in)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBuild_keepsTheUsersPromptUnchanged(t *testing.T) {
	for _, template := range []string{"x", "x\n", "x\n\n\n", "# A\r\n{{.}} %s\n", "\n\nx  "} {
		got, ok := strings.CutPrefix(Build(Input{Template: template}), template)
		if !ok || !strings.HasPrefix(strings.TrimLeft(got, "\n"), "---\n") || !strings.Contains(template+got, "\n\n---\n") {
			t.Errorf("%q: %q", template, got[:20])
		}
	}
	if got := Build(Input{}); !strings.HasPrefix(got, "---\n") {
		t.Errorf("without a template: %q", got[:20])
	}
}

func TestBuild_ownPartIsNoSignalOfCompletion(t *testing.T) {
	signal := regexp.MustCompile(`(?mi)EXIT_SIGNAL[\W_]*true|^\W*STATUS\W*COMPLETE|"exit_signal"|<promise>`)
	for _, in := range []Input{{}, story(), {PlanPath: "fix_plan.md"}} {
		in.Feedback, in.Refused = nil, ""
		if found := signal.FindString(Build(in)); found != "" {
			t.Errorf("reads as a signal: %q", found)
		}
	}
	if !signal.MatchString("x\nEXIT_SIGNAL: true\n") || !signal.MatchString("**STATUS**: COMPLETE") {
		t.Error("the pattern of this test finds nothing")
	}
}

func TestBuild_checks_sayWhatTheirModeBlocks(t *testing.T) {
	for mode, want := range map[string]string{
		"":       "finished. The task is done only when all of them pass.\n\n- test: `make test`\n",
		"gate":   "only when all of them pass (mode gate).",
		"tdd":    "What passed before your change must still pass, or the task stays open (mode tdd).",
		"report": "Failures are reported to the user (mode report).",
		"auto":   gate.Duty + " (mode auto).",
	} {
		got, commit := Build(Input{Checks: []Check{{"test", "make test"}}, Mode: mode}), "Commit only when the checks above pass."
		if mode != "" && mode != "gate" {
			commit = "Commit only when the checks above pass, or fail only as they did before the run."
		}
		if !strings.Contains(got, want) || !strings.Contains(got, commit) {
			t.Errorf("mode %q:\n%s", mode, got)
		}
	}
	if got := Build(Input{Mode: "gate"}); strings.Contains(got, "## Checks") || strings.Contains(got, "checks above") {
		t.Errorf("without checks:\n%s", got)
	}
}

func TestBuild_lockedFolder_saysWhatCanBeChanged(t *testing.T) {
	for path, want := range map[string]bool{".ralph/fix_plan.md": true, "fix_plan.md": false, "": false} {
		for _, locked := range []bool{true, false} {
			text := Build(Input{PlanPath: path, Locked: locked})
			if strings.Contains(text, "only `.ralph/fix_plan.md`, `.ralph/AGENT.md`") != (want && locked) ||
				strings.Contains(text, "`.ralph/progress.txt`: any other new file there is gone after your turn") != locked {
				t.Errorf("%q, locked %v:\n%s", path, locked, text)
			}
		}
	}
}

func TestBuild_hugeFeedbackLosesItsMiddle(t *testing.T) {
	block := "FIRST\n" + strings.Repeat("some line of a log\n", 5000) + "LAST"
	got := Build(Input{Feedback: []string{block, block}, Refused: block, Last: block})
	if len(got) > 4*MaxBlock+8000 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"FIRST\n", "\nLAST\n", " bytes left out) ...\nsome line"} {
		if n := strings.Count(got, want); n < 3 {
			t.Errorf("%q occurs %d times", want, n)
		}
	}
}

func TestTrim_isBoundedAndSaysHowMuchIsMissing(t *testing.T) {
	note := regexp.MustCompile(`\n\.\.\. \((\d+) bytes left out\) \.\.\.\n`)
	rapid.Check(t, func(r *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "ü", "日本", "line\n", strings.Repeat("x", 9000) + "\n"}).Draw(r, "unit")
		s := strings.Repeat(unit, rapid.IntRange(0, 3*MaxBlock/len(unit)).Draw(r, "n"))
		got := trim(s)
		if len(got) > MaxBlock || !utf8.ValidString(got) {
			r.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if len(s) <= MaxBlock {
			if got != s {
				r.Fatal("a short text changed")
			}
			return
		}
		at := note.FindStringIndex(got)
		if at == nil || !strings.HasPrefix(s, strings.TrimRight(got[:at[0]], "\uFFFD")) || !strings.HasSuffix(s, strings.TrimLeft(strings.TrimRight(got[at[1]:], "\n"), "\uFFFD")+strings.Repeat("\n", len(s)-len(strings.TrimRight(s, "\n")))) || len(got) < MaxBlock/3 {
			r.Fatalf("%d bytes, note at %v", len(got), at)
		}
	})
}

func TestFenceFor_isLongerThanAnyRunInside(t *testing.T) {
	for block, want := range map[string]string{"": "```", "``": "```", "a ```b": "````", "`` ````` `": "``````"} {
		if got := fenceFor(block); got != want {
			t.Errorf("%q: %q, want %q", block, got, want)
		}
	}
}

func TestBuild_formatWithItsOwnMark_namesFileMarkAndClaim(t *testing.T) {
	one := task.Task{ID: "1.2", Title: "1.2 Log in", File: "1.2.story.md"}
	in := Input{Task: &one, PlanPath: "docs/stories", TaskFile: "docs/stories/1.2.story.md", Marking: "Set the status to `Done` in `%s`"}
	got := Build(in)
	for _, want := range []string{
		"\n## Your task\n\n1.2 Log in\n\nIt is described in `docs/stories/1.2.story.md`: read that file first.\n",
		"- Set the status to `Done` in `docs/stories/1.2.story.md` when the task is done and checked, not before.",
		"write the line `TASK: 1.2` into the block at the end.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
