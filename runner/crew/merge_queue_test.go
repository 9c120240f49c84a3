package crew

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/slots"
	"ralph/runner/turn"
)

// shop is a repository with a queue. A tree fails the checks when it has a file "bad".
type shop struct {
	world.Folder
	q     *mergeQueue
	first string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Folder: world.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "shop")}}
	s.Write("code", "1\n")
	s.Git("init", "-q", "-b", "main")
	s.Commit("first")
	s.first = s.Git("rev-parse", "HEAD")
	joined := s.In(filepath.Join(t.TempDir(), "joined"))
	s.Git("worktree", "add", "-q", "--detach", joined.Dir, "HEAD")
	s.q = &mergeQueue{Branch: &branch{Root: joined.Dir, User: s.Dir, Name: "ralph/run"}}
	s.q.Check = func(context.Context, []mergeItem) (turn.Result, error) {
		bad := gate.Result{Name: "test", Blocks: joined.Read("bad") != "", Output: joined.Read("bad")}
		return turn.Result{Proof: turn.Proof{Report: gate.Report{Results: []gate.Result{bad}}}}, nil
	}
	s.Do(s.q.Branch.Open(context.Background()))
	return s
}

// work is an item that writes one file on top of the first commit.
func (s *shop) work(name, text string) mergeItem {
	s.Helper()
	side := s.In(filepath.Join(s.TempDir(), name))
	s.Git("worktree", "add", "-q", "--detach", side.Dir, s.first)
	side.Write(name, text)
	side.Commit("write " + name)
	return mergeItem{Task: name, Work: slots.Work{Base: s.first, Commit: side.Git("rev-parse", "HEAD")}}
}

func (s *shop) round(items ...mergeItem) string {
	s.Helper()
	out, err := s.q.Round(context.Background(), items)
	s.Do(err)
	var words []string
	for _, o := range out {
		switch {
		case o.Landed != "":
			words = append(words, "landed")
		case len(o.Conflict) > 0:
			words = append(words, "conflict:"+strings.Join(o.Conflict, ","))
		case o.Failed.Blocked():
			words = append(words, "failed")
		case o.Again:
			words = append(words, "again")
		}
	}
	return strings.Join(words, " ")
}

func (s *shop) landed() string {
	return strings.ReplaceAll(s.Git("log", "--reverse", "--format=%s", s.first+"..ralph/run"), "\n", ", ")
}

func TestRound_resultsThatFit_landTogetherAfterOneCheck(t *testing.T) {
	s := newShop(t)
	if got := s.round(s.work("a", "1"), s.work("b", "1"), s.work("c", "1")); got != "landed landed landed" || s.q.Runs != 1 {
		t.Errorf("%s after %d checks", got, s.q.Runs)
	}
	if got := s.landed(); got != "write a, write b, write c" {
		t.Error(got)
	}
	if why := s.q.Branch.Follow(context.Background()); why != "" || s.Read("c") != "1" || s.Git("status", "--porcelain") != "" {
		t.Errorf("the checkout does not follow: %s", why)
	}
	s.q.Branch.Close(context.Background())
	if got := s.Git("branch", "--list", "ralph/*"); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestRound_oneResultOnTheTip_needsNoCheck(t *testing.T) {
	s := newShop(t)
	if got := s.round(s.work("a", "1")); got != "landed" || s.q.Runs != 0 {
		t.Errorf("%s after %d checks", got, s.q.Runs)
	}
	if got := s.round(s.work("b", "1")); got != "landed" || s.q.Runs != 1 {
		t.Errorf("behind another one: %s after %d checks", got, s.q.Runs)
	}
}

func TestRound_oneBadAmongEight_isFoundInFourChecks(t *testing.T) {
	bads := []int{0, 2, 7}
	if !testing.Short() {
		bads = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	for _, bad := range bads {
		s := newShop(t)
		s.round(s.work("z", "1")) // no turn has checked what comes on top of it
		var items []mergeItem
		for i := range 8 {
			name := fmt.Sprint("f", i)
			if i == bad {
				name = "bad"
			}
			items = append(items, s.work(name, "1"))
		}
		got := strings.Fields(s.round(items...))
		for i, word := range got {
			want := "landed"
			if i == bad {
				want = "failed"
			} else if i > bad {
				want = "again"
			}
			if word != want {
				t.Errorf("bad %d: item %d %s", bad, i, word)
			}
		}
		if s.q.Runs > 4 {
			t.Errorf("bad %d: %d checks", bad, s.q.Runs)
		}
		if bad == 2 {
			if got := s.round(items[3:]...); got != strings.TrimSpace(strings.Repeat("landed ", 5)) {
				t.Errorf("the rest: %s", got)
			}
		}
	}
}

func TestRound_conflict_goesBackAndTheOthersLand(t *testing.T) {
	s := newShop(t)
	if got := s.round(s.work("a", "1\n"), func() mergeItem { i := s.work("code", "2\n"); return i }()); got != "landed landed" {
		t.Fatal(got)
	}
	other := s.In(filepath.Join(t.TempDir(), "other"))
	s.Git("worktree", "add", "-q", "--detach", other.Dir, s.first)
	other.Write("code", "3\n")
	other.Commit("also")
	it := mergeItem{Task: "x", Work: slots.Work{Base: s.first, Commit: other.Git("rev-parse", "HEAD")}}
	if got := s.round(it, s.work("b", "1")); got != "conflict:code landed" {
		t.Error(got)
	}
	if got := s.landed(); got != "write a, write code, write b" {
		t.Error(got)
	}
}

func TestLand_branchMoved_nothingIsOverwritten(t *testing.T) {
	s := newShop(t)
	a, b := s.work("a", "1"), s.work("b", "1")
	s.Do(s.q.Branch.Land(context.Background(), s.first, a.Work.Commit))
	if err := s.q.Branch.Land(context.Background(), s.first, b.Work.Commit); !errors.Is(err, errMoved) {
		t.Errorf("%v", err)
	}
	if got := s.landed(); got != "write a" {
		t.Error(got)
	}
}

func TestFollow_usersWork_isNeverTouched(t *testing.T) {
	world.Long(t, "many worktrees")
	for name, c := range map[string]struct {
		user func(s *shop)
		want string
	}{
		"changes in the same file":  {func(s *shop) { s.Write("code", "mine") }, "uncommitted changes"},
		"an untracked file":         {func(s *shop) { s.Write("a", "mine") }, "uncommitted changes"},
		"changes in another file":   {func(s *shop) { s.Write("notes", "mine") }, ""},
		"another branch":            {func(s *shop) { s.Git("switch", "-qc", "side") }, "another branch"},
		"commits of the user's own": {func(s *shop) { s.Write("x", "mine"); s.Commit("mine") }, "commits that the run does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			if got := s.round(s.work("a", "1"), s.work("code", "2")); got != "landed landed" {
				t.Fatal(got)
			}
			c.user(s)
			before := s.Git("status", "--porcelain") + s.Git("rev-parse", "HEAD") + s.Read("code") + s.Read("a")
			why := s.q.Branch.Follow(context.Background())
			if c.want == "" && (why != "" || s.Read("a") != "1" || s.Read("notes") != "mine") || !strings.Contains(why, c.want) {
				t.Errorf("%q, want %q", why, c.want)
			}
			if after := s.Git("status", "--porcelain") + s.Git("rev-parse", "HEAD") + s.Read("code") + s.Read("a"); c.want != "" && after != before {
				t.Errorf("it was %s, now %s", before, after)
			}
			s.q.Branch.Close(context.Background())
			if left := s.Git("branch", "--list", "ralph/run") != ""; left != (c.want != "") {
				t.Errorf("the branch is left: %v", left)
			}
		})
	}
}

