package preflight

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/view"
)

const (
	planKey  = "PLAN_FILE"
	planFlag = "--plan="
)

// KeepPlan makes the plan that was found a flag of the run: it is resumed with the same one, and what people do
// meanwhile is about that one, also when the plans of other features are open.
func KeepPlan(cfg *config.Config, dir, plan string) {
	if rel, err := filepath.Rel(dir, plan); err == nil && plan != "" && cfg.PlanFile == "" {
		cfg.Choose(planKey, filepath.ToSlash(rel), "found")
	}
}

// findRunPlan finds the plan for what is about a run: unless somebody has just named another, that of the run that is
// alive, or else of the last one if it is not finished. It says in one line which plan was taken if another
// one is open; empty: none is.
func findRunPlan(loader config.Loader, cfg *config.Config, find func() (plan string, err error)) (taken string, err error) {
	source := cfg.Source(planKey).Kind
	named := source == config.SourceFlag || source == config.SourceEnvironment
	plan, run := unfinished(loader)
	switch {
	case plan != "" && !named:
		cfg.Choose(planKey, plan, "run "+run)
	case cfg.PlanFile != "":
		_, err := find()
		return "", err
	}
	if plan, err = find(); err != nil {
		return "", err
	}
	return PlanTaken(loader.Dir, plan, run, cfg.OptionalSections), nil
}

// unfinished is the plan of the run that is alive, or was not finished; empty if there is none.
func unfinished(loader config.Loader) (plan, run string) {
	r := state.Open(filepath.Join(loader.Dir, state.DirName))
	s, err := r.Status()
	if _, alive := r.Owner(); err != nil || !alive && !s.Ending().Unfinished() {
		return "", ""
	}
	known, err := loader.KeptRuns() // what is in the project, an agent can write
	i := slices.IndexFunc(known, func(k config.KeptRun) bool { return k.Run == s.RunID })
	if err != nil || i < 0 {
		return "", ""
	}
	for _, word := range known[i].Flags {
		if value, is := strings.CutPrefix(word, planFlag); is {
			plan = value
		}
	}
	path := plan
	if !filepath.IsAbs(path) {
		path = filepath.Join(loader.Dir, path)
	}
	if _, gone := os.Stat(path); plan == "" || gone != nil {
		return "", ""
	}
	return plan, s.RunID
}

// PlanTaken says in one line that a plan is that of a run, or else the first one, and which others are open;
// empty: none is.
func PlanTaken(dir, plan, run string, optionalSections []string) string {
	var open []string
	for _, found := range store.All(dir, optionalSections) {
		if name, _ := store.ProgramOf(dir, found.Path); found.Path == plan || name != "" {
			continue // what only a program reads may need consent
		}
		if list, err := store.Load(store.At(dir, found.Path, optionalSections)); err == nil && list.Remaining() > 0 {
			open = append(open, view.Within(dir, found.Path))
		}
	}
	if len(open) == 0 || plan == "" {
		return ""
	}
	why := "the first in the order of docs/plans.md"
	if run != "" {
		why = "that of run " + run
	}
	return fmt.Sprintf("plan %s, %s; also open: %s", view.Within(dir, plan), why, termtext.Some(open, 5))
}
