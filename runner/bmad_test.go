package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/roles"
	"ralph/runner/slots"
	"ralph/state"
)

const bmadStory = "docs/stories/1.2.login.md"

var bmadFakes = map[string]func(*fake) int{
	"bmad": func(f *fake) int { // the gate file says more than the answer
		nonce := nonceIn.FindStringSubmatch(f.prompt)
		if nonce == nil {
			put("work.txt", fmt.Sprintf("call %d", f.call))
			put(bmadStory, regexp.MustCompile(`## Status\n\n.*`).ReplaceAllString(read1(bmadStory), "## Status\n\nReview"))
			_ = os.RemoveAll(".bmad-core") // that takes no review away
			return f.result("Did it."+block(false, ""), nil)
		}
		if !strings.HasPrefix(f.prompt, "@qa\n*review 1.2\n") {
			return f.result("who am I?", nil)
		}
		_ = os.MkdirAll("qa/gates", 0o755)
		gate := "schema: 1\nstory: '1.2'\ngate: FAIL\nstatus_reason: 'Missing rate limits.'\ntop_issues: []\n"
		if f.call > 2 {
			gate = "schema: 1\nstory: '1.2'\ngate: PASS\nstatus_reason: 'Good.'\n"
		}
		put("qa/gates/1.2-login.yml", gate)
		put("work.txt", "not mine")
		put(bmadStory, strings.Replace(read1(bmadStory), "Review", "Done", 1)+fmt.Sprintf("\n## QA Results\n\nLooked %d times\n", f.call/2))
		return f.result(says(nonce[1], "pass", 90, ""), nil)
	},
}

func newBMAD(t *testing.T) *bench {
	b := newBench(t, "bmad")
	b.write(".bmad-core/core-config.yaml", "markdownExploder: true\nqa:\n  qaLocation: qa\ndevStoryLocation: docs/stories\n")
	b.write(bmadStory, "# Story 1.2: Login\n\n## Status\n\nApproved\n\n## Acceptance Criteria\n\n1. it works\n")
	b.d.Plan = filepath.Join(b.dir, "docs/stories")
	b.o.AIOS = roles.AIOSOptions{Enabled: "auto", QAEnabled: true, BMAD: true}
	return b
}

func (b *bench) wantBMADReviewed() {
	b.t.Helper()
	if got, want := b.course(), "developer continue, qa review_refused, developer continue, qa review_passed"; got != want {
		b.t.Errorf("course %s\nwant   %s", got, want)
	}
	text := b.read(bmadStory)
	for _, want := range []string{"## Status\n\nDone\n", "## QA Results\n\nLooked 2 times"} {
		if !strings.Contains(text, want) {
			b.t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
	if gate := b.read("qa/gates/1.2-login.yml"); !strings.Contains(gate, "PASS") {
		b.t.Errorf("gate %s", gate)
	}
	v := payloads[state.Verdict](b)
	if len(v) != 2 || v[0].Verdict != "fail" || !slices.Contains(v[0].Changed, "work.txt") || !strings.Contains(b.told(), "Missing rate limits.") {
		b.t.Errorf("verdicts %+v\ntold %s", v, b.told())
	}
	if got := b.read("work.txt"); got != "call 3" {
		b.t.Errorf("the reviewer changed the work: %q", got)
	}
	if said := b.said(); strings.Contains(said, "no reviewer may write it") {
		b.t.Errorf("what ralph took over itself is reported: %s", said)
	}
	if all := glob(filepath.Join(b.dir, ".aios/handoffs/*")); len(all) > 0 {
		b.t.Errorf("handoffs of AIOS: %v", all)
	}
}

func TestBMAD_qaLocation_storyIsReviewedAndTheGateCounts(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBMAD(t)
	b.repository()
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	b.wantBMADReviewed()
}

func TestBMAD_inAWorktree_storyIsReviewed(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBMAD(t)
	b.inGit()
	b.o.Parallel, b.o.Isolate, b.o.Land = 1, slots.IsolateWorktree, slots.LandCheckout
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	b.wantBMADReviewed()
}

func TestBMAD_notAskedFor_nobodyReviews(t *testing.T) {
	for what, change := range map[string]func(b *bench){
		"option":         func(b *bench) { b.o.AIOS.BMAD = false },
		"no qaLocation":  func(b *bench) { b.write(".bmad-core/core-config.yaml", "devStoryLocation: docs/stories\n") },
		"broken setting": func(b *bench) { b.write(".bmad-core/core-config.yaml", "qa: [\n") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBMAD(t)
			change(b)
			b.repository()
			b.o.MaxIterations = 1
			b.run(t.Context())
			if v := payloads[state.Verdict](b); len(v) > 0 || strings.Contains(b.course(), "qa") {
				t.Errorf("course %s, verdicts %+v", b.course(), v)
			}
		})
	}
}
