package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ralph/runner/git"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// leastDisk is the free space below which doctor warns.
const leastDisk = 1 << 30

func (a *app) doctorCommand() *cobra.Command {
	values := map[string]string{}
	var live bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Tell whether a run would work here; writes nothing, and asks the agent only with --live", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), values, live) },
	}
	addOptions(cmd.Flags(), values)
	cmd.Flags().BoolVar(&live, "live", false, "ask the agent one harmless question; costs one call")
	return cmd
}

// diagnosis prints one line a finding and remembers the worst.
type diagnosis struct {
	a         *app
	code      int  // exit code of the first failure
	untrusted bool // programs that the project's files name are not to be started
}

func (d *diagnosis) ok(what, format string, args ...any) {
	d.a.say("ok    %-9s %s", what, fmt.Sprintf(format, args...))
}

func (d *diagnosis) warn(what, format string, args ...any) {
	d.a.say("warn  %-9s %s", what, fmt.Sprintf(format, args...))
}

func (d *diagnosis) fail(code int, what, format string, args ...any) {
	d.a.say("FAIL  %-9s %s", what, fmt.Sprintf(format, args...))
	if d.code == 0 {
		d.code = code
	}
}

func (a *app) doctor(ctx context.Context, flags map[string]string, live bool) error {
	dir, err := a.project()
	if err != nil {
		return err
	}
	d := &diagnosis{a: a}
	d.ok("project", "%s", dir)
	s := &setup{dir: dir}
	loader := a.loader(dir, flags)
	cfg, warnings, err := loader.Load()
	if err != nil {
		d.fail(rules.ExitUsage, "config", "%v", err)
		return &exitError{code: d.code}
	}
	s.cfg = cfg
	for _, w := range warnings {
		d.warn("config", "%v", w)
	}
	d.ok("config", "valid")
	if u, err := loader.Untrusted(); err == nil && u != nil {
		d.untrusted = true
		d.fail(rules.ExitUsage, "trust", "%s decides which programs run or which secrets they get (%s); agree with: ralph trust", u.File, strings.Join(u.Lines, "; "))
	}
	d.prompt(s)
	d.plan(s)
	d.checks(s)
	works := d.agent(ctx, s)
	d.environment(s)
	if works && live && !d.untrusted {
		d.live(s) //nolint:contextcheck // a context of its own, which ends with the first signal
	}
	d.git(ctx, dir)
	d.machine(dir)
	if d.code != 0 {
		return &exitError{code: d.code}
	}
	return nil
}

func (d *diagnosis) prompt(s *setup) {
	path, err := findPrompt(s.dir, s.cfg.PromptFile)
	if err != nil {
		d.fail(rules.ExitUsage, "prompt", "%v", err)
		return
	}
	d.ok("prompt", "%s", path)
}

func (d *diagnosis) plan(s *setup) {
	path, err := findPlan(s.dir, s.cfg)
	switch {
	case err != nil:
		d.fail(rules.ExitUsage, "plan", "%v", err)
	case path == "":
		d.warn("plan", "none: the run ends when the agent signals completion %d times in a row", s.cfg.CompletionClaims)
	default:
		list, err := task.Load(path, s.cfg.OptionalSections)
		if err != nil {
			d.fail(rules.ExitUsage, "plan", "%v", err)
			return
		}
		for _, line := range oddBoxes(list) {
			d.warn("plan", "%s", line)
		}
		next, open := list.Next()
		switch {
		case list.Total() == 0:
			d.warn("plan", "%s has no tasks: the run ends when the agent signals completion", path)
		case !open && list.Remaining() > 0:
			d.fail(rules.ExitUsage, "plan", "%s: every open task waits for one that does not exist or waits for it", path)
		case !open:
			d.ok("plan", "%s: all %d tasks are done", path, list.Total())
		default:
			d.ok("plan", "%s: %d of %d done, next: %s", path, list.Done(), list.Total(), next.Title)
		}
	}
}

