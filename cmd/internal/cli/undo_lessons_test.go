package cli

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"ralph/runner/git"
	"ralph/runner/memory"
)

// Iterations 1 and 2 add a file and teach a lesson each, which ralph lists in progress.txt, too.
func newTaughtWorld(t *testing.T, committed bool) *pastWorld {
	t.Helper()
	w := newEmptyWorld(t)
	w.write("progress.txt", "log\n")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	k, _ := git.NewKeeper(w.Dir)
	base := w.keep(k, git.State{Run: pastRun, Iteration: 1, Start: true})
	var all []memory.Lesson
	for n, text := range []string{"Dates are stored in UTC", "The cache is per user"} {
		w.write([]string{"one.txt", "two.txt"}[n], "new\n")
		l := memory.New(text, time.Now())
		l.Turns = []memory.Turn{{Run: pastRun, Iteration: n + 1}}
		was := all
		if all = append(all[:n:n], l); committed {
			w.git("add", "-A")
			w.git("commit", "-q", "-m", text)
		}
		if _, err := memory.Save(w.Dir, was, all); err != nil {
			t.Fatal(err)
		}
		if committed {
			w.git("commit", "-q", "-am", "lesson")
		}
		base = w.keep(k, git.State{Run: pastRun, Iteration: n + 1, Base: base})
	}
	return w
}

func TestUndo_lessonsHaveComeSince_onlyItsOwnGoes(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a run with many commits")
	}
	for name, c := range map[string]struct {
		committed bool
		undo      []string
		want      string // of progress.txt
	}{
		"a person's, work committed":     {true, []string{"2"}, "## Codebase Patterns\n- Keys are hidden\n- Dates are stored in UTC\n\nlog\n"},
		"a person's, work not committed": {false, []string{"2"}, "## Codebase Patterns\n- Keys are hidden\n- Dates are stored in UTC\n\nlog\n"},
		"that of a later iteration":      {true, []string{"1"}, "## Codebase Patterns\n- Keys are hidden\n- The cache is per user\n\nlog\n"},
		"both iterations":                {false, []string{"1", "2"}, "## Codebase Patterns\n- Keys are hidden\n\nlog\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTaughtWorld(t, c.committed)
			w.want(0, "added", "learn", "add", "Keys are hidden")
			for _, n := range c.undo {
				w.want(0, "forgot 1 lesson that it taught", "undo", n, "--yes")
				w.want(2, "is undone already", "undo", n, "--yes")
			}
			learned := regexp.MustCompile(` \(\d{4}-\d\d-\d\d, a person\)`) // when, and by whom
			if got := learned.ReplaceAllString((&planWorld{pastWorld: w}).read("progress.txt"), ""); got != c.want {
				t.Errorf("%s", got)
			}
			if c.committed {
				w.wantDirty("progress.txt")
			}
			if all, err := memory.Load(w.Dir); err != nil || len(all) != 3-len(c.undo) {
				t.Errorf("%+v, %v", all, err)
			}
		})
	}
}

// What somebody else wrote into the file is theirs.
func TestUndo_notesChangedByHand_onlyTheLessonGoes(t *testing.T) {
	w := newTaughtWorld(t, false)
	w.write("progress.txt", "## Codebase Patterns\n- Dates are stored in UTC\n\nlog\nby hand\n")
	w.want(0, "forgot 1 lesson that it taught", "undo", "1", "--yes")
	if got := (&planWorld{pastWorld: w}).read("progress.txt"); got != "## Codebase Patterns\n\nlog\nby hand\n" {
		t.Errorf("%s", got)
	}
}

// wantDirty wants these files to differ from HEAD, and no others.
func (w *pastWorld) wantDirty(names ...string) {
	w.t.Helper()
	snap, err := git.Observe(context.Background(), w.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range []string{"one.txt", "two.txt", "progress.txt"} {
		if snap.Dirty(name) != strings.Contains(strings.Join(names, " "), name) {
			w.t.Errorf("%s: differs %t", name, snap.Dirty(name))
		}
	}
}

func TestReport_namesWhatTheRunTaught(t *testing.T) {
	w := newTaughtWorld(t, true)
	w.told(pastRun)
	w.want(0, "added", "learn", "add", "Keys are hidden")
	out := w.want(0, "- Dates are stored in UTC (ralph learn forget ", "report", pastRun)
	if strings.Contains(out, "Keys") {
		t.Errorf("a person's lesson is not of the run:\n%s", out)
	}
	w.want(0, "forgot 1 lesson", "undo", "1", "--yes", "--run", pastRun)
	if out := w.want(0, "The cache is per user", "report", pastRun); strings.Contains(out, "Dates") {
		t.Errorf("it is undone:\n%s", out)
	}
}
