package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/ledger"
	"ralph/runner/sandbox"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/question"
)

type doctorOptions struct {
	*cmdline.Factory
	flags map[string]string
	live  bool
}

// newDoctorCmd returns ralph doctor.
func newDoctorCmd(f *cmdline.Factory) *cobra.Command {
	o := &doctorOptions{Factory: f, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that ralph can run here", Args: cmdline.NoArgs,
		Long: "Check that ralph can run here. It writes nothing and calls the agent only with --live. To allow the settings that it\n" +
			"names, use ralph trust.",
		Example: "  ralph doctor\n  ralph doctor --agent codex --live",
		RunE:    func(cmd *cobra.Command, _ []string) error { return doctorRun(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.live, "live", false, "Ask the agent one harmless question; costs one call.")
	cmdline.AddHiddenOptions(cmd, f, o.flags)
	return cmd
}

// diagnosis prints one line per finding and remembers the first failure.
type diagnosis struct {
	f         *cmdline.Factory
	p         *preflight.Project
	code      int  // exit code of the first failure
	untrusted bool // do not start programs that project files name
}

func (d *diagnosis) ok(what, format string, args ...any) { d.line("ok", what, format, args...) }

func (d *diagnosis) warn(what, format string, args ...any) { d.line("warn", what, format, args...) }

func (d *diagnosis) fail(code int, what, format string, args ...any) {
	d.line("FAIL", what, format, args...)
	d.code = cmp.Or(d.code, code)
}

// check reports whether something is as a run needs it.
func (d *diagnosis) check(what string, err error, format string, args ...any) bool {
	if err != nil {
		d.fail(state.ExitUsage, what, "%v", err)
	} else if format != "" {
		d.ok(what, format, args...)
	}
	return err == nil
}

func (d *diagnosis) line(mark, what, format string, args ...any) {
	d.f.Say("%-5s %-9s %s", mark, what, fmt.Sprintf(format, args...))
}

// end is the exit code of the diagnosis.
func (d *diagnosis) end() error {
	if d.code != 0 {
		return &cmdline.ExitError{Code: d.code}
	}
	return nil
}

func doctorRun(ctx context.Context, o *doctorOptions) error {
	dir, err := o.Project()
	if err != nil {
		return err
	}
	d := &diagnosis{f: o.Factory}
	d.ok("project", "%s", dir)
	loader := o.Loader(dir, o.flags)
	cfg, warnings, err := loader.Load()
	if err != nil {
		d.fail(state.ExitUsage, "config", "%v", err)
		return d.end()
	}
	d.p = preflight.New(o.Factory, loader, cfg)
	for _, w := range warnings {
		d.warn("config", "%v", w)
	}
	d.touch()
	err = d.p.FindPrompt()
	d.check("prompt", err, "%s", d.p.Prompt)
	d.plan()
	d.trust()
	d.checks()
	d.hooks()
	d.reviews()
	works := d.agent(ctx)
	if d.p.Agent.Spec.Name != "" {
		d.ok("env", "%s", cmp.Or(d.p.HeldBack(), "all variables are passed to the agent"))
	}
	if works && o.live && !d.untrusted {
		d.live() //nolint:contextcheck // it has a context of its own, which the first signal cancels
	}
	d.sandbox(ctx)
	d.git(ctx)
	d.slots(ctx)
	d.machine()
	d.state()
	return d.end()
}

// touch says whether the options of being in touch can be kept.
func (d *diagnosis) touch() {
	settings, err := d.p.Config.InTouch()
	if !d.check("config", err, "valid") {
		return
	}
	if _, err := sandbox.FindHub(); err != nil && settings.Wanted() {
		d.warn("hub", "no notifications: %v", err)
	}
}

func (d *diagnosis) plan() {
	if !d.check("plan", d.p.FindPlan(), "") {
		return
	}
	nothing := d.p.NoTasks()
	if d.p.Plan == "" && nothing == "" {
		d.warn("plan", "none: the run ends when the agent signals completion %d times in a row",
			d.p.Config.CompletionClaims)
		return
	}
	list := d.p.Tasks
	for _, line := range append(list.OddBoxes(), list.Warnings...) {
		d.warn("plan", "%s", line)
	}
	if others := d.p.OtherPlans(); others != "" {
		d.warn("plan", "%s", others)
	}
	if problem := preflight.Problem(d.p.Dir, list); problem != "" {
		d.fail(state.ExitUsage, "plan", "%s", problem)
		return
	}
	known := ledger.Read(cmdline.OpenState(d.p.Dir))
	next, open := known.Choose(list)
	if _, _, aside := known.Stuck(list, store.JournalReasons(d.f.Loader(d.p.Dir, nil).PlanEditsPath())); len(aside) > 0 {
		d.warn("plan", "put aside until the plan or the task changes, or ralph reset --tasks: %s",
			termtext.Some(aside, 5))
	}
	asked := d.asked(list)
	switch {
	case !open && len(asked) > 0:
		d.warn("plan", "%s: every open task waits for an answer to %s, so a run would only wait; see: ralph questions",
			d.p.Plan, termtext.Some(asked, 3))
	case nothing != "":
		d.warn("plan", "%s; ralph asks before it runs", nothing)
	case !open && list.Remaining() > 0:
		d.fail(state.ExitUsage, "plan", "%s: no open task can start: each one was put aside, is blocked or a draft, or waits "+
			"for a person or for another; see: ralph task list", d.p.Plan)
	case !open:
		d.ok("plan", "%s: %d of %d done, nothing left to do", d.p.Plan, list.Done(), list.Total())
	default:
		d.ok("plan", "%s (%s): %d of %d done, next: %s", d.p.Plan, list.Format, list.Done(), list.Total(), next.Title)
	}
}

// asked are the questions that hold up open tasks.
func (d *diagnosis) asked(list task.List) (texts []string) {
	all, _ := question.In(cmdline.OpenState(d.p.Dir)).List() // without a list, none is known
	for _, q := range all {
		if t, ok := list.Find(q.Task); ok && q.Open() && t.Pending() {
			texts = append(texts, ledger.QuestionText(q))
		}
	}
	return texts
}

func (d *diagnosis) trust() {
	all, err := d.p.Unagreed()
	switch {
	case err != nil:
		d.fail(cmdline.ExitCode(err), "trust", "%v", err)
	case len(all) > 0:
		d.fail(state.ExitUsage, "trust", "a run needs your consent first: %s; agree with: ralph trust",
			strings.Join(cmdline.Lines(all), "; "))
	}
	d.untrusted = err != nil || len(all) > 0
}

func (d *diagnosis) checks() {
	rows, detected := d.p.Checks()
	if len(rows) == 0 {
		d.warn("checks", "none: nothing proves what the agent says; %s", preflight.AdviceChecks)
		return
	}
	shown := termtext.Each(rows, func(c gate.Check) string { return c.Name + ": " + c.Reproduce() })
	text := strings.Join(shown, "; ")
	if detected {
		text += " (detected)"
	}
	if left, err := d.p.UnagreedChecks(); err != nil || len(left) > 0 {
		d.warn("checks", "left out until you agree to run them: %s; agree with: ralph trust", text)
		return
	}
	missing, sure := d.p.MissingPrograms()
	for _, line := range missing {
		if sure {
			d.fail(state.ExitUsage, "checks", "%s", line)
		} else {
			d.warn("checks", "%s", line)
		}
	}
	if len(missing) == 0 {
		d.ok("checks", "%s", text)
	}
}

func (d *diagnosis) hooks() {
	for _, h := range d.p.Config.Hooks() {
		d.ok("hook", "%s: %s", h.Point, h.Describe())
	}
}

func (d *diagnosis) reviews() {
	if text := d.p.Reviews(); strings.HasPrefix(text, "no reviewer") {
		d.warn("review", "%s", text)
	} else if _, who, some := strings.Cut(text, ": "); some {
		d.ok("review", "%s", who)
	}
}

// agent reports whether the agent that the options name can be called. It looks
// at every agent that the plan names, too.
func (d *diagnosis) agent(ctx context.Context) (works bool) {
	if !d.check("agent", d.p.FindAgents(), "") {
		return false
	}
	if d.p.Taken != "" {
		d.warn("agent", "%s", d.p.Taken)
	}
	for _, wrong := range d.p.Misnamed(false) {
		d.fail(state.ExitUsage, "agent", "%s", wrong)
	}
	for _, one := range d.p.Workers() {
		name := one.Spec.Name
		if d.p.Config.Settings.InContainer() {
			d.ok("agent", "%s, of the image", name) // the sandbox is tried below
			works = works || name == d.p.Agent.Spec.Name
			continue
		}
		switch h := d.p.Probe(ctx, one, d.untrusted); {
		case h.Why != "":
			d.fail(state.ExitAgent, "agent", "%s cannot run: %s", name, h.Why)
			continue
		case h.Askable && d.p.Login(ctx, one) == preflight.LoginNo:
			d.warn("agent", "%s is not logged in, and a run would end with exit code %d; "+
				"log in with %s, then see: ralph agent list", name, state.ExitAgent, name)
		case h.Version == "":
			d.ok("agent", "%s: %s, version unknown", name, h.Path)
		default:
			d.ok("agent", "%s: %s", name, h.Version)
		}
		works = works || name == d.p.Agent.Spec.Name
	}
	return works
}

// live makes one real call.
func (d *diagnosis) live() {
	d.line("", "live", "%s", preflight.Cost(d.p.Agent))
	t, err := d.p.Ask(d.f, d.p.Agent)
	switch {
	case err != nil:
		d.fail(cmdline.ExitCode(err), "live", "%v", err)
	case t.Code() != state.ExitComplete:
		d.fail(t.Code(), "live", "%s: %s", t.Summary(), t.Scene.Outcome.Reason)
	default:
		d.ok("live", "%s", t.Summary())
	}
}

// sandbox tries every sandbox; only the one that was asked for has to work.
func (d *diagnosis) sandbox(ctx context.Context) {
	var works []string
	for _, trial := range d.p.Config.Settings.Try() {
		if trial.Err != nil {
			d.line("", "sandbox", "%s does not work here: %v", trial.Name, trial.Err)
			continue
		}
		works = append(works, trial.Name)
	}
	asked, err := d.p.Config.Settings.Resolve()
	if err == nil && asked.On() && !d.untrusted {
		for _, one := range d.p.Workers() {
			if err := d.p.RunsContained(ctx, one); err != nil {
				d.fail(state.ExitAgent, "sandbox", "%s cannot run there: %v", one.Spec.Name, err)
			}
		}
	}
	switch {
	case err != nil:
		d.fail(state.ExitUsage, "sandbox", "%v", d.p.Config.Located(err))
	case asked.Lacks() != "":
		d.warn("sandbox", "%s: %s", asked.Sandbox, asked.Lacks())
	case asked.On():
		d.ok("sandbox", "%s", asked.Sandbox)
	case len(works) > 0:
		d.warn("sandbox", "off: agents can do what you can; these work here: %s (SANDBOX=auto)",
			strings.Join(works, ", "))
	default:
		d.warn("sandbox", "off: agents can do what you can, and no sandbox works here")
	}
}

// slots says whether turns can work side by side, if the options ask for it.
func (d *diagnosis) slots(ctx context.Context) {
	o := d.p.Config.SlotOptions
	switch err := o.Fit(ctx, d.p.Env, d.p.Dir, d.p.Plan); {
	case err != nil:
		d.fail(state.ExitUsage, "slots", "%v", d.p.Config.Located(err))
	case o.Worktrees():
		d.ok("slots", "%s", termtext.Count(max(o.Parallel, 1), "worktree"))
	}
}

func (d *diagnosis) git(ctx context.Context) {
	c, err := git.Inspect(ctx, d.p.Dir)
	switch {
	case err != nil:
		d.fail(state.ExitUsage, "git",
			"%v; allow a repository of another owner with: git config --global --add safe.directory %s", err, d.p.Dir)
	case git.Ready(c) != nil:
		d.fail(state.ExitUsage, "git", "%v", git.Ready(c))
	case c.GitVersion == "":
		d.warn("git", "not installed: ralph can only tell progress from file times")
	case !c.Repo:
		d.warn("git",
			"%s is not a repository: ralph can only tell progress from file times, and cannot undo anything; "+
				"git init helps", d.p.Dir)
	default:
		d.ok("git", "%s, branch %s, git %s", c.Root, c.Branch, c.GitVersion)
		if d.p.Branch = c.Branch; d.p.OtherBranch() != "" {
			d.warn("plan", "%s", d.p.OtherBranch())
		}
	}
}

func (d *diagnosis) machine() {
	if path, err := exec.LookPath("tmux"); err != nil {
		d.warn("tmux", "not installed: ralph --monitor runs without a split; use ralph-monitor in a second terminal")
	} else {
		d.ok("tmux", "%s", path)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.p.Dir, &fs); err != nil {
		d.warn("disk", "%v", err)
	} else {
		d.disk(fs.Bavail * uint64(fs.Bsize))
	}
	if os.Geteuid() == 0 {
		d.warn("user", "you are root: the agent can change anything on this machine")
	}
}

func (d *diagnosis) state() {
	own := filepath.Join(d.p.Dir, state.DirName)
	if _, err := os.Stat(own); err != nil {
		own = d.p.Dir
	}
	if err := unix.Access(own, unix.W_OK); err != nil {
		d.fail(state.ExitError, "state", "%s is not writable: %v", own, err)
	}
	if owner, alive := cmdline.OpenState(d.p.Dir).Owner(); alive {
		d.fail(state.ExitLocked, "lock", "%v", &state.LockedError{Owner: owner})
	} else {
		d.ok("lock", "free")
	}
}

// Free space, in bytes, below which doctor warns, and below which it fails.
const leastDisk, neededDisk = 1 << 30, 20 << 20

func (d *diagnosis) disk(free uint64) {
	switch {
	case free < neededDisk:
		d.fail(state.ExitError, "disk", "only %d MiB free: a run could not write down what it does", free>>20)
	case free < leastDisk:
		d.warn("disk", "only %.1f GiB free", float64(free)/(1<<30))
	default:
		d.ok("disk", "%.1f GiB free", float64(free)/(1<<30))
	}
}
