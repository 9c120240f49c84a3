package preflight

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/view"
)

// FindPlan finds the plan and reads it: it sets Plan and Tasks.
func (p *Project) FindPlan() (err error) {
	if claim, ok := p.planProgram(); ok {
		if known, err := p.loader.Trusted(claim); !known || err != nil {
			return cmp.Or(err, cmdline.UsageError("%s, and you have not agreed to that yet; agree with: ralph trust", claim.Lines[0]))
		}
	}
	p.Tasks, err = store.Locate(p.Dir, p.Config.PlanFile, p.Config.OptionalSections)
	if p.Plan = p.Tasks.Path; err != nil {
		return cmdline.UsageError("%v", err)
	}
	return nil
}

// planProgram is the consent to run the program that keeps the tasks of the plan, because it may run
// what the project configures; false: the plan is a file.
func (p *Project) planProgram() (config.Untrusted, bool) {
	name, path := store.ProgramOf(p.Dir, p.Config.PlanFile)
	if name == "" {
		return config.Untrusted{}, false
	}
	return p.loader.Claim("plan by "+name, fmt.Sprintf("the plan %s is read and changed by running %s", view.Within(p.Dir, path), name)), true
}

// choosePlan is FindPlan for a run: it asks for consent first.
func (p *Project) choosePlan(f *cmdline.Factory) error {
	if claim, ok := p.planProgram(); ok {
		own := *f
		own.Shows = false // the program runs even if nothing else does
		if err := own.Trust(p.loader, claim); err != nil {
			return err
		}
	}
	return p.FindPlan()
}

// OtherPlans says in one line which plan of several is taken, and why; empty if there is only
// one, or the user has named it.
func (p *Project) OtherPlans() string {
	if p.Config.PlanFile != "" {
		return ""
	}
	all := termtext.Each(store.All(p.Dir, p.Config.OptionalSections), func(found store.Found) string {
		return fmt.Sprintf("%s (%s)", view.Within(p.Dir, found.Path), found.Format)
	})
	if len(all) < 2 {
		return ""
	}
	return fmt.Sprintf("several plans: taking %s, the first in the order of docs/plans.md, not %s; "+
		"choose one with --plan or PLAN_FILE", all[0], termtext.Some(all[1:], 5))
}

// OtherBranch says that the plan is for another branch than the one that is checked out; empty: it is not, or nobody knows.
func (p *Project) OtherBranch() string {
	if p.Tasks.Branch == "" || p.Branch == "" || p.Tasks.Branch == p.Branch {
		return ""
	}
	return fmt.Sprintf("%s is for the branch %q, but %q is checked out, and a run works there; to switch: git switch %s (-c makes it)",
		view.Within(p.Dir, p.Plan), p.Tasks.Branch, p.Branch, cmdline.Quote(p.Tasks.Branch))
}

// checkPlan refuses a plan that no run can work through, before anything is spent, and warns
// of what a person may have meant otherwise.
func (p *Project) checkPlan(f *cmdline.Factory) error {
	view, err := p.Config.View().In(p.Tasks)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if err := p.Config.Located(p.Config.Fit(context.Background(), p.Env, p.Dir, p.Plan)); err != nil {
		return err
	}
	if p.Plan == "" {
		return nil
	}
	p.Tasks.View, p.Config.OnlyTasks = view, view.Tasks
	p.Tasks = p.Tasks.ApplyView()
	if p.Config.PopTasks && !store.CanRemove(p.Tasks) {
		return cmdline.UsageError("in %s, a task is a file of its own, and none can leave the plan; leave out --pop-tasks", p.Tasks.Format)
	}
	if p.Config.PopTasks && p.Config.Worktrees() {
		return cmdline.UsageError("--pop-tasks works in the checkout only; leave it out, or leave out --parallel and --isolate")
	}
	if problem := Problem(p.Dir, p.Tasks); problem != "" {
		return cmdline.UsageError("%s", problem)
	}
	for _, line := range slices.Concat(p.Tasks.OddBoxes(), p.Tasks.Warnings, p.overruled()) {
		f.Warn(line)
	}
	return nil
}

// overruled says to which tasks --agent and --model do not apply, because the plan names others.
func (p *Project) overruled() (lines []string) {
	for _, o := range []struct{ key, value string }{{"AGENT", p.Config.Agent}, {"MODEL", p.Config.Model}} {
		var tasks []string
		for _, t := range p.Tasks.Tasks {
			who := pool.Wanted(t.Choice, p.Tasks.Choice)
			other := who.Agent != "" && who.Agent != p.Config.Agent || o.key == "MODEL" && who.Model != "" && who.Model != o.value
			if other && t.Pending() && t.Required() {
				tasks = append(tasks, fmt.Sprintf("%s (%s)", t.ID, strings.TrimSpace(who.Agent+" "+who.Model)))
			}
		}
		if source := p.Config.Source(o.key); strings.HasPrefix(source.Where, "-") && len(tasks) > 0 {
			lines = append(lines, fmt.Sprintf("%s %s does not apply where the plan names another: %s", source.Where, o.value, termtext.Some(tasks, 5)))
		}
	}
	return lines
}

// Problem is what keeps a run from starting with the plan, in one line; empty: nothing.
func Problem(dir string, list task.List) string {
	all := list.Problems()
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("the plan %s cannot be worked through: %s", view.Within(dir, list.Path), strings.Join(all[:min(len(all), 5)], "; "))
}

const planKey = "PLAN_FILE"

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
	plan = known[i].Flags[planKey]
	path := plan
	if !filepath.IsAbs(path) {
		path = filepath.Join(loader.Dir, path)
	}
	if _, gone := os.Stat(path); plan == "" || gone != nil {
		return "", ""
	}
	return plan, s.RunID
}

// NoTasks says in one line why there is no work to do: the plan has no task that keeps a run
// going, or it is gone; empty: it has one, or the project never had a plan.
func (p *Project) NoTasks() string {
	if p.Plan == "" {
		return p.planGone()
	}
	if p.Tasks.Total() > 0 {
		return ""
	}
	example := "" // other formats have tools of their own
	switch base := strings.ToLower(filepath.Base(p.Plan)); {
	case base == "prd.json":
		example = `; a task is written like this: "userStories": [{"title": "what to do"}]`
	case strings.HasSuffix(base, ".md"):
		example = "; a task is written like this: - [ ] what to do"
	}
	what := "no task yet"
	if len(p.Tasks.Tasks) > 0 {
		what = "only optional tasks"
	}
	return view.Within(p.Dir, p.Plan) + " has " + what + example
}

const maxPrompt = 16 << 20 // bytes

// planGone says how ralph knows that a project without a plan had one; empty: it had none.
func (p *Project) planGone() string {
	if text, err := prompt.Read(p.Dir, p.Prompt, maxPrompt); err == nil {
		for _, name := range scaffold.PlanNames() {
			if bytes.Contains(text, []byte(name)) {
				return fmt.Sprintf("there is no plan, but %s names %s", view.Within(p.Dir, p.Prompt), name)
			}
		}
	}
	if last, err := cmdline.OpenState(p.Dir).Status(); err == nil && last.Task.Total > 0 {
		return "there is no plan, but the last run had one with " + termtext.Count(last.Task.Total, "task")
	}
	return ""
}
