package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"ralph/cmd/internal/scaffold"
	"ralph/config"
	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/rules"
	"ralph/state"
)

// initFlags are the flags of init.
type initFlags struct{ yes, force bool }

func (a *app) initCommand() *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use: "init", Short: "Write the prompt, the plan and the settings for this project", Args: cobra.NoArgs,
		Long: "Looks at the project, asks what it could not know, and writes .ralph/PROMPT.md, .ralph/fix_plan.md,\n" +
			".ralph/AGENT.md, .ralph/.gitignore and .ralphrc: all of them or, when it is interrupted, none.\n" +
			"A file that is there already stays as it is.",
		RunE: func(*cobra.Command, []string) error { return a.init(*f) },
	}
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing and take what was found, as without a terminal")
	cmd.Flags().BoolVar(&f.force, "force", false, "write over files that are there")
	return cmd
}

func (a *app) init(f initFlags) error {
	dir, err := a.project()
	if err != nil {
		return err
	}
	if owner, alive := state.Open(filepath.Join(dir, state.DirName)).Owner(); alive && f.force {
		return &state.LockedError{Owner: owner} // its prompt and plan would change under it
	}
	found, err := scaffold.Detect(dir, func(program string) bool { _, err := exec.LookPath(program); return err == nil })
	if err != nil {
		return err
	}
	cfg := a.presentConfig(dir)
	answers := initAnswers{name: found.Name, agent: firstAgent(cfg), build: sure(found.Build()), test: sure(found.Test()), lint: sure(found.Lint())}
	// Which files are missing does not depend on the answers.
	files, err := scaffold.Files(dir, found, answers.scaffold(cfg, found))
	if err != nil {
		return err
	}
	a.say("project: %s", dir)
	if len(choose(files, f.force)) == 0 {
		a.sayKept(files, f.force)
		a.say("everything is there already, nothing was written; write over it with: ralph init --force")
		return nil
	}
	a.sayFound(found)
	if !f.yes && isatty.IsTerminal(a.in.Fd()) {
		if err := a.askAnswers(&answers, found); err != nil {
			return err
		}
		if files, err = scaffold.Files(dir, found, answers.scaffold(cfg, found)); err != nil {
			return err
		}
	}
	write := choose(files, f.force)
	if err := writeUninterrupted(dir, write); err != nil {
		return err
	}
	for _, file := range write {
		a.say("wrote %s", file.Path)
	}
	a.sayKept(files, f.force)
	if slices.ContainsFunc(write, func(file scaffold.File) bool { return file.Path == ".ralphrc" }) {
		a.trustOwn(dir)
	}
	a.sayNext(files, answers)
	return nil
}

