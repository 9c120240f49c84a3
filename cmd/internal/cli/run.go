package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/logs"
	"ralph/runner"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// Bounds of the iterations that can be gone back to.
const (
	keptAge   = 30 * 24 * time.Hour
	keptCount = 500
)

// runFlags are the flags of run that are no options: they belong to one call.
type runFlags struct {
	monitor, live, headless, dryRun bool
	output                          string
	options                         map[string]string // key -> raw value
	once                            bool
	resumed                         string   // id of the run to continue
	settings                        []string // KEY=value of its environment
	unattended                      bool     // no person asked for it: the service manager did
}

func (a *app) runCommand(name string) *cobra.Command {
	f := &runFlags{options: map[string]string{}, once: name == "once"}
	cmd := &cobra.Command{
		Use: name, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if done, err := a.resetByFlags(cmd); done || err != nil {
				return err
			}
			return a.run(f)
		},
	}
	fs := cmd.Flags()
	addOptions(fs, f.options)
	fs.BoolVarP(&f.monitor, "monitor", "m", false, "open a tmux split: runner left, monitor right")
	fs.BoolVarP(&f.live, "live", "l", false, "print all that the agent says and what its tools answer")
	fs.BoolVar(&f.headless, "headless", false, "print plain lines only, as without a terminal")
	fs.StringVar(&f.output, "output", "text", "`text`, or json: one event a line on stdout")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show prompt, command line and plan; call nothing, write nothing")
	return cmd
}

// setup is everything that is known before a run takes the lock.
type setup struct {
	dir, prompt, plan string
	cfg               *config.Config
	agent             runner.Agent // the one that the options name
}

func (a *app) run(f *runFlags) error {
	if f.output != "text" && f.output != "json" {
		return usageError("--output %q is not allowed: text or json", f.output)
	}
	s, err := a.prepare(f)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.dryRun(s)
	}
	if err := s.startable(); err != nil {
		return err
	}
	if f.monitor {
		handled, err := a.runInTmux(s, f)
		if handled || err != nil {
			return err
		}
	}
	return a.loop(s, f)
}

// startable checks what a start needs besides the configuration.
func (s *setup) startable() error {
	for _, name := range append([]string{s.cfg.Agent}, s.cfg.FallbackAgents...) {
		one, err := s.find(name)
		if err == nil {
			err = installed(one)
		}
		if err != nil {
			return err
		}
	}
	return fit(s.dir)
}

// prepare reads the configuration and everything that it names.
func (a *app) prepare(f *runFlags) (*setup, error) {
	dir, err := a.project()
	if err != nil {
		return nil, err
	}
	loader := a.loader(dir, f.options)
	cfg, warnings, err := loader.Load()
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		a.warn(w)
	}
	if err := a.askTrust(loader); err != nil {
		return nil, err
	}
	if f.once {
		cfg.MaxIterations = 1
	}
	s := &setup{dir: dir, cfg: cfg}
	if s.prompt, err = findPrompt(dir, cfg.PromptFile); err != nil {
		return nil, err
	}
	if s.plan, err = findPlan(dir, cfg); err != nil {
		return nil, err
	}
	if list, err := task.Load(s.plan, cfg.OptionalSections); err == nil {
		for _, line := range oddBoxes(list) {
			a.warn(line)
		}
	}
	return s, s.findAgents()
}

// oddBoxes names the lines that a person may take for tasks and ralph does not.
func oddBoxes(list task.List) []string {
	var lines []string
	for _, n := range list.Odd {
		lines = append(lines, fmt.Sprintf("%s:%d looks like a box and is none; write: - [ ] what to do", list.Path, n))
	}
	return lines
}

func (a *app) loader(dir string, flags map[string]string) config.Loader {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	return config.Loader{Dir: dir, Cwd: here, Env: a.env, Home: home, Flags: flags}
}

func findPrompt(dir, given string) (string, error) {
	names := []string{filepath.Join(state.DirName, "PROMPT.md"), "PROMPT.md", "prompt.md"}
	if given != "" {
		names = []string{given}
	}
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular() && info.Size() > 0:
			return path, nil
		case err == nil:
			return "", usageError("the prompt %q is empty or not a file", name)
		case !errors.Is(err, fs.ErrNotExist):
			return "", usageError("the prompt %q is unreadable: %v", name, err)
		}
	}
	if given != "" {
		return "", usageError("the prompt %q does not exist", given)
	}
	return "", usageError("no prompt in %q: none of .ralph/PROMPT.md, PROMPT.md, prompt.md; write one with: ralph init", dir)
}

