package cli

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
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/scaffold"
	"ralph/runner/agent"
	"ralph/state"
	"ralph/state/option"
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
	in := bufio.NewReader(o.In)
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
	a := o.detected(found, cfg)
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
		if err := o.analyse(in, &a); err != nil {
			return err
		}
	}
	if !o.yes && o.CanAsk() {
		if err := o.ask(in, &a, cfg); err != nil {
			return err
		}
	}
	if a.Test+a.Build != "" {
		a.Detected = nil // commands replace what is detected
	}
	for _, row := range a.Detected {
		o.Say("check: %s", row.Reproduce())
	}
	if o.ai || !o.yes && o.CanAsk() {
		if files, err = scaffold.Files(dir, found, a.scaffold(cfg, found)); err != nil {
			return err
		}
	}
	write := o.choose(files)
	if err := writeUninterrupted(dir, write); err != nil {
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
	o.sayNext(dir, files, a)
	return nil
}

// detected are the answers that need no question.
func (o *initOptions) detected(found scaffold.Project, cfg *config.Config) answers {
	c := found.Commands()
	a := answers{agent: o.firstAgent(cfg), Answers: scaffold.Answers{Name: found.Name,
		Build: c.Build, Test: c.Test, Lint: c.Lint, Types: c.Types, Fast: c.Fast}}.distinct()
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
func (o *initOptions) trustOwn(dir string, a answers) {
	loader := o.Loader(dir, nil)
	if len(a.Detected) > 0 { // what a run detects later needs no consent either
		_ = o.Record(loader, []config.Untrusted{preflight.DetectedChecks(loader, a.Checks()...)})
	}
	u, err := loader.Untrusted()
	if err == nil {
		err = o.Record(loader, slices.DeleteFunc(u, func(o config.Untrusted) bool { return o.File != scaffold.RC }))
	}
	if err != nil {
		o.Warn(fmt.Sprintf("the commands in .ralphrc are not trusted yet (%v); agree with: ralph trust", err))
	}
}

// presentConfig returns the configuration before init, or the defaults if it is invalid.
func (o *initOptions) presentConfig(dir string) *config.Config {
	cfg, _, err := o.Loader(dir, nil).Load()
	if err != nil {
		cfg, _, _ = config.Loader{}.Load() // the defaults alone are valid
	}
	return cfg
}

// firstAgent returns the configured agent, else the first installed one; empty: neither.
func (o *initOptions) firstAgent(cfg *config.Config) string {
	if cfg.Source("AGENT").Kind != config.SourceDefault {
		return cfg.Agent
	}
	return append(installed(cfg), "")[0]
}

// initKnown are the names of all agents.
func initKnown(cfg *config.Config) (names []string) {
	for _, spec := range append(agent.Specs(), cfg.Agents()...) {
		names = append(names, spec.Name)
	}
	return names
}

// installed are the agents whose program is on PATH.
func installed(cfg *config.Config) (names []string) {
	for _, spec := range append(agent.Specs(), cfg.Agents()...) {
		if _, err := exec.LookPath(spec.Bin); err == nil {
			names = append(names, spec.Name)
		}
	}
	return names
}

// answers are what init asks or detects.
type answers struct {
	scaffold.Answers
	agent, command, sandbox, qa string
}

// distinct leaves out commands that would run twice.
func (a answers) distinct() answers {
	if a.Types == a.Build {
		a.Types = ""
	}
	if a.Fast == a.Lint {
		a.Lint = ""
	}
	return a
}

// firstKeys are the options in the new .ralphrc: those that people set first.
func firstKeys() []string {
	return []string{
		"AGENT", "CLAUDE_CODE_CMD", "MODEL", "SANDBOX", "QA", "LINT_FAST_COMMAND", "TEST_COMMAND", "BUILD_COMMAND",
		"TYPECHECK_COMMAND", "LINT_COMMAND", "ALLOWED_TOOLS",
		"AUTO_COMMIT", "MAX_CALLS_PER_HOUR", "MAX_ITERATIONS", "MAX_COST_USD", "CLAUDE_TIMEOUT_MINUTES",
	}
}

func (a answers) scaffold(cfg *config.Config, p scaffold.Project) scaffold.Answers {
	values := map[string]string{
		"AGENT": a.agent, "SANDBOX": a.sandbox, "QA": a.qa, "CLAUDE_CODE_CMD": a.command, "TEST_COMMAND": a.Test,
		"BUILD_COMMAND": a.Build, "LINT_COMMAND": a.Lint, "TYPECHECK_COMMAND": a.Types, "LINT_FAST_COMMAND": a.Fast,
		"AUTO_COMMIT":   "true", // nobody else commits what an agent forgets, and ralph undo is easier then
		"ALLOWED_TOOLS": strings.Join(p.Tools(cfg.AllowedTools, a.Lint, a.Build, a.Test, a.Types, a.Fast), ","),
	}
	all := a.Answers
	table := config.Table()
	for _, key := range firstKeys() {
		o := table[slices.IndexFunc(table, func(o option.Row) bool { return o.Key == key })]
		s := scaffold.Setting{Key: o.Key, Help: o.Help, Value: o.Default}
		if o.Key == "CLAUDE_CODE_CMD" {
			if s.Key = "AGENT_CMD"; a.command == "" { // its name as people know it
				continue
			}
		}
		if few := o.Key == "TYPECHECK_COMMAND" || o.Key == "LINT_FAST_COMMAND"; few && values[o.Key] == "" {
			continue // few projects have one
		}
		if value := values[o.Key]; value != "" {
			s.Value, s.Active = value, true
		}
		all.Settings = append(all.Settings, s)
	}
	return all
}