// writeUninterrupted holds signals back for the moment that it takes: half of
// the files would be worse than all of them.
func writeUninterrupted(dir string, files []scaffold.File) error {
	held := make(chan os.Signal, 1)
	signal.Notify(held, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(held)
	return scaffold.Write(dir, files)
}

// choose returns the files to write. --force writes over a file, but adds none
// that would only hide another of the user's.
func choose(files []scaffold.File, force bool) []scaffold.File {
	var write []scaffold.File
	for _, file := range files {
		if file.Kept == "" || force && file.Kept == file.Path {
			write = append(write, file)
		}
	}
	return write
}

func (a *app) sayKept(files []scaffold.File, force bool) {
	for _, file := range files {
		switch {
		case file.Kept == "" || force && file.Kept == file.Path:
		case file.Kept == file.Path:
			a.say("kept  %s, it was there", file.Path)
		default:
			a.say("kept  %s, which serves as %s", file.Kept, file.Path)
		}
	}
}

func (a *app) sayFound(p scaffold.Project) {
	languages := strings.Join(p.Languages(), ", ")
	if languages == "" {
		languages = "nothing that is known"
	}
	a.say("found: %s", languages)
	for _, sub := range p.Subprojects {
		a.say("found: subproject %s (%s)", sub.Dir, sub.Language)
	}
}

// trustOwn records that this user agrees to the commands just written. What
// another file of the project wants to run stays to be asked for.
func (a *app) trustOwn(dir string) {
	loader := a.loader(dir, nil)
	u, err := loader.Untrusted()
	if err == nil && u != nil && u.File == ".ralphrc" {
		err = config.Trust(loader.StateHome(), *u)
	}
	if err != nil {
		fmt.Fprintf(a.err, "ralph: warning: the commands in .ralphrc are not trusted yet (%v); agree with: ralph trust\n", err)
	}
}

func (a *app) sayNext(files []scaffold.File, answers initAnswers) {
	plan := files[slices.IndexFunc(files, func(f scaffold.File) bool { return f.Path == ".ralph/fix_plan.md" })]
	name := plan.Path
	if plan.Kept != "" {
		name = plan.Kept
	}
	ralph := "ralph"
	if a.dir != "" {
		ralph += " -C " + quoteArgs([]string{a.dir})
	}
	if answers.test == "" {
		a.say("no test command: set TEST_COMMAND in .ralphrc as soon as there is one, so that ralph can check what the agent claims")
	}
	a.say("next:")
	a.say("  edit %s: write what you want to have done", name)
	a.say("  %s --dry-run    shows the first prompt and calls nothing", ralph)
	a.say("  %s --monitor    runs the loop", ralph)
}

// initAnswers are what init asks, or takes from what was found.
type initAnswers struct{ name, agent, build, test, lint string }

func sure(c scaffold.Command) string {
	if !c.Sure {
		return ""
	}
	return c.Line
}

// presentConfig is the configuration before init; the defaults where it is broken.
func (a *app) presentConfig(dir string) *config.Config {
	cfg, _, err := a.loader(dir, nil).Load()
	if err != nil {
		cfg, _, _ = config.Loader{}.Load() // the defaults alone are valid
	}
	return cfg
}

// firstAgent is the agent that the user has chosen somewhere, else the first
// in the table that is installed.
func firstAgent(cfg *config.Config) string {
	if cfg.Source("AGENT").Kind == config.SourceDefault {
		for _, spec := range agent.Specs() {
			if _, err := exec.LookPath(spec.Bin); err == nil {
				return spec.Name
			}
		}
	}
	return cfg.Agent
}

// firstKeys are the options that a person sets first.
func firstKeys() []string {
	return []string{
		"AGENT", "MODEL", "TEST_COMMAND", "BUILD_COMMAND", "LINT_COMMAND", "ALLOWED_TOOLS",
		"MAX_CALLS_PER_HOUR", "MAX_ITERATIONS", "MAX_COST_USD", "CLAUDE_TIMEOUT_MINUTES",
	}
}

func (v initAnswers) scaffold(cfg *config.Config, p scaffold.Project) scaffold.Answers {
	values := map[string]string{
		"AGENT": v.agent, "TEST_COMMAND": v.test, "BUILD_COMMAND": v.build, "LINT_COMMAND": v.lint,
		"ALLOWED_TOOLS": strings.Join(v.tools(cfg, p), ","),
	}
	examples := map[string]string{
		"TEST_COMMAND": p.Test().Line, "BUILD_COMMAND": p.Build().Line, "LINT_COMMAND": p.Lint().Line,
	}
	answers := scaffold.Answers{Name: v.name, Build: v.build, Test: v.test, Lint: v.lint}
	table := config.Table()
	for _, key := range firstKeys() {
		o := table[slices.IndexFunc(table, func(o config.Option) bool { return o.Key == key })]
		s := scaffold.Setting{Key: o.Key, Help: o.Help, Value: o.Default}
		if value := values[o.Key]; value != "" {
			s.Value, s.Active = value, true
		} else if examples[o.Key] != "" {
			s.Value = examples[o.Key]
		}
		answers.Settings = append(answers.Settings, s)
	}
	return answers
}

// tools are those that are allowed now, and the project's own commands: an
// agent that may not run the tests is of no use.
func (v initAnswers) tools(cfg *config.Config, p scaffold.Project) []string {
	var prefixes, more []string
	for _, part := range slices.Concat(p.Parts, p.Subprojects) {
		for _, prefix := range part.Allow {
			prefixes = append(prefixes, prefix)
			more = append(more, "Bash("+prefix+":*)")
		}
	}
	for _, line := range []string{v.lint, v.build, v.test} {
		covered := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(line+" ", prefix+" ") })
		if line != "" && !covered {
			more = append(more, argv.AllowEntry("Bash", line))
		}
	}
	slices.Sort(more)
	more = slices.DeleteFunc(slices.Compact(more), func(entry string) bool { return slices.Contains(cfg.AllowedTools, entry) })
	return slices.Concat(cfg.AllowedTools, more)
}

// question is one line of the dialogue; its answer holds what Enter means.
type question struct {
	text    string
	example string // shown when there is no answer to propose
	answer  *string
	command bool // - means none
	allowed func(string) bool
}

// askAnswers asks on the terminal. Whoever ends it early has written nothing.
func (a *app) askAnswers(v *initAnswers, p scaffold.Project) error {
	var agents []string
	for _, spec := range agent.Specs() {
		agents = append(agents, spec.Name)
	}
	anything := func(string) bool { return true }
	in := bufio.NewReader(a.in)
	for _, q := range []question{
		{text: "Project name", answer: &v.name, allowed: anything},
		{text: "Test command", answer: &v.test, example: p.Test().Line, command: true, allowed: anything},
		{text: "Build command", answer: &v.build, example: p.Build().Line, command: true, allowed: anything},
		{text: "Agent (" + strings.Join(agents, ", ") + ")", answer: &v.agent, allowed: func(name string) bool { return slices.Contains(agents, name) }},
	} {
		if err := a.ask(in, q); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) ask(in *bufio.Reader, q question) error {
	switch {
	case *q.answer == "" && q.example != "":
		q.text += " (none is sure; perhaps " + q.example + ")"
	case *q.answer != "" && q.command:
		q.text += " (- for none)"
	}
	for {
		fmt.Fprintf(a.err, "%s [%s]: ", q.text, *q.answer)
		line, err := in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(a.err)
			return &exitError{rules.ExitInterrupted, "interrupted, nothing was written"}
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case line == "-" && q.command:
			*q.answer = ""
		case strings.HasPrefix(line, "-") || inert(line) != line || !q.allowed(line):
			fmt.Fprintf(a.err, "%q is not possible here\n", line)
			continue
		default:
			*q.answer = line
		}
		return nil
	}
}
