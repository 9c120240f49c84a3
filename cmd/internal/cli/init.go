package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/scaffold"
	"ralph/cmd/internal/undo"
	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/git"
	"ralph/runner/sandbox"
	"ralph/runner/task/store"
	"ralph/state"
)

type initOptions struct {
	*cmdline.Factory
	yes, force, ai bool
}

// newInitCmd returns ralph init.
func newInitCmd(f *cmdline.Factory) *cobra.Command {
	o := &initOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "init", Short: "Write the prompt, plan and settings of this project", Args: cmdline.NoArgs,
		Long: "Inspect the project, ask about what it cannot detect, and write .ralph/PROMPT.md, .ralph/fix_plan.md,\n" +
			".ralph/AGENT.md, .ralph/.gitignore and .ralphrc: all of them, or none if interrupted.\n" +
			"Existing files are kept.",
		Example: "  ralph init\n  ralph init --yes    # ask nothing",
		RunE:    func(*cobra.Command, []string) error { return initRun(o) },
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask; use what was detected, as without a terminal.")
	cmd.Flags().BoolVar(&o.force, "force", false, "Overwrite existing files.")
	cmd.Flags().BoolVar(&o.ai, "ai", false, "Let the agent look at a copy of the project and propose checks; one call.")
	return cmd
}

func initRun(o *initOptions) error {
	dir, err := o.folder()
	if err != nil {
		return err
	}
	if owner, alive := cmdline.OpenState(dir).Owner(); alive && o.force {
		return &state.LockedError{Owner: owner} // its prompt and plan must not change during a run
	}
	found, err := scaffold.Detect(dir, preflight.OnPath)
	if err != nil {
		return err
	}
	cfg := o.presentConfig(dir)
	p := preflight.New(o.Factory, o.Loader(dir, nil), cfg)
	a := detected(found, p)
	// The answers do not change which files are missing.
	files, err := scaffold.Files(dir, found, a.scaffold(cfg, found))
	if err != nil {
		return err
	}
	o.Say("project: %s", dir)
	if len(o.choose(files)) == 0 {
		o.sayKept(files)
		o.Say("everything exists already, nothing was written; overwrite it with: ralph init --force")
		return nil
	}
	o.sayFound(found)
	if o.ai {
		if err := o.analyse(&a); err != nil {
			return err
		}
	}
	if !o.yes && o.CanAsk() {
		if err := o.ask(&a, p); err != nil {
			return err
		}
	}
	if a.Test+a.Build != "" {
		a.Detected = nil // commands replace what is detected
	}
	for _, line := range a.Checks() {
		o.Say("check: %s", line)
	}
	if o.ai || !o.yes && o.CanAsk() {
		if files, err = scaffold.Files(dir, found, a.scaffold(cfg, found)); err != nil {
			return err
		}
	}
	write := o.choose(files)
	stop := undo.Shield() // all files or none
	err = scaffold.Write(dir, write)
	stop()
	if err != nil {
		return err
	}
	for _, file := range write {
		o.WroteInProject(dir, file.Path)
		o.Say("wrote %s", file.Path)
	}
	o.sayKept(files)
	if slices.ContainsFunc(write, func(file scaffold.File) bool { return file.Path == ".ralphrc" }) {
		o.trustOwn(dir, a)
	}
	o.sayNext(dir, files, a, found.Wants)
	return nil
}

// detected are the answers that need no question.
func detected(found scaffold.Project, p *preflight.Project) answers {
	c := found.Commands()
	a := answers{agent: firstAgent(p), Answers: scaffold.Answers{Name: found.Name,
		Build: c.Build, Test: c.Test, Lint: c.Lint, Types: c.Types, Fast: c.Fast}}
	if a.Types == a.Build { // it would run twice
		a.Types = ""
	}
	if a.Fast == a.Lint {
		a.Lint = ""
	}
	// One command for each kind would replace all that is detected, and leave the packages of a workspace unchecked.
	if all := found.Checks(); len(all) > len(a.Checks()) {
		a.Answers = scaffold.Answers{Name: found.Name, Detected: all}
	}
	return a
}

// folder returns the folder to set up: the project around this folder, or --dir.
func (o *initOptions) folder() (string, error) {
	dir, err := o.Project()
	here, _ := os.Getwd() // Project has needed it, too
	if err != nil || o.Dir != "" || here == dir {
		return dir, err
	}
	o.Say("this folder lies in the project %s, which is set up; for this folder alone: ralph -C . init", dir)
	return dir, nil
}

