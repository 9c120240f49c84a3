package roles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/runner/task"
)

func TestVerdict_gateFiles(t *testing.T) {
	for text, want := range map[string]string{
		"gate: PASS\n": "pass", "gate: waived": "pass", "gate: CONCERNS\nstatus_reason: x": "concerns", "gate: FAIL": "fail",
		"gate: MAYBE": "", "": "", "gate: [": "", "a: &a [x]\ngate: FAIL\ntop_issues: *a\n": "", "schema: 1\ngate: PASS # all good\n": "pass",
	} {
		if got, _, ok := GateVerdict([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
}

func TestVerdict_reasons_inWhateverForm(t *testing.T) {
	for text, want := range map[string]string{
		"gate: FAIL\nstatus_reason: too slow\ntop_issues:\n- finding: no test\n  suggested_action: add one\n": "too slow|no test: add one",
		"gate: FAIL\nreasons:\n  - no salt\n  - no limit\n":                                                   "no salt|no limit",
		"gate: FAIL\nreasons: no salt\ntop_issues: none\n":                                                    "no salt",
		"gate: FAIL\ntop_issues: [a, {severity: high}, {description: b}]\n":                                   "a|b",
	} {
		verdict, reasons, ok := GateVerdict([]byte(text))
		var got []string
		for _, r := range reasons {
			got = append(got, r.Text)
		}
		if verdict != "fail" || !ok || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %q, want %q", text, verdict, got, want)
		}
	}
}

func TestSection_onlyThePartOfTheReviewIsTaken(t *testing.T) {
	story := "# S\n\n## Status\n\nReady\n\n## QA Results\n\nold\n\n## Notes\n\nn\n"
	got := ReviewSection(story, "# Changed\n\n## Status\n\nDone\n\n## QA Results\n\nnew\n")
	if !strings.HasPrefix(got, "# S\n\n## Status\n\nReady\n") || !strings.Contains(got, "## QA Results\n\nnew\n") || strings.Contains(got, "old") ||
		!strings.Contains(got, "## Notes\n\nn\n") {
		t.Errorf("%s", got)
	}
	if got := ReviewSection(story, "# no results\n"); got != story {
		t.Errorf("%s", got)
	}
}

func TestAt_reportsGoWhereTheProjectSays_andNowhereElse(t *testing.T) {
	for config, want := range map[string]string{
		"qa:\n  qaLocation: quality/": "quality", "qa:\n  qaLocation: ../out": "docs/qa", "qa:\n  qaLocation: .": "docs/qa",
		"qa:\n  qaLocation: /tmp": "docs/qa", "qa:\n  qaLocation: ./docs/../src": "src", "qa: docs": "docs/qa", "": "docs/qa",
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".bmad-core"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".bmad-core/core-config.yaml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		p := AIOSOptions{Enabled: "auto", BMAD: true}.At(dir)
		if !p.MayWrite(want+"/gates/1.2-x.yml") || p.MayWrite("main.go") || p.MayWrite("other/qa/x") {
			t.Errorf("%q: %+v", config, p)
		}
		story := task.Task{ID: "1.2", File: "1.2.login.md"}
		if got := p.Asks(story); got != strings.Contains(config, "qaLocation") {
			t.Errorf("%q: asks %t", config, got)
		}
	}
}

func TestDecisions_ofAStory_areItsLines(t *testing.T) {
	p := AIOSProject{aios: true}
	story := task.Task{ID: "1.2", File: "docs/stories/1.2.login.story.md"}
	for final, want := range map[string][]string{
		"Done.": nil, "Decision: sqlite, not a file\nDecision:\n": {"sqlite, not a file"},
		"- **Decision**: one\r\n* **Decision:** two\n> decision: three": {"one", "two", "three"},
		"The decision: none of yours":                                   nil, strings.Repeat("Decision: x\n", 9): {"x", "x", "x", "x", "x"},
		"Decision: " + strings.Repeat("a", 300): {strings.Repeat("a", 200) + "..."},
	} {
		if got := p.Decisions(story, final); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", final, got, want)
		}
	}
	if got := p.Decisions(task.Task{ID: "1", File: "plan.md"}, "Decision: x"); got != nil {
		t.Errorf("of a task that is not a story: %q", got)
	}
}
