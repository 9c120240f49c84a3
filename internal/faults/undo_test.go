//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
)

// writesFiles does its task in eight files, and leaves the commit to ralph.
func (a *actor) writesFiles() int {
	a.listen()
	for i := range 8 {
		_ = os.WriteFile(fmt.Sprintf("work-%d.%d", a.call, i), []byte(a.task), 0o644)
	}
	_ = os.WriteFile("shared", fmt.Append(nil, a.call), 0o644)
	data, _ := os.ReadFile(planName)
	_ = os.WriteFile(planName, []byte(strings.Replace(string(data), "- [ ] "+a.task+"\n", "- [x] "+a.task+"\n", 1)), 0o644)
	note("tick", a.task)
	return a.result(false, nil)
}

// undone is a project of which iterations can be undone again and again.
type undone struct {
	*project
	saved string
	took  time.Duration // of an undo
	toll  map[string]int
}

func newUndone(t *testing.T, commits bool) *undone {
	t.Helper()
	w := &undone{project: newProject(t, "writes-files", 4), saved: t.TempDir(), toll: map[string]int{}}
	w.Set("AUTO_COMMIT", fmt.Sprint(commits))
	w.Write(".gitignore", ".ralph/*\n!.ralph/fix_plan.md\n!.ralph/PROMPT.md\n")
	w.Write("shared", "0")
	w.Commit("more")
	w.ralph("run", "--max-iterations", "3").Ends(4)
	w.copyTree(w.Home, w.saved)
	begun := time.Now()
	w.ralph("undo", "3", "--yes").Ends(0)
	w.took = time.Since(begun)
	return w
}

func (w *undone) copyTree(from, to string) {
	w.Helper()
	w.Do(os.RemoveAll(to))
	if out, code := w.Run("cp", "-a", from, to); code != 0 {
		w.Fatal(out)
	}
}

func (w *undone) restore() {
	w.Helper()
	for _, name := range []string{"project", ".local"} {
		w.Do(os.RemoveAll(filepath.Join(w.Home, name)))
	}
	for _, name := range []string{"project", ".local"} {
		cmd := world.Folder{TB: w.TB, Dir: w.Home, Env: w.Env}
		if out, code := cmd.Run("cp", "-a", filepath.Join(w.saved, name), w.Home); code != 0 {
			w.Fatal(out)
		}
	}
}

// look says how far the undo of iteration 3 is: "before", "after", or what is between.
func (w *undone) look() string {
	w.Helper()
	files, _ := fs.Glob(os.DirFS(w.Dir), "work-3.*")
	gone, open := len(files) == 0, strings.Contains(w.Read(planName), "- [ ] T3 ")
	back := w.Read("shared") == "2"
	out, code := w.Run("ralph", "iterations", "--json")
	var rows []struct {
		N      int  `json:"n"`
		Number int  `json:"number"`
		Undone bool `json:"undone"`
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 || len(rows) != 3 {
		w.Fatalf("iterations: %v, %d\n%s", err, code, out)
	}
	said := rows[2].Undone
	_, err := os.Lstat(w.Path(".git/index.lock"))
	switch {
	case err == nil:
		return "index.lock left"
	case gone && open && back && said:
		return "after"
	case len(files) == 8 && !open && !back && !said:
		return "before"
	}
	return fmt.Sprintf("%d of 8 files there, box open %t, shared file back %t, recorded %t", len(files), open, back, said)
}

// hit ends one undo, and looks at what is left.
func (w *undone) hit(r *rand.Rand, sig syscall.Signal, next ...string) {
	w.Helper()
	w.restore()
	p := w.ralph("undo", "3", "--yes")
	defer p.Forget()
	wait := time.Duration(r.Int64N(int64(w.took)))
	aimed := r.IntN(2) == 0
	if aimed { // at what comes after the first change
		wait /= 4
		for p.Alive() {
			if _, err := os.Lstat(w.Path("work-3.0")); err != nil {
				break
			}
		}
	}
	select {
	case <-time.After(wait):
	case <-p.Exited:
	}
	_ = p.Process.Signal(sig)
	code := p.Wait(world.Patience)
	at := fmt.Sprintf("%v after %s, aimed %t, code %d:\n%s", sig, wait, aimed, code, p.Said())
	w.Until("git has ended", func() bool { return len(w.Living()) == 0 })
	is := w.look()
	if sig != syscall.SIGKILL && (is != "before" && is != "after" || (is == "after") != (code == 0)) {
		w.Errorf("%s: %s", at, is)
	}
	if is != "before" && is != "after" {
		w.toll["half"]++
	}
	if len(next) > 0 {
		out, code := w.Run(append([]string{"ralph"}, next...)...)
		if now := w.look(); now != "before" && now != "after" {
			w.Errorf("%s: %s; then %v ended with %d:\n%s\nit left %s", at, is, next, code, out, now)
		}
	}
	out, code := w.Run("ralph", "undo", "3", "--yes")
	told := len(next) > 0 || strings.Contains(p.Said(), "undone in ") // else the second one must say what it finished
	if code != 0 && !(told && code == 2 && strings.Contains(out, "undone already")) {
		w.Errorf("%s: %s; a second undo ended with %d:\n%s", at, is, code, out)
	}
	if now := w.look(); now != "after" {
		w.Errorf("%s: %s; a second undo left %s:\n%s", at, is, now, out)
	}
	s, err := state.Open(w.Path(".ralph")).Status()
	if err != nil || s.Undone != 1 {
		w.Errorf("%s: %s; status.json knows of %d undone iterations, %v:\n%s", at, is, s.Undone, err, out)
	}
	if status := w.Git("status", "--porcelain", "--", "work-3.*"); status != "" {
		w.Errorf("%s: %s; git status:\n%s", at, is, status)
	}
	for dir, pattern := range map[string]string{w.Path(".git"): "ralph-undo-*", filepath.Join(w.Home, ".local/state/ralph/runs"): "*.undo"} {
		if left, _ := fs.Glob(os.DirFS(dir), pattern); len(left) > 0 {
			w.Errorf("%s: %s; left: %v", at, is, left)
		}
	}
	w.toll[fmt.Sprint(sig)]++
}

func TestUndo_endedAtRandomMoments_allOrNothing(t *testing.T) {
	rounds := amount(3, 60)
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprintf("commits=%t", commits), func(t *testing.T) {
			t.Parallel()
			w := newUndone(t, commits)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range rounds {
				for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
					var next []string
					if i%3 == 1 {
						next = []string{"learn", "add", "tabs are four wide"} // any verb that takes the lock
					}
					w.hit(r, sig, next...)
				}
			}
			t.Logf("an undo took %s; %v", w.took, w.toll)
		})
	}
}