func findPlan(dir string, cfg *config.Config) (string, error) {
	path := cfg.PlanFile
	switch {
	case path == "":
		found, ok := task.Find(dir)
		if !ok {
			return "", nil
		}
		path = found
	case !filepath.IsAbs(path):
		path = filepath.Join(dir, path)
	}
	if _, err := task.Load(path, cfg.OptionalSections); errors.Is(err, fs.ErrNotExist) {
		return "", usageError("the plan %q does not exist", cfg.PlanFile)
	} else if err != nil {
		return "", usageError("the plan cannot be used: %v", err)
	}
	return path, nil
}

// fit refuses a repository in which the agent's commits would go astray.
func fit(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := git.Inspect(ctx, dir)
	if err != nil {
		return usageError("the repository cannot be used: %v", err)
	}
	if err := git.Fit(c); err != nil {
		return usageError("%v", err)
	}
	return nil
}

// forget removes the oldest ways back. What cannot be removed is in the way of
// nothing.
func (a *app) forget(dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, ok := git.Root(dir); !ok {
		return
	}
	if _, err := history.Prune(ctx, dir, keptAge, keptCount); err != nil {
		a.warn(err)
	}
}

// start is what a run is resumed with: the flags that were given, and as
// KEY=value the options that came from the environment, which may be another
// one then.
func (f *runFlags) start(cfg *config.Config) []string {
	words := cfg.Flags()
	if f.once {
		words = append(words, "--max-iterations=1")
	}
	for _, o := range config.Table() {
		if cfg.Source(o.Key).Kind == config.SourceEnvironment {
			words = append(words, o.Key+"="+cfg.Value(o.Key))
		}
	}
	return words
}

// loop takes the lock and runs.
func (a *app) loop(s *setup, f *runFlags) error {
	now := time.Now()
	run := f.resumed
	if run == "" {
		run = now.Format("20060102-150405") + fmt.Sprintf("-%04x", os.Getpid()&0xffff)
	}
	w, aside, err := state.Acquire(filepath.Join(s.dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: run, StartedAt: now})
	if err != nil {
		return err
	}
	defer w.Release()
	for _, e := range aside {
		a.warn(e)
	}
	a.forget(s.dir)
	flags := f.start(s.cfg)
	begun := a.keep(w.Reader, config.KeptRun{Run: run, Flags: flags})
	if err := w.SaveRunFlags(run, flags); err != nil {
		return err
	}
	file, err := logs.OpenFile(w.LogPath(), 10, 4)
	if err != nil {
		return err
	}
	defer file.Close()
	sig := handleSignals(a.in)
	defer sig.stop()
	rows, detected := a.checks(s.dir, s.cfg)
	con := a.console(f, s)
	con.start(s, run, rows)
	log := logs.NewLogger(flushing{file}, s.cfg.Verbose)
	if held := a.heldBack(s); held != "" {
		con.print("ralph: environment: %s", held)
		log.Info("environment", logs.KeyRun, run, "held", held)
	}
	s.cfg.TestMode = string(mode(s.cfg, detected))
	result, err := runner.New(s.cfg.Options, runner.Deps{
		Dir: s.dir, RunID: run, Resumed: f.resumed != "", Unattended: f.unattended, Agents: s.find, Env: a.env, Filter: s.cfg.EnvFilter(), Checks: rows, Mode: gate.Mode(s.cfg.TestMode), Detect: laterChecks(s.dir, s.cfg, rows),
		State: w, Log: log, Prompt: s.prompt, Plan: s.plan,
		Show: func(e state.Event) { begun(e); con.show(e) }, Tick: con.tick, Size: sig.size, Resize: sig.resize, Kill: sig.kill,
	}).Run(sig.ctx)
	con.end(result)
	if s.cfg.Notify {
		a.notify(result)
	}
	if err != nil {
		return err
	}
	if result.Decision.Exit == rules.ExitComplete {
		return nil
	}
	return &exitError{code: result.Decision.Exit}
}

// flushing writes each line of ralph's own log at once: it is rare, and it is
// what remains after a crash.
type flushing struct{ *logs.File }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, errors.Join(err, f.Flush())
}

// notify tells the desktop, or rings the bell; nothing of it can fail the run.
func (a *app) notify(r runner.Result) {
	title := "ralph: " + r.Decision.Status
	if path, err := exec.LookPath("notify-send"); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if exec.CommandContext(ctx, path, "--app-name=ralph", "--", title, r.Decision.Reason).Run() == nil {
			return
		}
	}
	fmt.Fprint(a.err, "\a")
}
