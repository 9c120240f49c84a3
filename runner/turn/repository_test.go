package turn_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/git"
	"ralph/runner/turn"
	"ralph/state"
)

// runs is a script with one command.
func runs(command string) []scripted.Step { return []scripted.Step{{Do: "run", Text: command}} }

// gitOut is what git says in a folder.
func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestTurn_agentChangesTheSettingsOfGit_ralphDoesNotFollow(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "foreign.txt"), []byte("foreign"), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	a := scripted.Project(t, runs("git config core.worktree "+foreign+"; git config filter.x.clean 'touch "+mark+"; cat';"+
		"echo '* filter=x' > .gitattributes; echo 'package code // changed' > code.go"))
	w := &turn.Worker{}
	defer w.Close()
	res, err := w.Run(t.Context(), a, func(state.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{".gitattributes", "code.go"}; !slices.Equal(res.Work.Change.Files, want) {
		t.Errorf("changed: %v, want %v", res.Work.Change.Files, want)
	}
	done, err := w.Commit(t.Context(), a.Dir, git.CommitRequest{Message: "x"})
	if err != nil {
		t.Fatal(err)
	}
	gitOut(t, a.Dir, "config", "--unset", "core.worktree")
	if got := gitOut(t, a.Dir, "show", "--format=", "--name-only", done.OID); got != ".gitattributes\ncode.go" {
		t.Errorf("committed: %s", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("ralph's git ran the agent's filter")
	}
}
