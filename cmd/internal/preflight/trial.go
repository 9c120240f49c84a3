package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
	"ralph/state"
)

const (
	maxSaid = 4 << 20 // codex lists its models with their whole instructions
	// VersionBound is how long asking for a version may take.
	VersionBound = 20 * time.Second
	testPrompt   = "Answer with the single word ok."
	// testBound is how long the answer may take: an agent that retries for longer cannot be used now.
	testBound = 2 * time.Minute
)

// Health is what is known of an agent without a call.
type Health struct {
	Path    string // of the program; empty: not found
	Version string // empty: unknown
	Why     string // why it cannot run; empty: it can
	Askable bool   // its program may be started to ask it something
}

// Probe finds the program and asks it for its version. It starts nothing that
// a project file names before the user trusts it.
func (p *Project) Probe(ctx context.Context, one pool.Agent, untrusted bool) Health {
	var h Health
	if program(one) == "" {
		h.Why = one.Spec.Install
		return h
	}
	var err error
	if h.Path, err = p.lookPath(one); err != nil {
		h.Why = missing(one)
		return h
	}
	if untrusted && p.fromProject(one) {
		h.Why = "a project file names it, and you have not agreed to it; agree with: ralph trust"
		return h
	}
	h.Askable = true
	if len(one.Spec.VersionArgs) == 0 {
		if err := ptyexec.Startable(h.Path); err != nil {
			h.Why = err.Error()
		}
		return h
	}
	args := one.Spec.VersionArgs
	out, exit, err := p.inquire(ctx, one, inquiry{args: args, bound: VersionBound, untrusted: untrusted})
	version, shown := versionLine(out), cmdline.Quote(append([]string{program(one)}, args...)...)
	switch {
	case err != nil:
		h.Why = err.Error()
	case exit.Cause != ptyexec.CauseExited:
		h.Why = fmt.Sprintf("%s printed no version within %s", shown, VersionBound)
	case exit.Code != 0:
		h.Why = fmt.Sprintf("%s ended with exit code %d: %s", shown, exit.Code, version)
	default:
		h.Version = version
	}
	return h
}

// inquiry is a question to an agent's program that costs no call.
type inquiry struct {
	args      []string
	bound     time.Duration
	untrusted bool        // the project's entries for the environment do not count
	box       sandbox.Box // zero: it confines nothing
}

// inquire asks the program. out is the beginning of its output.
func (p *Project) inquire(ctx context.Context, one pool.Agent, q inquiry) (out string, exit ptyexec.Exit, err error) {
	filter := p.Config.EnvFilter()
	if q.untrusted && ofProject(p.Config.Source("ENV_EXCLUDE")) {
		filter.Exclude = nil
	}
	cmd, err := q.box.Wrap(one.Spec.Inquiry(q.args, agent.Request{Program: one.Program, Dir: p.Dir, Env: p.Env, Filter: filter}))
	if err != nil {
		return "", exit, err
	}
	cmd.Timeout = q.bound
	var text strings.Builder
	exit, err = ptyexec.Run(ctx, cmd, func(b []byte) bool {
		if text.Len() < maxSaid {
			text.Write(b)
		}
		return false
	})
	return text.String(), exit, err
}

// versionLine is the first line with a digit: some programs warn first.
func versionLine(text string) string {
	first := ""
	for line := range strings.Lines(cmdline.Inert(text)) {
		line = termtext.Line(line)
		if strings.ContainsAny(line, "0123456789") {
			return cmdline.Shorten(line)
		}
		if first == "" {
			first = line
		}
	}
	return cmdline.Shorten(first)
}

// fromProject reports whether a file of the project names the program.
func (p *Project) fromProject(one pool.Agent) bool {
	if len(one.Program) > 0 {
		return ofProject(p.Config.Source("CLAUDE_CODE_CMD"))
	}
	return ofProject(p.Config.AgentSource(one.Spec.Name))
}

func ofProject(s config.Source) bool {
	return s.Kind == config.SourceProject || s.Kind == config.SourceRC
}

// Cost says what Ask costs.
func Cost(one pool.Agent) string {
	return fmt.Sprintf("asks %s once, in an empty temporary project: %q. It costs one call on your account: "+
		"a few words, plus the agent's own instructions.", one.Spec.Name, testPrompt)
}

// Trial is one real call, and what a run would do after it.
type Trial struct {
	Scene  Scene
	Result turn.Result
}

// Ask makes one call with the options of a run, away from the project.
func (p *Project) Ask(f *cmdline.Factory, one pool.Agent) (Trial, error) {
	var t Trial
	dir, err := os.MkdirTemp("", "ralph-agent-test-")
	if err != nil {
		return t, fmt.Errorf("make temporary project: %w", err)
	}
	defer os.RemoveAll(dir)
	test := consultation{dir: dir, text: testPrompt, tools: p.Config.AllowedTools, bound: testBound}
	if t.Result, err = p.consult(f, one, test); err != nil {
		return t, err
	}
	t.Scene = sceneOf(t.Result, DrillSetting{Spec: one.Spec, Policy: p.Config.Policy, Now: time.Now()})
	return t, nil
}

// consultation is a call in a folder away from the project.
type consultation struct {
	dir, text string
	tools     []string
	bound     time.Duration
}