// keeps reports whether an existing file stays. --force overwrites a file, but does not
// add one that would shadow another of the user's.
func (o *initOptions) keeps(file scaffold.File) bool {
	return file.Kept != "" && (!o.force || file.Kept != file.Path)
}

// choose returns the files that are to be written.
func (o *initOptions) choose(files []scaffold.File) []scaffold.File {
	return slices.DeleteFunc(slices.Clone(files), o.keeps)
}

func (o *initOptions) sayKept(files []scaffold.File) {
	for _, file := range files {
		if !o.keeps(file) {
			continue
		}
		if file.Kept == file.Path {
			o.Say("kept  %s, which exists", file.Path)
		} else {
			o.Say("kept  %s, which serves as %s", file.Kept, file.Path)
		}
	}
}

func (o *initOptions) sayFound(p scaffold.Project) {
	o.Say("found: %s", cmp.Or(strings.Join(p.Languages(), ", "), "no known language or tool"))
	for _, sub := range p.Subprojects {
		o.Say("found: subproject %s (%s)", sub.Dir, sub.Language)
	}
}

// trustOwn records the user's consent to the commands just written, but not to those of
// other project files.
func (o *initOptions) trustOwn(dir string, a answers) {
	loader := o.Loader(dir, nil)
	if len(a.Detected) > 0 { // what a run detects later needs no consent either
		_ = o.Record(loader, []config.Untrusted{preflight.DetectedChecks(loader, a.Checks()...)})
	}
	u, err := loader.Untrusted()
	if err == nil {
		err = o.Record(loader, slices.DeleteFunc(u, func(o config.Untrusted) bool { return o.File != ".ralphrc" }))
	}
	if err != nil {
		o.Warn(fmt.Sprintf("the commands in .ralphrc are not trusted yet (%v); agree with: ralph trust", err))
	}
}

// presentConfig returns the configuration before init, or the defaults if it is invalid.
func (o *initOptions) presentConfig(dir string) *config.Config {
	cfg, _, err := o.Loader(dir, nil).Load()
	if err != nil {
		if !o.force {
			o.Warn(fmt.Errorf("no run can start: %w", err))
		}
		cfg = config.Defaults()
	}
	return cfg
}

// firstAgent returns the configured agent, else the first installed one; empty: neither.
func firstAgent(p *preflight.Project) string {
	if p.Config.Source("AGENT").Kind != config.SourceDefault || p.Config.AgentCmd != "" {
		return p.Config.Agent
	}
	return append(p.InstalledAgents(), "")[0]
}

// answers are what init asks or detects.
type answers struct {
	scaffold.Answers
	agent, command, sandbox, qa string
}

func (a answers) scaffold(cfg *config.Config, p scaffold.Project) scaffold.Answers {
	values := map[string]string{
		"AGENT": a.agent, "SANDBOX": a.sandbox, "QA": a.qa, "CLAUDE_CODE_CMD": a.command, "TEST_COMMAND": a.Test,
		"BUILD_COMMAND": a.Build, "LINT_COMMAND": a.Lint, "TYPECHECK_COMMAND": a.Types, "LINT_FAST_COMMAND": a.Fast,
		"AUTO_COMMIT":   "true", // nobody else commits what an agent forgets, and ralph undo is easier then
		"ALLOWED_TOOLS": strings.Join(p.Tools(cfg.AllowedTools, a.Lint, a.Build, a.Test, a.Types, a.Fast), ","),
	}
	all := a.Answers
	table := config.Index()
	for _, key := range []string{ // what people set first
		"AGENT", "CLAUDE_CODE_CMD", "MODEL", "SANDBOX", "QA", "LINT_FAST_COMMAND", "TEST_COMMAND", "BUILD_COMMAND",
		"TYPECHECK_COMMAND", "LINT_COMMAND", "ALLOWED_TOOLS",
		"AUTO_COMMIT", "MAX_CALLS_PER_HOUR", "MAX_ITERATIONS", "MAX_COST_USD", "CLAUDE_TIMEOUT_MINUTES",
	} {
		o := table[key]
		s := scaffold.Setting{Key: o.Key, Help: o.Help, Value: o.Default}
		if o.Key == "CLAUDE_CODE_CMD" {
			s.Key = "AGENT_CMD" // as people know it
		}
		if value := values[o.Key]; value != "" {
			s.Value, s.Active = value, true
		} else if slices.Contains([]string{"CLAUDE_CODE_CMD", "TYPECHECK_COMMAND", "LINT_FAST_COMMAND"}, o.Key) {
			continue // few projects have one
		}
		all.Settings = append(all.Settings, s)
	}
	return all
}

