package cli

import (
	"path/filepath"
	"slices"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/scaffold"
	"ralph/runner/git"
	"ralph/runner/task/store"
)

const planFile = ".ralph/fix_plan.md"

// sayNext lists the commands that come next.
func (o *initOptions) sayNext(dir string, files []scaffold.File, a answers) {
	plan := files[slices.IndexFunc(files, func(f scaffold.File) bool { return f.Path == planFile })]
	name, add := plan.Path, ".ralph .ralphrc"
	if plan.Kept != "" && plan.Kept != plan.Path {
		name, add = plan.Kept, add+" "+plan.Kept
	}
	for _, used := range files { // those that are used where they are
		if used.Kept != "" && used.Kept != used.Path && used.Kept != name {
			add += " " + cmdline.Quote(used.Kept)
		}
	}
	vcs, ralph := "git", "ralph"
	if o.Dir != "" {
		vcs, ralph = vcs+" -C "+cmdline.Quote(o.Dir), ralph+" -C "+cmdline.Quote(o.Dir)
	}
	if a.Test == "" && len(a.Detected) == 0 {
		o.Say("no test command: set TEST_COMMAND in .ralphrc once there is one, " +
			"so that ralph can check the agent's work")
	}
	if a.agent == "" {
		o.Say("no agent that ralph knows is installed: ralph agent list shows them; " +
			"any other program works with AGENT=text")
	}
	steps := [][2]string{{"edit " + name, "list the tasks"}}
	if list, err := store.Load(store.At(dir, filepath.Join(dir, name), nil)); err == nil && plan.Kept != "" && list.Total() > 0 {
		steps[0] = [2]string{ralph + " task list", "shows the tasks, and the other verbs of task change them"}
	}
	if _, repo := git.Root(dir); !repo {
		steps = append(steps, [2]string{vcs + " init", "lets ralph show and undo what the agent changes"})
	}
	if u, err := o.Loader(dir, nil).Untrusted(); err == nil && len(u) > 0 {
		steps = append(steps, [2]string{ralph + " trust", "shows what the settings ask for, then asks you"})
	}
	steps = append(steps, [][2]string{
		{vcs + " add " + add + " && " + vcs + " commit -m 'Add ralph'", "else ralph leaves them out of its commits"},
		{ralph + " doctor", "checks that ralph can run here"},
		{ralph + " --dry-run", "shows the first prompt and calls nothing"},
		{ralph + " --monitor", "runs the loop"},
	}...)
	o.Say("next:")
	for _, step := range steps {
		o.Say("  %-18s # %s", step[0], step[1])
	}
}
