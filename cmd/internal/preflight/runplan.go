package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/cmd/internal/config"
	"ralph/state"
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

// FindRunPlan is FindPlan for verbs that are about a run: unless the user has just named another plan, it takes that of
// the run that is alive or, if it was not finished, of the last one.
func (p *Project) FindRunPlan() error {
	source := p.Config.Source(planKey).Kind
	if plan, run := unfinished(p.loader); plan != "" && source != config.SourceFlag && source != config.SourceEnvironment {
		p.Config.Choose(planKey, plan, "run "+run)
	}
	return p.FindPlan()
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
