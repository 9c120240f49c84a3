package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/roles"
	"ralph/state"
)

func TestAIOS_storyIsDevelopedAndReviewed(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "aios")
	story := "docs/stories/1.2.login.story.md"
	b.write(".aios-core/core-config.yaml", "x: 1\n")
	b.write(story, "# Story 1.2: Login\n\n## Status\n\nReady\n\n## Acceptance Criteria\n\n- [ ] it works\n")
	b.d.Plan = filepath.Join(b.dir, "docs/stories")
	b.repository()
	b.o.AIOS = roles.AIOSOptions{Enabled: "auto", QAEnabled: true}
	b.o.AutoCommit, b.o.CommitPrefix = true, "[ralph]"
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, want := b.course(), "developer continue, qa review_refused, developer continue, qa review_passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	text := b.read(story)
	for _, want := range []string{"## Status\n\nDone\n", "- [x] it works", "## QA Results\n\nLooked 2 times"} {
		if !strings.Contains(text, want) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
	if gate := b.read("docs/qa/gates/1.2-login.yml"); !strings.Contains(gate, "PASS") {
		t.Errorf("gate %s", gate)
	}
	v := payloads[state.Verdict](b)
	if len(v) != 2 || v[0].Verdict != "concerns" || !slices.Contains(v[0].Changed, "main.txt") || !strings.Contains(b.told(), "no test: add one") {
		t.Errorf("verdicts %+v\ntold %s", v, b.told())
	}
	if _, err := os.Stat(filepath.Join(b.dir, "main.txt")); err == nil {
		t.Error("the reviewer changed the project")
	}
	if n := len(glob(filepath.Join(b.dir, ".aios/handoffs/handoff-*.yaml"))); n < 2 {
		t.Errorf("%d handoffs", n)
	}
	for _, file := range glob(filepath.Join(b.dir, ".aios/handoffs/handoff-*.yaml")) {
		if text := read1(file); !strings.Contains(text, "story_status: Ready for Review\n") || strings.Contains(text, "- .aios/") || strings.Contains(text, `branch: ""`) || !strings.Contains(text, "consumed: true\n") {
			t.Errorf("%s: %s", file, text)
		}
	}
	if log, _ := exec.Command("git", "-C", b.dir, "log", "--format=%s").Output(); !strings.Contains(string(log), "feat: 1.2 - ") {
		t.Errorf("commits:\n%s", log)
	}
}

func TestJudges_ofAPRDItem_verdictsAreWrittenBack(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "prd-witness")
	b.write("prd/auth.json", `{
  "items": [
    {"id": "A1", "description": "log in", "status": "pending", "evidence_path": "proof.txt",
     "judges": [{"name": "Witness", "persona": "You believe what you see.", "require_evidence": true}]}
  ]
}
`)
	b.d.Plan = filepath.Join(b.dir, "prd")
	b.repository()
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got, want := b.course(), "developer continue, judge review_refused, developer continue, judge review_passed"; got != want {
		t.Errorf("course %s\nwant   %s", got, want)
	}
	plan := b.read("prd/auth.json")
	if !strings.Contains(plan, `"judge_results": [{"judge":"Witness","agent":"claude","verdict":"pass","score":90,"passed":true,"reasons":[]}]`) || !strings.Contains(plan, `"completed"`) {
		t.Errorf("plan %s", plan)
	}
}