func (d *diagnosis) checks(s *setup) {
	rows, detected := d.a.checks(s.dir, s.cfg)
	if len(rows) == 0 {
		d.warn("checks", "none: nothing proves what the agent says; %s", adviceChecks)
		return
	}
	var shown []string
	for _, c := range rows {
		shown = append(shown, inert(c.Name+": "+c.Reproduce()))
	}
	text := strings.Join(shown, "; ")
	if detected {
		text += " (detected)"
	}
	d.ok("checks", "%s", text)
}

// agent reports whether the agent can be asked.
func (d *diagnosis) agent(ctx context.Context, s *setup) bool {
	if err := s.findAgents(); err != nil {
		d.fail(rules.ExitUsage, "agent", "%v", err)
		return false
	}
	h := d.a.probe(ctx, s, s.agent, d.untrusted)
	switch {
	case h.why != "":
		d.fail(rules.ExitAgent, "agent", "%s cannot run: %s", s.agent.Spec.Name, h.why)
		return false
	case h.version == "":
		d.ok("agent", "%s: %s, which cannot tell its version", s.agent.Spec.Name, h.path)
	default:
		d.ok("agent", "%s: %s", s.agent.Spec.Name, h.version)
	}
	return true
}

func (d *diagnosis) environment(s *setup) {
	if s.agent.Spec.Name != "" { // else it is reported already
		d.ok("env", "%s", cmp.Or(d.a.heldBack(s), "nothing is held back"))
	}
}

// live makes one real call.
func (d *diagnosis) live(s *setup) {
	d.a.say("      %-9s %s", "live", costOf(s.agent))
	t, err := d.a.askOnce(s, s.agent)
	switch {
	case err != nil:
		code := rules.ExitError
		if e := (*exitError)(nil); errors.As(err, &e) {
			code = e.code
		}
		d.fail(code, "live", "%v", err)
	case t.code() != rules.ExitComplete:
		d.fail(t.code(), "live", "%s: %s", t.summary(), inert(t.scene.Outcome.Reason))
	default:
		d.ok("live", "%s", t.summary())
	}
}

func (d *diagnosis) git(ctx context.Context, dir string) {
	c, err := git.Inspect(ctx, dir)
	switch {
	case err != nil:
		d.fail(rules.ExitUsage, "git", "%v; a repository of another owner is allowed with: git config --global --add safe.directory %s", err, dir)
	case git.Fit(c) != nil:
		d.fail(rules.ExitUsage, "git", "%v", git.Fit(c))
	case c.GitVersion == "":
		d.warn("git", "not installed: progress is seen by file times only")
	case !c.Repo:
		d.warn("git", "%s is no repository: progress is seen by file times only, and nothing can be taken back; git init helps", dir)
	default:
		d.ok("git", "%s, branch %s, git %s", c.Root, c.Branch, c.GitVersion)
	}
}

func (d *diagnosis) machine(dir string) {
	if path, err := exec.LookPath("tmux"); err != nil {
		d.warn("tmux", "not installed: ralph --monitor runs without the split; ralph-monitor in a second terminal does the same")
	} else {
		d.ok("tmux", "%s", path)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		d.warn("disk", "%v", err)
	} else if free := fs.Bavail * uint64(fs.Bsize); free < leastDisk {
		d.warn("disk", "only %s free", humanize.IBytes(free))
	} else {
		d.ok("disk", "%s free", humanize.IBytes(free))
	}
	own := filepath.Join(dir, state.DirName)
	if _, err := os.Stat(own); err != nil {
		own = dir
	}
	if err := unix.Access(own, unix.W_OK); err != nil {
		d.fail(rules.ExitError, "state", "%s is not writable: %v", own, err)
	}
	r := state.Open(filepath.Join(dir, state.DirName))
	if owner, alive := r.Owner(); alive {
		d.fail(rules.ExitLocked, "lock", "%v", &state.LockedError{Owner: owner})
	} else {
		d.ok("lock", "free")
	}
	if os.Geteuid() == 0 {
		d.warn("user", "you are root: everything on this machine is within the agent's reach")
	}
}
