package aios

import (
	"strings"
	"testing"
)

func TestVerdict_gateFiles(t *testing.T) {
	for text, want := range map[string]string{
		"gate: PASS\n": "pass", "gate: waived": "pass", "gate: CONCERNS\nstatus_reason: x": "concerns", "gate: FAIL": "fail",
		"gate: MAYBE": "", "": "", "gate: [": "", "schema: 1\ngate: PASS # all good\n": "pass",
	} {
		if got, _, ok := Verdict([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
}

func TestSection_onlyThePartOfTheReviewIsTaken(t *testing.T) {
	story := "# S\n\n## Status\n\nReady\n\n## QA Results\n\nold\n\n## Notes\n\nn\n"
	got := Section(story, "# Changed\n\n## Status\n\nDone\n\n## QA Results\n\nnew\n")
	if !strings.HasPrefix(got, "# S\n\n## Status\n\nReady\n") || !strings.Contains(got, "## QA Results\n\nnew\n") || strings.Contains(got, "old") ||
		!strings.Contains(got, "## Notes\n\nn\n") {
		t.Errorf("%s", got)
	}
	if got := Section(story, "# no results\n"); got != story {
		t.Errorf("%s", got)
	}
}
