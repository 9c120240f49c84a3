package crew

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
)

// shop is a repository with a queue. A tree fails the checks when it has a file "bad".
type shop struct {
	world.Folder
	q     *queue
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
	s.q = &queue{branch: &branch{Root: joined.Dir, User: s.Dir, Name: "ralph/run", Note: filepath.Join(t.TempDir(), "note")}}
	s.q.check = func(context.Context, []*Job) (turn.Result, error) {
		bad := gate.Result{Name: "test", Blocks: joined.Read("bad") != "", Output: joined.Read("bad")}
		return turn.Result{Proof: turn.Proof{Report: gate.Report{Results: []gate.Result{bad}}}}, nil
	}
	s.Do(s.q.branch.Open(context.Background()))
	return s
}

// work is a job that writes one file on top of the first commit.
func (s *shop) work(name, text string) *Job {
	s.Helper()
	side := s.In(filepath.Join(s.TempDir(), name))
	s.Git("worktree", "add", "-q", "--detach", side.Dir, s.first)
	side.Write(name, text)
	side.Commit("write " + name)
	return &Job{Task: task.Task{ID: name}, work: slots.Work{Base: s.first, Commit: side.Git("rev-parse", "HEAD")}}
}

func (s *shop) round(jobs ...*Job) string {
	s.Helper()
	out, err := s.q.round(context.Background(), jobs)
	s.Do(err)
	var words []string
	for _, o := range out {
		switch {
		case o.landed != "":
			words = append(words, "landed")
		case len(o.conflict) > 0:
			words = append(words, "conflict:"+strings.Join(o.conflict, ","))
		case o.failed.Blocked():
			words = append(words, "failed")
		case o.again:
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
	if got := s.round(s.work("a", "1"), s.work("b", "1"), s.work("c", "1")); got != "landed landed landed" || s.q.checks != 1 {
		t.Errorf("%s after %d checks", got, s.q.checks)
	}
	if got := s.landed(); got != "write a, write b, write c" {
		t.Error(got)
	}
	if why := s.q.branch.Follow(context.Background()); why != "" || s.Read("c") != "1" || s.Git("status", "--porcelain") != "" {
		t.Errorf("the checkout does not follow: %s", why)
	}
	s.q.branch.Close(context.Background())
	if got := s.Git("branch", "--list", "ralph/*"); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestRound_oneResultOnTheTip_needsNoCheck(t *testing.T) {
	s := newShop(t)
	if got := s.round(s.work("a", "1")); got != "landed" || s.q.checks != 0 {
		t.Errorf("%s after %d checks", got, s.q.checks)
	}
	if got := s.round(s.work("b", "1")); got != "landed" || s.q.checks != 1 {
		t.Errorf("behind another one: %s after %d checks", got, s.q.checks)
	}
}

func TestGather_jobThatWasAnnounced_isCheckedWithTheOthers(t *testing.T) {
	s := newShop(t)
	s.round(s.work("z", "1")) // no turn has checked what comes on top of it
	q := openQueue(t.Context(), s.q.branch, s.q.check)
	defer q.close()
	a, b, c := s.work("a", "1"), s.work("b", "1"), s.work("c", "1")
	for _, j := range []*Job{a, b, c} {
		j.Ctx, j.landing = t.Context(), make(chan landing, 1)
		q.announce()
	}
	q.in <- a
	go q.withdraw() // c does not come
	q.in <- b
	if one, two := <-a.landing, <-b.landing; one.landed == "" || two.landed == "" || q.checks != 1 {
		t.Errorf("%+v, %+v after %d checks", one, two, q.checks)
	}
}

func TestRound_oneBadAmongEight_goesBackAndTheOthersLand(t *testing.T) {
	bads := []int{2, 7}
	if !testing.Short() {
		bads = []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	for _, bad := range bads {
		s := newShop(t)
		s.round(s.work("z", "1")) // no turn has checked what comes on top of it
		var waiting []*Job
		for i := range 8 {
			name := fmt.Sprint("f", i)
			if i == bad {
				name = "bad"
			}
			waiting = append(waiting, s.work(name, "1"))
		}
		for failed := false; !failed; {
			var next []*Job
			for i, word := range strings.Fields(s.round(waiting...)) {
				switch isBad := waiting[i].Task.ID == "bad"; {
				case word == "again":
					next = append(next, waiting[i])
				case word == "failed" != isBad:
					t.Errorf("bad %d: %s %s", bad, waiting[i].Task.ID, word)
				}
				failed = failed || word == "failed"
			}
			waiting = next
		}
		if s.q.checks > 5 {
			t.Errorf("bad %d: %d checks", bad, s.q.checks)
		}
		if len(waiting) > 0 {
			if got := s.round(waiting...); strings.Contains(got, "again") || strings.Contains(got, "failed") {
				t.Errorf("bad %d: the rest: %s", bad, got)
			}
		}
	}
}

func TestRound_conflict_goesBackAndTheOthersLand(t *testing.T) {
	s := newShop(t)
	if got := s.round(s.work("a", "1\n"), s.work("code", "2\n")); got != "landed landed" {
		t.Fatal(got)
	}
	other := s.In(filepath.Join(t.TempDir(), "other"))
	s.Git("worktree", "add", "-q", "--detach", other.Dir, s.first)
	other.Write("code", "3\n")
	other.Commit("also")
	it := &Job{Task: task.Task{ID: "x"}, work: slots.Work{Base: s.first, Commit: other.Git("rev-parse", "HEAD")}}
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
	s.Do(s.q.branch.Land(context.Background(), s.first, a.work.Commit))
	if err := s.q.branch.Land(context.Background(), s.first, b.work.Commit); !errors.Is(err, errMoved) {
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
			why := s.q.branch.Follow(context.Background())
			if c.want == "" && (why != "" || s.Read("a") != "1" || s.Read("notes") != "mine") || !strings.Contains(why, c.want) {
				t.Errorf("%q, want %q", why, c.want)
			}
			if after := s.Git("status", "--porcelain") + s.Git("rev-parse", "HEAD") + s.Read("code") + s.Read("a"); c.want != "" && after != before {
				t.Errorf("it was %s, now %s", before, after)
			}
			s.q.branch.Close(context.Background())
			if left := s.Git("branch", "--list", "ralph/run") != ""; left != (c.want != "") {
				t.Errorf("the branch is left: %v", left)
			}
		})
	}
}

func TestOpen_earlierRunLeftItsBranch_theNextOneBuildsOnIt(t *testing.T) {
	s := newShop(t)
	s.round(s.work("a", "1"))
	next := &branch{Root: s.q.branch.Root, User: s.Dir, Name: "ralph/next"}
	s.Do(next.Open(context.Background()))
	if got := s.Git("log", "-1", "--format=%s", "ralph/next"); got != "write a" {
		t.Error(got)
	}
}

func TestRefresh_usersCommits_areTakenOver(t *testing.T) {
	s := newShop(t)
	s.Write("mine", "1")
	s.Commit("mine")
	if got := s.round(s.work("a", "1")); got != "landed" || s.q.checks != 1 || s.landed() != "mine, write a" {
		t.Errorf("%s, %d checks, %s", got, s.q.checks, s.landed())
	}
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
		b := s.q.branch
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
