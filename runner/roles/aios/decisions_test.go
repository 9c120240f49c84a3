package aios

import (
	"slices"
	"strings"
	"testing"

	"ralph/runner/task"
)

func TestDecisions_ofAStory_areItsLines(t *testing.T) {
	p := Project{aios: true}
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
