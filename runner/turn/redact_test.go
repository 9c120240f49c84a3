package turn

import (
	"fmt"
	"strings"
	"testing"

	"ralph/state"
)

func TestRedacted_wordsOfChecksAndRules_hideKeys(t *testing.T) {
	t.Parallel()
	key := "sk-ant-" + strings.Repeat("a1B2", 12)
	for _, p := range []state.Payload{
		state.IterationStart{Why: "no task: " + key},
		state.Baseline{Red: []string{"curl -H " + key}},
		state.Commit{Refused: []state.Refusal{{File: "a", Why: "holds " + key}}},
		state.RunEnd{Next: "export KEY=" + key},
	} {
		before := fmt.Sprintf("%#v", p)
		if got := fmt.Sprintf("%#v", Redacted(p)); strings.Contains(got, key) {
			t.Errorf("%T shows the key: %s", p, got)
		}
		if after := fmt.Sprintf("%#v", p); after != before {
			t.Errorf("%T was changed in place: %s", p, after)
		}
	}
}
