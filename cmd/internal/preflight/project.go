// Package preflight answers whether ralph can run in a project: it resolves the
// configuration, the agents, the prompt, the plan and the checks, and tries an
// agent out.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/sandbox"
	"ralph/runner/sandbox/gitkeep"
	"ralph/runner/task"
	"ralph/runner/turn"
)

// Project is everything that is known before a run takes the lock.
type Project struct {
	Dir          string // absolute
	Env          []string
	Config       *config.Config
	Agent        pool.Agent        // the one that the options name
	Branch       string            // of git; empty: none is checked out
	Self         string            // path of ralph, for hooks of agents; empty: they have none
	Taken        string            // how Agent was chosen if no option names one; empty: one does, or it is the default
	LeftOut      []string          // lines about checks that were detected and will not run
	Prompt, Plan string            // absolute; Plan is empty when there is none
	Tasks        task.List         // of the plan, when FindPlan read it
	Contained    sandbox.Contained // zero until Startable

	loader config.Loader
	uid    int    // of this user
	above  string // the folder that the project was found from; empty: the user named it
}

// Open loads the configuration of the project. The loader answers questions
// about trust.
func Open(f *cmdline.Factory, flags map[string]string) (*Project, config.Loader, error) {
	dir, err := f.Project()
	if err != nil {
		return nil, config.Loader{}, err
	}
	loader := f.Loader(dir, flags)
	cfg, warnings, err := loader.Load()
	for _, w := range warnings {
		f.Warn(w)
	}
	return New(f, loader, cfg), loader, err
}

// Trusted is Open for verbs that start programs: it asks for consent first.
func Trusted(f *cmdline.Factory, flags map[string]string) (*Project, error) {
	p, loader, err := Open(f, flags)
	if err == nil {
		err = f.Trust(loader)
	}
	return p, err
}

// New is the project of a loader and its configuration.
func New(f *cmdline.Factory, loader config.Loader, cfg *config.Config) *Project {
	p := &Project{Dir: loader.Dir, Env: f.Env, Config: cfg, loader: loader, uid: os.Geteuid()}
	if f.Dir == "" {
		p.above, _ = os.Getwd() // without it there is nothing to compare with
	}
	return p
}

// Load resolves everything that a run needs, once the user trusts the project.
func Load(f *cmdline.Factory, flags map[string]string) (*Project, error) {
	p, loader, err := Open(f, flags)
	if err != nil {
		return nil, err
	}
	if err := p.FindPrompt(); err != nil {
		return nil, err
	}
	if err := p.choosePlan(f); err != nil {
		return nil, err
	}
	if others := p.OtherPlans(); others != "" {
		f.Warn(others)
	}
	if err := f.Trust(loader, p.claims()...); err != nil {
		return nil, err
	}
	if err := p.checkPlan(f); err != nil {
		return nil, err
	}
	if err := p.askAgent(f); err != nil {
		return nil, err
	}
	if err := p.FindAgents(); err != nil {
		return nil, err
	}
	if p.Taken != "" && p.NeedsOption() {
		f.Warn(p.Taken)
	}
	return p, nil
}

// FindPrompt sets Prompt.
func (p *Project) FindPrompt() (err error) {
	if p.Prompt, err = prompt.Find(p.Dir, p.Config.PromptFile); err != nil {
		return cmdline.UsageError("%v", err)
	}
	return nil
}

// Startable checks the agents' programs, the sandbox and the repository.
func (p *Project) Startable() error {
	var err error
	if p.Contained, err = p.Sandbox(p.Dir); err != nil {
		return err
	}
	p.Config.Settings = p.Contained.Settings
	if err := p.Usable(); err != nil {
		return err
	}
	if err := p.CallHooks(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.inImage(ctx); err != nil {
		return err
	}
	c, err := git.Inspect(ctx, p.Dir)
	if err != nil {
		return cmdline.UsageError("the repository cannot be used: %v", err)
	}
	if err := git.Ready(c); err != nil {
		return cmdline.UsageError("%v", err)
	}
	p.Branch = c.Branch
	return nil
}

// AdviceChecks says how to configure checks.
const AdviceChecks = `name them in .ralphrc, for example: TEST_COMMAND="make test"`

// Checks are the checks of a run and which failures block: the listed checks,
// else the commands of the options, else what the project's files show; only
// the last are detected. Each is valid, and every name is unique.
func (p *Project) Checks() (rows []gate.Check, detected bool) {
	if rows = p.Config.Checks(); len(rows) > 0 {
		return rows, false
	}
	for _, c := range []gate.Check{
		{Name: "lint-fast", Kind: gate.KindLintFast, Command: p.Config.FastCommand},
		{Name: "build", Kind: gate.KindBuild, Command: p.Config.BuildCommand},
		{Name: "typecheck", Kind: gate.KindBuild, Command: p.Config.TypesCommand},
		{Name: "test", Kind: gate.KindTest, Command: p.Config.TestCommand},
		{Name: "lint", Kind: gate.KindLint, Command: p.Config.LintCommand},
	} {
		if c.Command != "" {
			rows = append(rows, c)
		}
	}
	if len(rows) > 0 || !p.Config.DetectChecks {
		return rows, false
	}
	rows = scaffold.Checks(p.Dir, OnPath)
	return rows, len(rows) > 0
}

// OnPath reports whether a program is on PATH.
func OnPath(program string) bool { _, err := exec.LookPath(program); return err == nil }

// MissingPrograms has a line for each check whose program is not there. sure is true if one of them must pass, and neither
// a hook nor anything that the project may build can bring its program.
func (p *Project) MissingPrograms() (lines []string, sure bool) {
	if p.Config.Settings.InContainer() {
		return nil, false // the checks run elsewhere
	}
	comes := len(p.Config.Hooks()) > 0 || p.Config.Setup != "" || slices.ContainsFunc(
		filepath.SplitList(os.Getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) || inside(p.Dir, dir) })
	rows, _ := p.Checks()
	for _, c := range rows {
		name := c.Program()
		if name == "" || p.known(c.Dir, name) {
			continue
		}
		what, path := "is not found on PATH", strings.Contains(name, "/")
		if path {
			what = "is not an executable file"
		}
		lines = append(lines, fmt.Sprintf("check %s: its program %q %s: correct the command, or install the program", c.Name, name, what))
		sure = sure || c.Required() && !path && !comes
	}
	return lines, sure
}

