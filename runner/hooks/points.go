package hooks

import (
	"fmt"
	"slices"
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
)

// Row is a row of the table of points.
type Row struct {
	Point Point
	When  string // the moment, in words
	Veto  string // what a hook that blocks keeps from happening; empty: nothing, the next prompt gets the reason
	// Turn is true when a turn lies behind the moment: its files are known, and
	// what failed can be told to the agent.
	Turn bool
	// Missing says why no hook can run there; empty: it can.
	Missing string
}

// Points lists all points, in the order of a run.
func Points() []Row {
	return []Row{
		{Point: RunStart, When: "a run starts or is resumed", Veto: vetoRun},
		{Point: PreTask, When: "before the first attempt at a task", Veto: vetoTask},
		{Point: PreIteration, When: "before each iteration", Veto: vetoTask},
		{Point: PreCommit, When: "before ralph commits what the agent left uncommitted", Veto: vetoCommit, Turn: true},
		{Point: OnError, When: "an iteration failed", Turn: true},
		{Point: OnLimit, When: "an agent met its usage limit", Turn: true},
		{Point: OnQuestion, When: "an agent asks a person something, and its task waits", Turn: true},
		{Point: OnStoryComplete, When: "a task is done, and its checks let it stand", Turn: true},
		{Point: PostTask, When: "a task is done or was put aside", Turn: true},
		{Point: PostIteration, When: "after each iteration", Turn: true},
		{Point: OnComplete, When: "the run ends with exit code 0"},
		{Point: OnHalt, When: "the run ends with any other exit code"},
		{Point: PreMerge, Missing: "the merge queue runs no hooks"},
		{Point: PostMerge, Missing: "the merge queue runs no hooks"},
	}
}

// Usable lists the points that a hook can run at.
func Usable() []Row {
	return slices.DeleteFunc(Points(), func(r Row) bool { return r.Missing != "" })
}

// Find returns the row of a point. The error is one line for people.
func Find(name string) (Row, error) {
	var names []string
	for _, r := range Points() {
		if string(r.Point) == name && r.Missing != "" {
			return r, fmt.Errorf("no hook can run at %s: %s", name, r.Missing)
		}
		if string(r.Point) == name {
			return r, nil
		}
		if r.Missing == "" {
			names = append(names, string(r.Point))
		}
	}
	return Row{}, fmt.Errorf("%q is no point of a run; points are %s", name, strings.Join(names, ", "))
}

// row is the row of a point that is known to exist.
func (p Point) row() Row {
	r, _ := Find(string(p))
	return r
}
