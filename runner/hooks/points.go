package hooks

import (
	"fmt"
	"strings"
)

// Point names a moment of a run.
type Point string

// The points.
const (
	RunStart        Point = "run_start"
	PreIteration    Point = "pre_iteration"
	PostIteration   Point = "post_iteration"
	PreTask         Point = "pre_task"
	PostTask        Point = "post_task"
	OnError         Point = "on_error"
	OnStoryComplete Point = "on_story_complete"
	OnComplete      Point = "on_complete"
	OnHalt          Point = "on_halt"
	OnLimit         Point = "on_limit"
	PreCommit       Point = "pre_commit"
	OnQuestion      Point = "on_question"
	PreMerge        Point = "pre_merge"
	PostMerge       Point = "post_merge"
)

// What a hook can keep from happening.
const (
	vetoRun    = "the run"
	vetoTask   = "the iteration: the task is put aside"
	vetoCommit = "the commit"
	vetoMerge  = "the merge: the agent gets the reason and tries again"
)

// Row is a row of the table of points.
type Row struct {
	Point Point
	When  string // the moment, in words
	Veto  string // what a hook that blocks keeps from happening; empty: nothing, the next prompt gets the reason
	// Turn is true when a turn lies behind the moment: its files are known, and
	// what failed can be told to the agent.
	Turn bool
}

// Points lists all points, in the order of a run.
func Points() []Row {
	return []Row{
		{Point: RunStart, When: "a run starts or is resumed", Veto: vetoRun},
		{Point: PreTask, When: "before the first attempt at a task", Veto: vetoTask},
		{Point: PreIteration, When: "before each iteration", Veto: vetoTask},
		{Point: PreCommit, When: "before ralph commits what the agent left uncommitted", Veto: vetoCommit, Turn: true},
		{Point: PreMerge, When: "before the commit of a task goes into the merge queue (only with worktrees: PARALLEL, ISOLATE, WORKERS, FLEET)",
			Veto: vetoMerge, Turn: true},
		{Point: OnError, When: "an agent call failed (a failed check does not count)", Turn: true},
		{Point: OnLimit, When: "an agent hit its usage limit", Turn: true},
		{Point: OnQuestion, When: "an agent asked you something, and its task waits", Turn: true},
		{Point: OnStoryComplete, When: "a task is done, and no check has reopened it", Turn: true},
		{Point: PostTask, When: "a task is done or was put aside", Turn: true},
		{Point: PostIteration, When: "after each iteration", Turn: true},
		{Point: PostMerge, When: "the commit of a task has landed (only with worktrees: PARALLEL, ISOLATE, WORKERS, FLEET)", Turn: true},
		{Point: OnComplete, When: "the run ends with exit code 0"},
		{Point: OnHalt, When: "the run ends with any other exit code"},
	}
}

// Find returns the row of a point. The error is one line for people.
func Find(name string) (Row, error) {
	var names []string
	for _, r := range Points() {
		if string(r.Point) == name {
			return r, nil
		}
		names = append(names, string(r.Point))
	}
	return Row{}, fmt.Errorf("%q is not a hook point; points are %s", name, strings.Join(names, ", "))
}

// row is the row of a point that is known to exist.
func (p Point) row() Row {
	r, _ := Find(string(p))
	return r
}
