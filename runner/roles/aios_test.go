package roles

import (
	"strings"
	"testing"
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
