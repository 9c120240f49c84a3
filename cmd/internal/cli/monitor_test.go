package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
)

// The screen asks once a second. A large plan is read again only when it has changed.
func TestPlanReader_planThatChanges_isReadAgain(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	dir := world.Project(t, map[string]string{".ralph/PROMPT.md": "Do it.\n", ".ralph/fix_plan.md": "- [x] one\n- [ ] two\n"})
	read := planReader(&cmdline.Factory{Dir: dir, Env: os.Environ()})
	for _, c := range []struct{ write, want string }{
		{"", "1/2 two [[x] one [ ] two]"}, {"", "1/2 two [[x] one [ ] two]"}, {"", "1/2 two [[x] one [ ] two]"},
		{"- [x] one\n- [x] two\n- [ ] three\n", "2/3 three [[x] one [x] two [ ] three]"},
	} {
		if c.write != "" {
			if err := os.WriteFile(filepath.Join(dir, ".ralph", "fix_plan.md"), []byte(c.write), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, tasks := read()
		if got := fmt.Sprintf("%d/%d %s %v", s.Done, s.Total, s.Title, tasks); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