// consult makes one call with the options of a run.
func (p *Project) consult(f *cmdline.Factory, one pool.Agent, q consultation) (turn.Result, error) {
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	initCtx, cancel := context.WithTimeout(sig.Ctx, 10*time.Second)
	defer cancel()
	// Without git the call still works.
	_ = exec.CommandContext(initCtx, "git", "-C", q.dir, "-c", "init.defaultBranch=main", "init", "-q").Run()
	contained, err := p.Sandbox(q.dir)
	if err != nil {
		return turn.Result{}, err
	}
	a := turn.Assignment{
		V: turn.Version, Origin: state.Origin{Iteration: 1}, Dir: q.dir, Prompt: prompt.Input{Template: q.text, Verbatim: true},
		Agent: turn.Agent{Spec: one.Spec, Program: slices.Clone(one.Program), Model: p.Config.Model,
			AllowedTools: q.tools, PermissionMode: p.Config.PermissionMode, Filter: p.Config.EnvFilter()},
		Sandbox: contained, Bounds: turn.Bounds{Timeout: min(q.bound, p.Config.Wall())},
	}
	if words := a.Agent.Program; len(words) > 0 {
		words[0] = p.absolute(words[0])
	}
	worker := &turn.Worker{Env: p.Env, Kill: sig.Kill}
	defer worker.Close()
	res, err := worker.Run(sig.Ctx, a, func(state.Event) {})
	if err != nil {
		return res, err
	}
	if why := res.Call.NotStarted; why != "" {
		return res, cmdline.AgentError("%s", why)
	}
	interrupt := (*rules.Interrupt)(nil)
	if errors.As(context.Cause(sig.Ctx), &interrupt) {
		return res, &cmdline.ExitError{Code: interrupt.Exit, Text: "interrupted: " + interrupt.Why}
	}
	return res, nil
}

// Code is the exit code of a run that stops here. Waiting for a limit is not an answer either.
func (t Trial) Code() int {
	d := t.Scene.Decision
	switch {
	case t.Scene.Outcome.Class.Success():
		return state.ExitComplete
	case d.Rule == state.RuleUsageLimit:
		return state.ExitLimited
	case d.Action == state.ActionStop:
		return d.Exit
	}
	return state.ExitError
}

// Summary is the answer in one line.
func (t Trial) Summary() string {
	cost := "cost unknown"
	if usd := t.Scene.Usage.CostUSD; usd > 0 {
		cost = fmt.Sprintf("about %.4f USD by the agent's own estimate", usd)
	}
	return fmt.Sprintf("%s in %.1f s, %s tokens, %s", t.Scene.Outcome.Class, t.Result.Duration.Seconds(),
		termtext.Thousands(t.Scene.Usage.Total()), cost)
}

const (
	// ModelsBound is how long a program may take to list its models, or to say
	// whether it is logged in.
	ModelsBound = 10 * time.Second
)

// Models returns the names of the agent's models: what its program lists, else those in its documentation; nil:
// unknown. An agent may take others, too.
func (p *Project) Models(ctx context.Context, one pool.Agent) []string {
	if len(one.Spec.ModelsArgs) > 0 {
		out, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.ModelsArgs, bound: ModelsBound})
		if names := modelNames(out); err == nil && exit.Cause == ptyexec.CauseExited && exit.Code == 0 && len(names) > 0 {
			return names
		}
	}
	return one.Spec.Models
}

// The answers of Login.
const (
	LoginYes     = "yes"
	LoginKey     = "key" // a variable has one; nobody asked whether it is valid
	LoginNo      = "no"
	LoginUnknown = "?"
)

// Login reports whether the agent is logged in, as far as that can be known
// without a call.
func (p *Project) Login(ctx context.Context, one pool.Agent) string {
	env := slices.DeleteFunc(slices.Clone(p.Env), func(pair string) bool { return strings.HasSuffix(pair, "=") })
	if p.Config.EnvFilter().HasKey(one.Spec, agent.Request{ArgvCall: agent.ArgvCall{Model: p.Config.Model}, Env: env}) {
		return LoginKey
	}
	if len(one.Spec.LoginArgs) > 0 {
		_, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.LoginArgs, bound: ModelsBound})
		switch {
		case err != nil || exit.Cause != ptyexec.CauseExited:
			return LoginUnknown
		case exit.Code == 0:
			return LoginYes
		}
		return LoginNo
	}
	if home, err := os.UserHomeDir(); err == nil && one.Spec.LoginFile != "" {
		if info, err := os.Stat(filepath.Join(home, one.Spec.LoginFile)); err == nil && info.Size() > 0 {
			return LoginYes
		}
	}
	return LoginUnknown
}

const maxModels = 500

// modelNames reads what a program prints: a JSON object with models, or a name
// alone on its line, before " - ", two blanks or a bracket, or in square brackets.
func modelNames(out string) (names []string) {
	if at := strings.Index(out, `{"models"`); at >= 0 {
		for _, m := range gjson.Get(out[at:], "models").Array() {
			if name := m.Get("slug").String(); name != "" && m.Get("visibility").String() != "hide" &&
				len(names) < maxModels {
				names = append(names, termtext.Unwrap(termtext.Clean(name)))
			}
		}
		return names
	}
	line := regexp.MustCompile(`^[\s*•>-]*(?:([A-Za-z0-9][\w./:@+-]*)(?:\s*$|\s+[-–(*]|\s{2,}|\t)|` +
		`.*\[([A-Za-z0-9][\w./:@+-]*)\])`)
	for text := range strings.Lines(termtext.Clean(out)) {
		m := line.FindStringSubmatch(strings.TrimRight(text, "\r\n"))
		if m == nil || strings.HasSuffix(m[1], ":") {
			continue
		}
		if name := m[1] + m[2]; !slices.Contains(names, name) && len(names) < maxModels {
			names = append(names, name)
		}
	}
	return names
}
