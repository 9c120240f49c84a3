// Package setupcmd has the verbs that set up a project and inspect it: init, config,
// trust, doctor, check, drill.
package setupcmd

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/scaffold"
	"ralph/config"
	"ralph/config/option"
	"ralph/runner/agent"
	"ralph/state"
)

type initOptions struct {
	*cmdline.Factory
	yes, force bool
}

// NewInitCmd returns ralph init.
func NewInitCmd(f *cmdline.Factory) *cobra.Command {
	o := &initOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "init", Short: "Write the prompt, plan and settings of this project", Args: cmdline.NoArgs,
		Long: "Inspect the project, ask what it cannot detect, and write .ralph/PROMPT.md, .ralph/fix_plan.md,\n" +
			".ralph/AGENT.md, .ralph/.gitignore and .ralphrc: all of them, or none if interrupted.\n" +
			"Existing files are kept.",
		Example: "  ralph init\n  ralph init --yes    # ask nothing",
		RunE:    func(*cobra.Command, []string) error { return initRun(o) },
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "ask nothing and use what was detected, as without a terminal")
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite existing files")
	return cmd
}

func initRun(o *initOptions) error {
	dir, err := o.Project()
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
	a := answers{name: found.Name, agent: firstAgent(cfg),
		build: found.Build().SureLine(), test: found.Test().SureLine(), lint: found.Lint().SureLine()}
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
	if !o.yes && o.CanAsk() {
		if err := o.ask(&a, found); err != nil {
			return err
		}
		if files, err = scaffold.Files(dir, found, a.scaffold(cfg, found)); err != nil {
			return err
		}
	}
	write := o.choose(files)
	if err := writeUninterrupted(dir, write); err != nil {
		return err
	}
	for _, file := range write {
		o.Say("wrote %s", file.Path)
	}
	o.sayKept(files)
	if slices.ContainsFunc(write, func(file scaffold.File) bool { return file.Path == ".ralphrc" }) {
		o.trustOwn(dir)
	}
	o.sayNext(files, a)
	return nil
}

// writeUninterrupted ignores signals while it writes: all files or none.
func writeUninterrupted(dir string, files []scaffold.File) error {
	held := make(chan os.Signal, 1)
	signal.Notify(held, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(held)
	return scaffold.Write(dir, files)
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
		switch {
		case !o.keeps(file):
		case file.Kept == file.Path:
			o.Say("kept  %s, which exists", file.Path)
		default:
			o.Say("kept  %s, which serves as %s", file.Kept, file.Path)
		}
	}
}

func (o *initOptions) sayFound(p scaffold.Project) {
	languages := strings.Join(p.Languages(), ", ")
	if languages == "" {
		languages = "no known language or tool"
	}
	o.Say("found: %s", languages)
	for _, sub := range p.Subprojects {
		o.Say("found: subproject %s (%s)", sub.Dir, sub.Language)
	}
}

// trustOwn records the user's consent to the commands just written, but not to those of
// other project files.
func (o *initOptions) trustOwn(dir string) {
	loader := o.Loader(dir, nil)
	u, err := loader.Untrusted()
	own := []config.Untrusted{preflight.DetectedChecks(loader)} // who sets a project up has looked at it
	if err == nil && u != nil && u.File == ".ralphrc" {
		own = append(own, *u)
	}
	if err == nil {
		err = o.Record(loader, own)
	}
	if err != nil {
		o.Warn(fmt.Sprintf("the commands in .ralphrc are not trusted yet (%v); agree with: ralph trust", err))
	}
}

func (o *initOptions) sayNext(files []scaffold.File, a answers) {
	plan := files[slices.IndexFunc(files, func(f scaffold.File) bool { return f.Path == ".ralph/fix_plan.md" })]
	name := plan.Path
	if plan.Kept != "" {
		name = plan.Kept
	}
	ralph := "ralph"
	if o.Dir != "" {
		ralph += " -C " + cmdline.Quote(o.Dir)
	}
	if a.test == "" {
		o.Say("no test command: set TEST_COMMAND in .ralphrc once there is one, so that ralph can check the agent's work")
	}
	o.Say("next:")
	o.Say("  edit %s: list the tasks", name)
	o.Say("  %s --dry-run    shows the first prompt and calls nothing", ralph)
	o.Say("  %s --monitor    runs the loop", ralph)
}

