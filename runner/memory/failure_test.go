package memory

import (
	"strings"
	"testing"

	"ralph/runner/gate"
)

// The plan is changed in every turn that finishes a task. A lesson may not name it.
func TestLearn_checkThatPassesAgain_namesWhatChangedBesidesThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"a file and the plan": {[]string{"fix_plan.md", "src/a.go"}, "test failed with: no port; it passed after a change to src/a.go"},
		"only the plan":       {[]string{"fix_plan.md"}, ""},
	} {
		p := newProject(t, nil)
		b := Open(p.dir, LessonOptions{Learn: true})
		red := result(1, "", "src/a.go")
		red.Proof.Report.Results = []gate.Result{{Name: "test", Verdict: gate.VerdictFailed, Blocks: true, Output: "no port\n"}}
		green := result(2, "", c.files...)
		green.Proof.Report.Results = []gate.Result{{Name: "test", Passed: true, Verdict: gate.VerdictPassed}}
		if refused, err := b.Learn(red, now); err != nil || len(refused) > 0 {
			t.Fatalf("%s: %+v, %v", name, refused, err)
		}
		if refused, err := b.Learn(green, now); err != nil || len(refused) > 0 {
			t.Errorf("%s: %+v, %v", name, refused, err)
		}
		page := p.read(".ralph/LEARNINGS.md")
		if c.want == "" && page != "" || !strings.Contains(page, c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, page)
		}
	}
}