// ask asks on the terminal.
func (o *initOptions) ask(a *answers, p *preflight.Project) error {
	var err error
	ask := func(text string, answer *string, allowed func(string) bool) {
		if err == nil {
			err = o.askOne(text, answer, allowed)
		}
	}
	oneOf := func(names []string) func(string) bool {
		return func(line string) bool { return line == "" || slices.Contains(names, line) }
	}
	command := "Test command"
	if len(a.Detected) > 0 {
		command += " (empty: what ralph detects in each folder)"
	}
	cfg := p.Config
	known := termtext.Each(cfg.AllAgents(), func(spec agent.Spec) string { return spec.Name })
	ask("Project name", &a.Name, func(string) bool { return true })
	ask(command, &a.Test, nil)
	ask("Build command", &a.Build, nil)
	ask(fmt.Sprintf("Agent (installed: %s; known: %s; text is any other program)",
		cmp.Or(strings.Join(p.InstalledAgents(), ", "), "none"), strings.Join(known, ", ")), &a.agent, oneOf(known))
	spec, unknown := agent.Find(a.agent, cfg.Agents()...)
	if unknown == nil && spec.Bin == "" && cfg.AgentCmd == "" {
		ask("Command line of your agent: "+spec.About, &a.command, func(line string) bool { return line != "" })
	}
	if boxes := working(cfg); len(boxes) > 0 {
		boxes, a.sandbox = append(append([]string{sandbox.Off}, boxes...), sandbox.Auto), sandbox.Auto
		ask("Sandbox for agents and checks ("+strings.Join(boxes, ", ")+")", &a.sandbox, oneOf(boxes))
	}
	// A program that prints plain text need not know how to review.
	a.qa = strconv.FormatBool(cfg.QA || spec.Format != agent.FormatText)
	ask("Let another agent review each task? It finds wrong code that no test notices, "+
		"for about one more call per task (true, false)", &a.qa, oneOf([]string{"true", "false"}))
	return err
}

// working are the sandboxes that work here.
func working(cfg *config.Config) (names []string) {
	for _, trial := range cfg.Settings.Try() {
		if trial.Err == nil {
			names = append(names, trial.Name)
		}
	}
	return names
}

// askOne asks for an answer that is allowed; nil: any is, and - means none.
func (o *initOptions) askOne(text string, answer *string, allowed func(string) bool) error {
	if *answer != "" && allowed == nil {
		text += " (- for none)"
	}
	preset := *answer
	return o.Ask(text, preset, func(line string) error {
		switch {
		case line == "-" && allowed == nil:
			line = ""
		case line == preset && preset != "":
		case strings.HasPrefix(line, "-") || cmdline.Inert(line) != line || allowed != nil && !allowed(line):
			return fmt.Errorf("%q is not allowed here", line)
		}
		*answer = line
		return nil
	})
}

// analyse lets the agent propose checks. What the user accepts becomes an answer.
func (o *initOptions) analyse(a *answers) error {
	p, err := preflight.Trusted(o.Factory, nil)
	if err != nil {
		return err
	}
	if err := p.FindAgents(); err != nil {
		return err
	}
	if err := p.Installed(p.Agent); err != nil {
		return err
	}
	answer, err := p.Analyse(o.Factory)
	if err != nil {
		return err
	}
	for _, c := range p.Propose(o.Factory, answer) {
		*map[string]*string{"build": &a.Build, "test": &a.Test, "lint": &a.Lint}[c.Name] = c.Command
	}
	return nil
}

// sayNext lists the commands that come next; wants is what make test wants.
func (o *initOptions) sayNext(dir string, files []scaffold.File, a answers, wants string) {
	plan := files[slices.IndexFunc(files, func(f scaffold.File) bool { return f.Path == scaffold.ImportPath })]
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
	switch {
	case a.Test != "" || len(a.Detected) > 0: // there is one
	case wants == "MAKECMDGOALS":
		o.Say(`no test command: make test needs the name of another target; set TEST_COMMAND="make test ..." in .ralphrc`)
	case wants != "":
		o.Say(`no test command: make test needs a value for %s; set TEST_COMMAND="make test %[1]s=..." in .ralphrc`, wants)
	default:
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
