package cli

import (
	"fmt"
	"testing"
)

// The screen asks once a second. A large plan is read again only when it has changed.
func TestPlanReader_planThatChanges_isReadAgain(t *testing.T) {
	w := newEmptyWorld(t)
	w.write(".ralph/PROMPT.md", "Do it.\n")
	w.write(".ralph/fix_plan.md", "- [x] one\n- [ ] two\n")
	read := w.planReader()
	for _, c := range []struct{ write, want string }{
		{"", "1/2 two [[x] one [ ] two]"}, {"", "1/2 two [[x] one [ ] two]"}, {"", "1/2 two [[x] one [ ] two]"},
		{"- [x] one\n- [x] two\n- [ ] three\n", "2/3 three [[x] one [x] two [ ] three]"},
	} {
		if c.write != "" {
			w.write(".ralph/fix_plan.md", c.write)
		}
		s, tasks := read()
		if got := fmt.Sprintf("%d/%d %s %v", s.Done, s.Total, s.Title, tasks); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
