package slots

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"ralph/internal/world"
	"ralph/runner/task"
)

// pair is two slots in which turns for two tasks have begun. users are uncommitted files of the user.
func pair(t *testing.T, users ...string) (world.Folder, [2]*Slot, [2]world.Folder, [2]Turn) {
	p, h := project(t)
	for _, name := range users {
		p.Write(name, "of the user\n")
	}
	tip := p.Git("rev-parse", "HEAD")
	var all [2]*Slot
	var in [2]world.Folder
	var turns [2]Turn
	now := time.Now().Add(-time.Second)
	for i := range all {
		turns[i] = Turn{Task: task.Task{ID: string(rune('A' + i)), Title: "task"}, Run: now, Began: now, Base: tip, Tip: tip}
		s, err := h.Open(context.Background(), i+1)
		p.Do(err)
		_, err = s.Begin(context.Background(), turns[i].Task, tip)
		p.Do(err)
		p.Do(s.Mark(context.Background(), turns[i].Task))
		all[i], in[i] = s, p.In(s.Dir)
	}
	return p, all, in, turns
}

func TestCrossed_whatAnotherTaskStashed_isFound(t *testing.T) {
	p, all, in, turns := pair(t)
	in[0].Write("a", "of A\n")
	in[0].Git("stash", "-q", "-u")
	in[1].Write("b", "of B\n")
	in[1].Git("stash", "-q", "-u")
	a, b := p.Git("rev-parse", "stash@{1}"), p.Git("rev-parse", "stash@{0}")
	in[0].Git("stash", "pop", "-q")
	in[1].Git("stash", "pop", "-q")
	for i, want := range []Crossing{{[]string{b}, []string{"b"}, []string{a}}, {[]string{a}, []string{"a"}, []string{b}}} {
		got, err := all[i].Crossed(context.Background(), turns[i])
		p.Do(err)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
}

func TestCrossed_changedSince_isFound(t *testing.T) {
	p, all, in, turns := pair(t)
	in[0].Write("a", "of A\n")
	in[0].Write("code", "of A\n")
	p.Do(os.Symlink("nowhere", in[0].Path("link")))
	in[0].Git("stash", "-q", "-u")
	in[1].Git("stash", "pop", "-q")
	in[1].Write("code", "of A and B\n")
	got, err := all[1].Crossed(context.Background(), turns[1])
	if d := cmp.Diff([]string{"a", "link"}, got.Files); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestCrossed_pipeInPlaceOfAFile_doesNotWait(t *testing.T) {
	p, all, in, turns := pair(t)
	in[0].Write("a", "of A\n")
	in[0].Git("stash", "-q", "-u")
	p.Do(unix.Mkfifo(in[1].Path("a"), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if got, err := all[1].Crossed(ctx, turns[1]); err != nil || len(got.Foreign) > 0 || ctx.Err() != nil {
		t.Errorf("%+v, %v, %v", got, err, ctx.Err())
	}
}

func TestCrossed_ownEntries_areNot(t *testing.T) {
	for name, work := range map[string]func(p world.Folder, in [2]world.Folder){
		"in the right order": func(_ world.Folder, in [2]world.Folder) {
			for i := range in {
				in[i].Write("new", in[i].Dir)
				in[i].Git("stash", "-q", "-u")
			}
			in[1].Git("stash", "pop", "-q")
			in[0].Git("stash", "pop", "-q")
		},
		"on its own commit, amended": func(_ world.Folder, in [2]world.Folder) {
			in[0].Git("commit", "-q", "--amend", "--allow-empty", "-m", "mine")
			in[0].Write("code", "2\n")
			in[0].Git("stash", "-q")
			in[0].Git("stash", "pop", "-q")
		},
		"dropped": func(_ world.Folder, in [2]world.Folder) {
			in[0].Write("code", "2\n")
			in[0].Git("stash", "-q")
			in[0].Git("stash", "drop", "-q")
		},
		"the user's files are in both": func(_ world.Folder, in [2]world.Folder) {
			in[0].Git("stash", "-q", "-u")
			in[0].Git("stash", "pop", "-q")
		},
		"some files are equal": func(_ world.Folder, in [2]world.Folder) {
			for i, name := range []string{"a", "b"} {
				in[i].Write(name, name)
				in[i].Write("lock", "equal\n")
				in[i].Git("stash", "-q", "-u")
				in[i].Git("stash", "pop", "-q")
			}
		},
		"an empty file is equal": func(_ world.Folder, in [2]world.Folder) {
			for i := range in {
				in[i].Write("code", in[i].Dir)
				in[i].Write("__init__.py", "")
				in[i].Git("stash", "-q", "-u")
				in[i].Git("stash", "pop", "-q")
			}
		},
		"what has landed": func(p world.Folder, in [2]world.Folder) {
			in[1].Write("b", "of B\n")
			in[1].Git("stash", "-q", "-u")
			in[1].Git("stash", "pop", "-q")
			in[1].Commit("of B")
			in[0].Git("rebase", "-q", in[1].Git("rev-parse", "HEAD"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var users []string
			if name == "the user's files are in both" {
				users = append(users, ".ralph/specs/a.md")
			}
			p, all, in, turns := pair(t, users...)
			work(p, in)
			if name == "what has landed" {
				turns[0].Tip = in[1].Git("rev-parse", "HEAD")
			}
			for i := range all {
				got, err := all[i].Crossed(context.Background(), turns[i])
				if err != nil || len(got.Foreign) > 0 {
					t.Errorf("slot %d: %+v, %v", i+1, got, err)
				}
			}
		})
	}
}

func TestSave_resetBelowTheBase_doesNotTakeBackWhatHasLanded(t *testing.T) {
	p, h := project(t)
	p.Write("landed", "of another task\n")
	p.Commit("landed")
	for name, reset := range map[string][]string{
		"reset":       {"reset", "-q", "--hard", "HEAD~1"},
		"with a mark": {"reset", "-q", "--hard", "HEAD~2"},
	} {
		t.Run(name, func(t *testing.T) {
			s, b, in := begin(p, h, 1)
			if name == "with a mark" {
				p.Do(s.Mark(context.Background(), one))
			}
			in.Git(reset...)
			in.Write("code", "2\n")
			in.Commit("work")
			w, err := s.Save(context.Background(), "work")
			p.Do(err)
			if d := cmp.Diff("code", p.Git("diff", "--name-only", w.Base, w.Commit)); d != "" {
				t.Error(d)
			}
			if w.Base == b.Base || p.Git("rev-parse", w.Commit+"^") != w.Base {
				t.Errorf("its base is %s, that of the turn %s", w.Base, b.Base)
			}
			_, b, in = begin(p, h, 1)
			if !b.Resumed || len(b.Conflict) > 0 || in.Read("landed") == "" || in.Read("code") != "2\n" {
				t.Errorf("the next turn begins with %+v, landed %q, code %q", b, in.Read("landed"), in.Read("code"))
			}
			p.Git("update-ref", "-d", Ref(w.Key))
		})
	}
}
