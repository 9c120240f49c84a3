package preflight

import (
	"cmp"
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
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/sandbox"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/view"
)

// Find finds an agent by its name. AGENT_CMD replaces the program of the agent that
// the options name.
func (p *Project) Find(name string) (pool.Agent, error) {
	spec, err := p.Config.Spec(name)
	if err == nil && spec.Name == p.Agent.Spec.Name {
		return p.Agent, nil
	}
	return pool.Agent{Spec: spec}, err
}

// FindAgents sets Agent and checks that the fallback agents exist. If no option
// names an agent, it takes the first installed one, and Taken says so.
func (p *Project) FindAgents() error {
	if found := p.InstalledAgents(); len(found) > 0 && p.unnamed() {
		switch {
		case len(found) > 1:
			p.Taken = fmt.Sprintf("several agents are installed (%s) and none is set; using %s; "+
				"choose one with --agent or AGENT in .ralphrc", strings.Join(found, ", "), found[0])
		case found[0] != p.Config.Agent:
			p.Taken = fmt.Sprintf("no agent is set; using %s, the only one installed", found[0])
		}
		if p.Taken != "" {
			p.Config.Choose("AGENT", found[0], "first installed agent")
		}
	}
	spec, err := p.Config.Spec(p.Config.Agent)
	if err != nil {
		return cmdline.UsageError("%v", p.Config.Bad("AGENT", err))
	}
	p.Agent, p.Config.Agent = pool.Agent{Spec: spec}, spec.Name
	if p.Config.AgentCmd != "" {
		words, err := config.Words(p.Config.AgentCmd, p.Env)
		if err != nil || len(words) == 0 {
			return cmdline.UsageError("%v", p.Config.Bad("CLAUDE_CODE_CMD", cmp.Or(err, errors.New("it is empty"))))
		}
		p.Agent.Program = words
	}
	for i, name := range p.Config.FallbackAgents {
		one, err := p.Find(name)
		if err != nil {
			return cmdline.UsageError("%v", p.Config.Bad("FALLBACK_AGENTS", err))
		}
		p.Config.FallbackAgents[i] = one.Spec.Name
	}
	return p.Config.Reviewers()
}

// unnamed reports whether nothing says which agent to use. AGENT_CMD replaces
// the program of the default agent.
func (p *Project) unnamed() bool {
	return p.Config.Source("AGENT").Kind == config.SourceDefault && p.Config.AgentCmd == ""
}

// InstalledAgents are in the order of the table; the user's own come last. AGENT_CMD replaces the program of AGENT.
func (p *Project) InstalledAgents() (names []string) {
	own, _ := config.Words(p.Config.AgentCmd, p.Env) // a run says what is wrong with it
	for _, spec := range p.Config.AllAgents() {
		one := pool.Agent{Spec: spec}
		if spec.Name == p.Config.Agent {
			one.Program = own
		}
		if _, err := p.lookPath(one); err == nil {
			names = append(names, spec.Name)
		}
	}
	return names
}

// askAgent asks on a terminal which agent and model to use, if no option names an agent and
// several are installed.
func (p *Project) askAgent(f *cmdline.Factory) error {
	found := p.InstalledAgents()
	if !p.unnamed() || len(found) < 2 || !f.CanAsk() || !p.NeedsOption() {
		return nil
	}
	question := fmt.Sprintf("Which agent shall work: %s? A model may follow its name. (AGENT in .ralphrc saves this question)",
		strings.Join(found, ", "))
	return f.Ask(question, found[0], func(answer string) error {
		name, model, _ := strings.Cut(answer, " ")
		if !slices.Contains(found, name) {
			return fmt.Errorf("%q is not one of %s", name, strings.Join(found, ", "))
		}
		if model = strings.TrimSpace(model); strings.HasPrefix(model, "-") || strings.Contains(model, " ") {
			return fmt.Errorf("%q is no model", model)
		}
		p.Config.Choose("AGENT", name, "answer")
		if model != "" {
			p.Config.Choose("MODEL", model, "answer")
		}
		return nil
	})
}

// wants is the agent and model that a task of the plan asks for.
type wants struct {
	who  task.Choice
	from string // the task, for people, before what is wrong; empty: the options
	open bool   // the plan leaves the agent to the options
}