// presentConfig returns the configuration before init, or the defaults if it is invalid.
func (o *initOptions) presentConfig(dir string) *config.Config {
	cfg, _, err := o.Loader(dir, nil).Load()
	if err != nil {
		cfg, _, _ = config.Loader{}.Load() // the defaults alone are valid
	}
	return cfg
}

// firstAgent returns the configured agent, else the first installed one of the table.
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

// answers are what init asks or detects.
type answers struct{ name, agent, build, test, lint string }

// firstKeys are the options in the new .ralphrc: those that people set first.
func firstKeys() []string {
	return []string{
		"AGENT", "MODEL", "TEST_COMMAND", "BUILD_COMMAND", "LINT_COMMAND", "ALLOWED_TOOLS",
		"AUTO_COMMIT", "MAX_CALLS_PER_HOUR", "MAX_ITERATIONS", "MAX_COST_USD", "CLAUDE_TIMEOUT_MINUTES",
	}
}

func (a answers) scaffold(cfg *config.Config, p scaffold.Project) scaffold.Answers {
	values := map[string]string{
		"AGENT": a.agent, "TEST_COMMAND": a.test, "BUILD_COMMAND": a.build, "LINT_COMMAND": a.lint,
		"AUTO_COMMIT":   "true", // nobody else commits what an agent forgets, and ralph undo is easier then
		"ALLOWED_TOOLS": strings.Join(p.Tools(cfg.AllowedTools, a.lint, a.build, a.test), ","),
	}
	examples := map[string]string{
		"TEST_COMMAND": p.Test().Line, "BUILD_COMMAND": p.Build().Line, "LINT_COMMAND": p.Lint().Line,
	}
	all := scaffold.Answers{Name: a.name, Build: a.build, Test: a.test, Lint: a.lint}
	table := config.Table()
	for _, key := range firstKeys() {
		o := table[slices.IndexFunc(table, func(o option.Row) bool { return o.Key == key })]
		s := scaffold.Setting{Key: o.Key, Help: o.Help, Value: o.Default}
		if value := values[o.Key]; value != "" {
			s.Value, s.Active = value, true
		} else if examples[o.Key] != "" {
			s.Value = examples[o.Key]
		}
		all.Settings = append(all.Settings, s)
	}
	return all
}

// ask asks on the terminal. For a command, "-" means none.
func (o *initOptions) ask(a *answers, p scaffold.Project) error {
	var agents []string
	for _, spec := range agent.Specs() {
		agents = append(agents, spec.Name)
	}
	in := bufio.NewReader(o.In)
	for _, q := range []struct {
		text    string
		answer  *string
		command bool
		example string // shown if no command is sure
		allowed func(string) bool
	}{
		{text: "Project name", answer: &a.name},
		{text: "Test command", answer: &a.test, command: true, example: p.Test().Line},
		{text: "Build command", answer: &a.build, command: true, example: p.Build().Line},
		{text: "Agent (" + strings.Join(agents, ", ") + ")", answer: &a.agent,
			allowed: func(name string) bool { return slices.Contains(agents, name) }},
	} {
		switch {
		case *q.answer == "" && q.example != "":
			q.text += " (a guess: " + q.example + ")"
		case *q.answer != "" && q.command:
			q.text += " (- for none)"
		}
		preset := *q.answer
		err := o.Ask(in, q.text, preset, func(line string) error {
			switch {
			case line == preset:
			case line == "-" && q.command:
				line = ""
			case strings.HasPrefix(line, "-") || cmdline.Inert(line) != line || q.allowed != nil && !q.allowed(line):
				return fmt.Errorf("%q is not allowed here", line)
			}
			*q.answer = line
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
