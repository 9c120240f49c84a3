package slots

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"ralph/runner/task/store"
	"ralph/state/option"
)

// The values of SlotOptions.Isolate and Land.
const (
	IsolateNone     = "none"
	IsolateWorktree = "worktree"
	LandCheckout    = "checkout"
	LandBranch      = "branch"
	LandPull        = "pr"
)

// LocalFleet is the address of the server on this machine.
const LocalFleet = "local"

// SlotOptions are the user's options for work side by side.
type SlotOptions struct {
	Parallel    int    // turns at the same time; at least 1
	ParallelAny bool   // also tasks with neither a [P] mark nor dependencies
	Isolate     string // IsolateNone or IsolateWorktree
	Setup       string // shell command that prepares a worktree; empty: none
	Fleet       string // address of the fleet that gets turns, too, or LocalFleet; empty: none
	FleetCreds  string // a file with NATS credentials; empty: a token
	Land        string // LandCheckout, LandBranch or LandPull
	LandBranch  string // the branch that tasks land on; empty: ralph/RUN
}

// Worktrees is true if turns work in worktrees.
func (o *SlotOptions) Worktrees() bool {
	return o.Parallel > 1 || o.Fleet != "" || o.Isolate == IsolateWorktree || o.Land == LandPull
}

// LandsOn is the branch that the tasks of a run land on.
func (o *SlotOptions) LandsOn(run string) string {
	if o.Land == LandCheckout || o.LandBranch == "" {
		return "ralph/" + run
	}
	return o.LandBranch
}

// Check returns an error if the options name a file that is not there.
func (o *SlotOptions) Check() error {
	if o.FleetCreds == "" {
		return nil
	}
	if _, err := os.Stat(o.FleetCreds); err != nil {
		return &UnfitError{fmt.Sprintf("FLEET_CREDS: %v", err)}
	}
	return nil
}

// CheckPlan returns an error if the options ask for worktrees and the plan that Locate would load does not work there.
func (o *SlotOptions) CheckPlan(dir, plan string) error {
	if program, _ := store.ProgramOf(dir, plan); program != "" && o.Worktrees() {
		return &UnfitError{"worktrees need a plan in files, and " + program + " keeps its tasks in a database; " +
			"leave out PARALLEL, ISOLATE and LAND"}
	}
	return nil
}

// Fit returns an error if a run with these options cannot work in the project. It needs no run.
func (o *SlotOptions) Fit(ctx context.Context, env []string, dir, plan string) error {
	if err := cmp.Or(o.Check(), o.CheckPlan(dir, plan)); err != nil || !o.Worktrees() {
		return err
	}
	home, err := HomeOf(env, dir, store.File{})
	if err != nil {
		return err
	}
	return home.Check(ctx, o.Setup)
}

// Options returns the rows of the option table that fill o.
func (o *SlotOptions) Options() []option.Row {
	const group = "Side by side"
	return []option.Row{{
		Group: group, Key: "PARALLEL", Flag: "parallel", Arg: "N", YAML: "parallel.slots",
		Kind: option.Int, Default: "1", Min: "1", Max: "64", Field: &o.Parallel,
		Help: "Tasks to work on at the same time, each in its own git worktree.",
	}, {
		Group: group, Key: "PARALLEL_ANY", YAML: "parallel.any",
		Kind: option.Bool, Default: "false", Field: &o.ParallelAny,
		Help: "Also work side by side on tasks that have neither a [P] mark nor dependencies.",
	}, {
		Group: group, Key: "ISOLATE", Flag: "isolate", Arg: "none|worktree", YAML: "parallel.isolate",
		Kind: option.Enum, Default: IsolateNone, Values: []string{IsolateNone, IsolateWorktree}, Field: &o.Isolate,
		Help: "worktree lets agents work in a git worktree even if PARALLEL is 1, " +
			"so that only finished tasks reach your files.",
	}, {
		Group: group, Key: "WORKTREE_SETUP", YAML: "parallel.setup",
		Kind: option.String, Trust: true, Field: &o.Setup,
		Help: "Shell command that prepares a new worktree, such as npm ci, " +
			"and runs again when a manifest has changed; empty means none.",
	}, {
		Group: group, Key: "FLEET", Flag: "fleet", Arg: "URL", Alone: LocalFleet, YAML: "parallel.fleet",
		Kind: option.String, Trust: true, Field: &o.Fleet, What: LocalFleet + ", " + option.ServersForm,
		Takes: func(text []string) bool { return option.Servers(text[0]) },
		Help: "Also send turns to the workers of the fleet at this NATS address; " +
			"local means the server on this machine (ralph-hub fleet).",
	}, {
		Group: group, Key: "FLEET_CREDS", Flag: "creds", Arg: "FILE", YAML: "parallel.fleet_creds",
		Kind: option.Path, Trust: true, Field: &o.FleetCreds,
		Help: "A file with NATS credentials for the fleet; empty means the token in RALPH_FLEET_TOKEN.",
	}, {
		Group: group, Key: "LAND", Flag: "land", Arg: "checkout|branch|pr", YAML: "parallel.land",
		Kind: option.Enum, Default: LandCheckout, Values: []string{LandCheckout, LandBranch, LandPull}, Field: &o.Land,
		Trust: true, Safe: []string{LandCheckout, LandBranch},
		Help: "Where finished tasks go: checkout moves your branch forward, " +
			"branch leaves them on ralph/RUN for you to look at, pr also pushes them and opens a pull request with gh (docs/pull-requests.md).",
	}, {
		Group: group, Key: "LAND_BRANCH", YAML: "parallel.land_branch",
		Kind: option.String, Trust: true, Field: &o.LandBranch,
		Help: "The branch that LAND=branch and LAND=pr use instead of ralph/RUN. One that exists is continued, " +
			"if it has all commits of yours; with LAND=pr, it may be the one that is checked out.",
	}}
}
