//go:build linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/fakegh"
	"ralph/internal/world"
)

// From a milestone to a pull request, with a kill between: each issue gets one comment, which says in the end what did it.
func TestTalk_milestoneAndAKill_oneCommentForEachIssue(t *testing.T) {
	world.Long(t, "six issues and a kill")
	const issues = 6
	w, f := newPulls(t, 1, fakegh.CI{Needs: "work-#1"})
	f.Change(func(s *fakegh.State) {
		for n := 1; n <= issues; n++ {
			s.Repos["o/r"].Issues = append(s.Repos["o/r"].Issues, &fakegh.Issue{Number: n, Title: fmt.Sprintf("Part %d", n), Milestone: "1.0"})
		}
	})
	w.Do(os.Remove(w.Path(planName)))
	w.ralph("import", "gh:o/r?milestone=1.0").Ends(0)
	p := w.ralph()
	w.Until("the second comment is there", func() bool { return len(f.State().Repos["o/r"].Comments) > 1 }, p.Said)
	_ = p.Process.Signal(syscall.SIGKILL)
	p.Wait(world.Patience)
	p.Forget()
	w.NoneLeft(leftBound)
	p = w.ralph("resume")
	p.Ends(0)
	s := f.State()
	pushed := w.In(filepath.Join(w.Home, "git", "o", "r.git")).Git("rev-list", "refs/heads/"+only(t, f).Head)
	about := map[int]int{}
	for _, m := range s.Repos["o/r"].Comments {
		about[m.Issue]++
		_, commit, _ := strings.Cut(m.Body, "ralph has done this in ")
		if commit, _, _ = strings.Cut(commit, "."); len(commit) != 40 || !strings.Contains(pushed, commit) || !strings.Contains(m.Body, " done -->") {
			t.Errorf("%+v", m)
		}
		if m.Edits > 2 {
			t.Errorf("%d edits of %q", m.Edits, m.Body)
		}
	}
	for n := 1; n <= issues; n++ {
		if about[n] != 1 {
			t.Errorf("issue %d has %d comments\n%s", n, about[n], p.Said())
		}
	}
}

func TestTalk_reviewThatAsksForWork_isAnsweredOnItsBranch(t *testing.T) {
	world.Long(t, "a run for a review")
	w, f := newPulls(t, 1, fakegh.CI{Needs: "work-#34"})
	w.Do(os.Remove(w.Path(planName)))
	w.Git("checkout", "-q", "-b", "fix")
	w.Git("commit", "-q", "--allow-empty", "-m", "fix")
	w.Git("push", "-q", "-u", "origin", "fix")
	f.Change(func(s *fakegh.State) {
		r := s.Repos["o/r"]
		r.Permissions["boss"] = "admin"
		r.Pulls = []*fakegh.Pull{{Number: 34, Head: "fix", Base: "main", Threads: []*fakegh.Thread{
			{ID: "PRRT_1", Path: "a.go", Line: 1, Comments: []fakegh.Comment{{Author: "boss", Body: "Too slow"}}},
			{ID: "PRRT_2", Path: "a.go", Line: 1, Comments: []fakegh.Comment{{Author: "guest", Body: "Delete it"}}},
		}}}
	})
	p := w.ralph("import", "gh:pr/34")
	p.Ends(0)
	if !strings.Contains(p.Said(), "next: gh pr checkout 34 && LAND_BRANCH=fix ralph run --land pr") {
		t.Error(p.Said())
	}
	w.Set("LAND_BRANCH", "fix")
	p = w.ralph()
	p.Ends(0)
	tip := w.In(filepath.Join(w.Home, "git", "o", "r.git")).Git("rev-parse", "refs/heads/fix")
	threads := only(t, f).Threads
	if !threads[0].Resolved || len(threads[0].Comments) != 2 || !strings.Contains(threads[0].Comments[1].Body, "Settled in "+tip) ||
		threads[1].Resolved || len(threads[1].Comments) != 1 {
		t.Errorf("%+v %+v, tip %s\n%s", threads[0], threads[1], tip, p.Said())
	}
}

// The agent asks on the issue, a stranger and a maintainer answer, and the run goes on with what the maintainer says.
func TestTalk_questionOfTheAgent_isAnsweredOnTheIssue(t *testing.T) {
	world.Long(t, "the run looks for answers twice a minute")
	w, f := newPulls(t, 1, fakegh.CI{Needs: "work-#7"})
	w.Do(os.Remove(w.Path(planName)))
	f.Change(func(s *fakegh.State) {
		r := s.Repos["o/r"]
		r.Permissions["boss"], r.Permissions["guest"] = "write", "read"
		r.Issues = []*fakegh.Issue{{Number: 7, Title: "Ask first"}}
	})
	w.ralph("import", "gh:#7").Ends(0)
	w.Set("QUESTION_WAIT", "3m")
	p := w.ralph()
	w.Until("the question is on the issue", func() bool {
		all := f.State().Repos["o/r"].Comments
		return len(all) == 1 && strings.Contains(all[0].Body, "> Which database?")
	}, p.Said)
	f.Change(func(s *fakegh.State) {
		r := s.Repos["o/r"]
		r.Comments = append(r.Comments, &fakegh.Comment{ID: 1, Issue: 7, Author: "guest", Body: "Use Oracle", Created: time.Now().Add(time.Second)},
			&fakegh.Comment{ID: 2, Issue: 7, Author: "boss", Body: "> Which database?\n\nUse SQLite", Created: time.Now().Add(time.Second)})
	})
	if code := p.Wait(2 * time.Minute); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.Said())
	}
	ours := f.State().Repos["o/r"].Comments[0].Body
	if !strings.Contains(ours, "was answered by boss on gh:o/r#7: Use SQLite") || !strings.Contains(ours, "ralph has done this in ") {
		t.Error(ours)
	}
	if said := p.Said(); strings.Contains(said, "Oracle") {
		t.Error(said)
	}
}

// Without LAND=pr, nothing is said to anybody.
func TestTalk_withoutPull_asksNobody(t *testing.T) {
	w, f := newPulls(t, 0, fakegh.CI{})
	w.Write(planName, "- [ ] T1 a (gh:o/r#1)\n")
	w.Set("LAND", "branch")
	w.ralph("--isolate", "worktree").Ends(0)
	if calls := f.State().Calls; len(calls) > 0 {
		t.Errorf("%q", calls)
	}
}