// wanted lists each agent and model that the open tasks want, once. Without an
// open task it is what the options say. An unusable plan is reported elsewhere.
func (p *Project) wanted() []wants {
	option := task.Choice{Agent: p.Config.Agent, Model: p.Config.Model}
	all, seen := []wants{}, map[task.Choice]bool{} // nearly all tasks of a large plan want the same
	for _, t := range p.Tasks.Tasks {
		if !t.Pending() || !t.Required() || seen[t.Choice] {
			continue
		}
		seen[t.Choice] = true
		named := pool.Wanted(t.Choice, p.Tasks.Choice)
		w := wants{who: pool.Wanted(named, option), open: named.Agent == ""}
		if named != (task.Choice{}) {
			w.from = fmt.Sprintf("task %q in %s: ", cmdline.Shorten(t.Title), filepath.Base(p.Plan))
		}
		if !slices.ContainsFunc(all, func(o wants) bool { return o.who == w.who && o.open == w.open }) {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		all = []wants{{who: option, open: true}}
	}
	return all
}

// NeedsOption reports whether any open task leaves the agent to the options.
func (p *Project) NeedsOption() bool {
	return slices.ContainsFunc(p.wanted(), func(w wants) bool { return w.open })
}

// Workers are the agents that the options and the open tasks name, once each.
// Unknown ones are left out.
func (p *Project) Workers() (all []pool.Agent) {
	for _, w := range p.named() {
		one, err := p.Find(w.who.Agent)
		if err == nil && !slices.ContainsFunc(all, func(o pool.Agent) bool { return o.Spec.Name == one.Spec.Name }) {
			all = append(all, one)
		}
	}
	return all
}

// named is wanted with the fallback agents and those that hooks and reviewers ask.
func (p *Project) named() []wants {
	all := p.wanted()
	for _, name := range p.Config.FallbackAgents {
		all = append(all, wants{who: task.Choice{Agent: name}})
	}
	for _, h := range p.Config.Hooks() {
		if h.Agent != "" {
			all = append(all,
				wants{from: fmt.Sprintf("hooks.%s: ", h.Point), who: task.Choice{Agent: h.Agent, Model: h.Model}})
		}
	}
	for _, r := range p.Config.NamedReviewers(p.Dir, p.Tasks.Tasks) {
		all = append(all, wants{from: r.From + ": ", who: task.Choice{Agent: r.Agent, Model: r.Model}})
	}
	return all
}

// Usable checks every agent that the options and the open tasks of the plan
// name, and that each can take the model which it is to get. The error names all.
func (p *Project) Usable() error {
	wrong, code := p.Misnamed(false), state.ExitUsage
	if len(wrong) == 0 {
		code = state.ExitAgent
	}
	var seen []string
	for _, w := range p.named() {
		one, err := p.Find(w.who.Agent)
		if err != nil || slices.Contains(seen, one.Spec.Name) {
			continue
		}
		seen = append(seen, one.Spec.Name)
		if err := p.Installed(one); err != nil {
			wrong = append(wrong, w.from+err.Error())
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &cmdline.ExitError{Code: code, Text: strings.Join(wrong, "; ")}
}

// Misnamed lists agents that do not exist, models that their agent cannot use, and judges that are misspelled, a
// sentence each: those of the options and, unless optionsOnly is true, of the open tasks.
func (p *Project) Misnamed(optionsOnly bool) (all []string) {
	for _, w := range p.named() {
		if optionsOnly && w.from != "" {
			continue
		}
		one, err := p.Find(w.who.Agent)
		if err == nil && w.who.Model != "" && !one.Spec.TakesModel(w.who.Model) {
			err = NoModel(one.Spec, w.who.Model)
		}
		if err != nil {
			all = append(all, w.from+err.Error())
		}
	}
	for _, t := range p.Tasks.Tasks {
		if optionsOnly || !t.Pending() || !t.Required() {
			continue
		}
		for _, judge := range t.Judges {
			if word, meant := roles.Misspelled(judge, p.Config.JudgeRows()); meant != "" {
				all = append(all, fmt.Sprintf("%s:%d: unknown judge %q; did you mean %s?",
					view.Within(p.Dir, filepath.Join(p.Plan, t.File)), t.Line, word, meant))
			}
		}
	}
	return all
}

// NoModel says why the agent cannot use the model; nil: it can.
func NoModel(s agent.Spec, model string) error {
	why := "a model's name does not begin with a dash"
	if len(s.ModelArgs) == 0 {
		why = "it has no option for a model"
	}
	return cmdline.UsageError("the agent %s cannot be given the model %q: %s", s.Name, model, why)
}

// Installed checks that the agent's program exists.
func (p *Project) Installed(one pool.Agent) error {
	if p.Config.Settings.InContainer() {
		return nil // what counts is in the image
	}
	if _, err := p.lookPath(one); err != nil {
		return cmdline.AgentError("the agent %s cannot run: %s", one.Spec.Name, missing(one))
	}
	return nil
}

// inImage checks that the image of the sandbox has the agents' programs.
func (p *Project) inImage(ctx context.Context) error {
	for _, one := range p.Workers() {
		if err := p.Config.Settings.NeedsProgram(ctx, p.Dir, p.absolute(program(one))); err != nil {
			return cmdline.AgentError("the agent %s cannot run: %v", one.Spec.Name, err)
		}
	}
	return nil
}

// program is the first word of the agent's command line.
func program(one pool.Agent) string {
	if len(one.Program) > 0 {
		return one.Program[0]
	}
	return one.Spec.Bin
}

func missing(one pool.Agent) string {
	if program(one) == "" {
		return "it needs AGENT_CMD, the command line of your agent"
	}
	if len(one.Program) > 0 {
		return fmt.Sprintf("%q is not an executable on PATH; AGENT_CMD names it", one.Program[0])
	}
	return fmt.Sprintf("%q is not an executable on PATH; install it: %s", program(one), one.Spec.Install)
}

// lookPath finds the agent's program as a run in the project does.
func (p *Project) lookPath(one pool.Agent) (string, error) {
	return exec.LookPath(p.absolute(program(one)))
}

// absolute makes the name of a program absolute if it is relative to the project.
func (p *Project) absolute(name string) string {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return filepath.Join(p.Dir, name)
	}
	return name
}

// CallHooks finds ralph for the agent that runs its hooks, and checks that one does.
func (p *Project) CallHooks() error {
	if !p.Config.CallHooks() {
		return nil
	}
	takes := func(one pool.Agent) bool { return len(one.Spec.SettingsArgs) > 0 }
	switch {
	case p.Config.Settings.InContainer():
		return cmdline.UsageError("HOOK_STOP, HOOK_LINT and HOOK_AUTO_APPROVE cannot be used in a container: " +
			"ralph is not there")
	case !slices.ContainsFunc(p.Workers(), takes):
		return cmdline.UsageError("HOOK_STOP, HOOK_LINT and HOOK_AUTO_APPROVE are for agents that take hooks for "+
			"one call, such as claude; %s does not", p.Config.Agent)
	}
	var err error
	p.Self, err = os.Executable()
	return err
}

// Reviews says who reviews each task before it counts as done, or warns that nobody does. It is empty if the user has
// set QA=false. A task of the plan may name more reviewers.
func (p *Project) Reviews() string {
	var steps []string
	aios := roles.AIOSOptions(p.Config.AIOSOptions).At(p.Dir)
	for _, s := range p.Config.For(roles.Asking{Task: task.Task{ID: "any"}, Rows: p.Config.JudgeRows(),
		Project: slices.ContainsFunc(p.Tasks.Tasks, aios.Asks)}) {
		steps = append(steps, strings.Join(s.Names(), ", "))
	}
	if slices.ContainsFunc(p.Tasks.Tasks, func(t task.Task) bool { return len(t.Judges) > 0 }) {
		steps = append(steps, "the judges that tasks name")
	}
	all := view.Join(", then ", steps...)
	if all == "" && p.Config.Source("QA").Kind == config.SourceDefault {
		return "no reviewer: wrong code that no test notices counts as done (QA=true asks another agent to read it)"
	}
	return view.Prefix("review: each task by ", all)
}

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
		first = cmp.Or(first, line)
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
	if interrupt, is := errors.AsType[*rules.Interrupt](context.Cause(sig.Ctx)); is {
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

// ModelsBound is how long a program may take to list its models, or to say
// whether it is logged in.
const ModelsBound = 10 * time.Second

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
