package history

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/git"
)

// passed waits until the clock of the file system is past now.
func (p *project) passed() {
	p.Helper()
	began := time.Now()
	for ; !git.ChangedSince(p.Dir, "probe", began); time.Sleep(time.Millisecond) {
		p.Write("probe", "")
	}
	p.Do(os.Remove(filepath.Join(p.Dir, "probe")))
}

// A call is cut off, a person edits, and the run is resumed.
func TestBegun_resumedIteration_undoCoversBothPartsAndNothingOfThePersons(t *testing.T) {
	for name, killed := range map[string]bool{"its end is kept": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, map[string]string{"a": "1\n", "mine": "m\n", "sub/gone": "g\n", "sub/stays": "s\n"})
			p.Write("a", "2\n")
			p.Write("new", "the agent's")
			p.Do(os.Remove(filepath.Join(p.Dir, "sub", "gone")))
			cut := Cut{Run: "r", Iteration: 1}
			if killed {
				p.passed()
				cut.Killed = time.Now().Add(-git.KillGrace)
				p.passed()
			} else {
				p.keep(git.State{Run: "r", Iteration: 1, Base: p.base})
			}
			p.Write("mine", "edited\n")
			p.Write("note", "the person's")
			begun, err := Begun(context.Background(), p.Dir, cut)
			p.Do(err)
			p.keep(git.State{Run: "r", Iteration: 1, Start: true})
			p.Git("reflog", "expire", "--expire=now", "--all")
			p.Git("gc", "-q", "--prune=now")
			p.Write("a", "3\n")
			p.Write("later", "the agent's")
			p.keep(git.State{Run: "r", Iteration: 1, Base: begun.Base})
			p.undo(1)
			if d := cmp.Diff(map[string]string{"a": "1\n", "mine": "edited\n", "note": "the person's", "sub/gone": "g\n", "sub/stays": "s\n"}, p.files()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBegun_nothingIsKeptOfTheIteration_beginsNow(t *testing.T) {
	p := newProject(t, map[string]string{"a": "1"})
	for _, c := range []Cut{{Run: "r", Iteration: 1}, {Run: "other", Iteration: 1, Killed: time.Now()}} {
		if s, err := Begun(context.Background(), p.Dir, c); err != nil || s.Base != "" || s.Iteration != 0 {
			t.Errorf("%+v: %+v, %v", c, s, err)
		}
	}
}
