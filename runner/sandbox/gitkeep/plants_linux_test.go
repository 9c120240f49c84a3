package gitkeep

import (
	"os"
	"path/filepath"
	"testing"

	"ralph/internal/world"
)

func TestGitkeep_eachPlant_isStartedWithoutIt_andNotWithIt(t *testing.T) {
	t.Parallel()
	yard := world.NewYard(t)
	for n, p := range world.Plants() {
		t.Run(p.Name, func(t *testing.T) {
			if testing.Short() && n%4 != 0 {
				t.Skip("long: one more repository")
			}
			t.Parallel()
			if !p.Quiet {
				without := world.CopyOf(t, yard.Home)
				without.Run("sh", "-c", p.Do())
				if ran := without.As(p.User); ran == "" {
					t.Error("without it, git starts nothing")
				}
			}
			w := world.CopyOf(t, yard.Home)
			before, logs := w.Settings(), filepath.Join(w.Home, "logs")
			r := Repository{Dir: w.Dir, Git: []string{w.Path(".git"), w.Path(".git")}, DotGit: w.Path(".git")}
			win, err := Open(r, Place{Records: filepath.Join(w.Home, "records"), Logs: logs})
			w.Do(err)
			w.Run("sh", "-c", p.Do())
			back, err := win.Close()
			w.Do(err)
			if len(back.Files) == 0 {
				t.Error("nothing was put back")
			}
			if p.Name == ".git is a file" {
				w.Sh("mv .moved .git")
			}
			if after := w.Settings(); after != before {
				t.Errorf("put back %v\n%s\nwas\n%s", back.Files, after, before)
			}
			if ran := w.As(p.User); ran != "" {
				t.Errorf("git started %q; put back %v", ran, back.Files)
			}
			if kept, _ := filepath.Glob(filepath.Join(logs, "planted.*")); len(kept) == 0 && p.Name != "a disabled hook" {
				t.Errorf("nothing is kept of %v", back.Files)
			}
			if left, _ := filepath.Glob(filepath.Join(w.Home, "records", "*.json")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if text := w.Read("../outside"); text != "outside\n" {
				t.Errorf("written outside: %q", text)
			}
			if _, err := os.Stat(filepath.Join(w.Home, "mine")); err != nil {
				t.Error("the user's own hook did not run")
			}
		})
	}
}