func TestOpen_earlierRunLeftItsBranch_theNextOneBuildsOnIt(t *testing.T) {
	s := newShop(t)
	s.round(s.work("a", "1"))
	next := &branch{Root: s.q.Branch.Root, User: s.Dir, Name: "ralph/next"}
	s.Do(next.Open(context.Background()))
	if got := s.Git("log", "-1", "--format=%s", "ralph/next"); got != "write a" {
		t.Error(got)
	}
}

func TestRefresh_usersCommits_areTakenOver(t *testing.T) {
	s := newShop(t)
	s.Write("mine", "1")
	s.Commit("mine")
	if got := s.round(s.work("a", "1")); got != "landed" || s.q.Runs != 1 || s.landed() != "mine, write a" {
		t.Errorf("%s, %d checks, %s", got, s.q.Runs, s.landed())
	}
}

func TestCulprit_anyFirstBadOne_isFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "n")
		bad := rapid.IntRange(0, n-1).Draw(t, "bad")
		tries, most := 0, 0
		for 1<<most < n {
			most++
		}
		got, err := culprit(n, func(k int) (bool, error) { tries++; return k <= bad, nil })
		if d := cmp.Diff([]any{bad, nil, true}, []any{got, err, tries <= most}); d != "" {
			t.Errorf("%d tries of %d: %s", tries, most, d)
		}
	})
}

// A kill can come after git has written some of the files, or also the index.
func TestRecover_killWhileTheCheckoutMovesOn_bringsItBack(t *testing.T) {
	for _, index := range []bool{false, true} {
		s := newShop(t)
		s.Write("gone", "1")
		s.Commit("gone")
		s.first = s.Git("rev-parse", "HEAD")
		s.Git("rm", "-q", "gone")
		s.Write("a", "1")
		s.Write("code", "2\n")
		s.Commit("all at once")
		tip := s.Git("rev-parse", "HEAD")
		s.Git("reset", "-q", "--hard", s.first)
		s.Write("a", "1") // as far as git got
		s.Do(os.Remove(s.Path("gone")))
		if index {
			s.Write("code", "2\n")
			s.Git("add", "-A")
		} else {
			s.Write(".git/index.lock", "")
			s.Write("code", "the user's")
		}
		b := s.q.Branch
		b.Note = filepath.Join(t.TempDir(), "following")
		s.Do(os.WriteFile(b.Note, []byte(tip), 0o600))
		s.Do(b.Recover(context.Background()))
		want := ""
		if !index {
			want = " M code"
		}
		if got := s.Git("status", "--porcelain"); got != want {
			t.Errorf("index %v: %q", index, got)
		}
		s.Do(b.Recover(context.Background()))
	}
}