// known reports whether sh knows a command in a folder of the project. If sh cannot be asked, it does.
func (p *Project) known(dir, name string) bool {
	sh := exec.Command("sh", "-c", `command -v "$0"`, name) //nolint:noctx // it only looks
	sh.Dir, sh.Env = filepath.Join(p.Dir, dir), p.Env
	no := (*exec.ExitError)(nil)
	return !errors.As(sh.Run(), &no)
}

// FindChecks detects checks in a project that had none, when code or a manifest
// is among the changed files.
func FindChecks(dir string, changed []string) []gate.Check {
	if !slices.ContainsFunc(changed, scaffold.AffectsDetect) {
		return nil
	}
	return scaffold.Checks(dir, OnPath)
}

// HeldBack names what the agent does not get, in one line; empty for nothing.
func (p *Project) HeldBack() string {
	names := p.Config.EnvFilter().Withheld(p.Agent.Spec, agent.Request{Env: p.Env, Root: os.Geteuid() == 0,
		ArgvCall: agent.ArgvCall{Model: p.Config.Model, PermissionMode: p.Config.PermissionMode}})
	if len(names) == 0 {
		return ""
	}
	return cmdline.Inert(fmt.Sprintf("%s not passed to the agent %s: %s; to pass one: ENV_EXCLUDE='!NAME'",
		termtext.Count(len(names), "variable"), p.Agent.Spec.Name, termtext.Some(names, 5)))
}

// Sandbox returns the sandbox for a folder. The error is a usage error, and says what is
// missing.
func (p *Project) Sandbox(dir string) (c sandbox.Contained, err error) {
	records := p.loader.GitRecords()
	if err := gitkeep.Recover(records, dir, func(gitkeep.Replaced) {}); err != nil {
		return c, err
	}
	if c.Settings, err = p.Config.Settings.Resolve(); err == nil {
		c, err = c.At(dir, turn.Steering(p.Config.EnvFilter(), dir).Files)
	}
	if c.Records = records; err == nil && c.On() && records == "" {
		err = errors.New("SANDBOX needs a folder outside of the project: neither XDG_STATE_HOME nor HOME is set")
	}
	return c, p.Config.Located(err)
}

// Contain returns a function that makes the box for the checks of a folder, as a run
// does, and a function that ends its proxy. Without a sandbox, the box confines nothing.
func (p *Project) Contain(ctx context.Context,
	f *cmdline.Factory) (box func(dir string) (sandbox.Box, error), stop func(), err error) {
	here, err := p.Sandbox(p.Dir)
	if err != nil {
		return nil, nil, err
	}
	settings := here.Settings
	via, err := sandbox.StartProxy(ctx, settings, func(host string) { f.Note("the sandbox refused a connection to %s (SANDBOX_NET)", host) })
	if err != nil {
		return nil, nil, err
	}
	if settings.On() {
		f.Note("sandbox %s, network %s", settings.Sandbox, strings.Join(settings.SandboxNet, ","))
	}
	return func(dir string) (sandbox.Box, error) {
		contained, err := here, error(nil)
		if dir != p.Dir {
			contained, err = here.For(dir)
		}
		box := contained.Box(dir, p.Plan)
		box.Route, box.PutBack = via.Route, func(r gitkeep.Replaced) { f.Warn(r) }
		return box, err
	}, via.Stop, nil
}

// RunsContained tries an agent's program in the project's sandbox. The error says why it cannot run there. Outside of
// containers it asks for the version: what the program needs besides may be hidden. One that tells no version is not
// started.
func (p *Project) RunsContained(ctx context.Context, one pool.Agent) error {
	here, err := p.Sandbox(p.Dir)
	if err != nil {
		return err
	}
	if here.InContainer() {
		return here.NeedsProgram(ctx, p.Dir, p.absolute(program(one)))
	}
	if len(one.Spec.VersionArgs) == 0 {
		return nil
	}
	box := here.Box(p.Dir, p.Plan)
	box.Agent = one.Spec.Env
	if box.NeedsProxy() {
		box.SandboxNet = []string{"none"} // a version needs no network
	}
	out, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.VersionArgs, bound: VersionBound, box: box})
	if err != nil || exit.Code == 0 {
		return err
	}
	return fmt.Errorf("%s ended with exit code %d in SANDBOX=%s, which may hide a file that it needs: %s",
		cmdline.Quote(append([]string{program(one)}, one.Spec.VersionArgs...)...), exit.Code, here.Sandbox,
		cmdline.Shorten(cmdline.Inert(termtext.FirstLine(strings.TrimSpace(out)))))
}
