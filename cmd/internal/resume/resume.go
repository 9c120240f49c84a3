// Package resume records how a run was started and decides whether and how the last run
// can be resumed.
package resume

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ralph/cmd/internal/cmdline"
	"ralph/config"
	"ralph/logs/termtext"
	"ralph/runner/rules"
	"ralph/state"
)

// Run is how a run was started.
type Run struct {
	ID       string
	Options  map[string]string // value of each flag by the option's key
	Settings []string          // KEY=value: options that came from the environment
}

// Words returns what is recorded of a run: its flags, and as KEY=value the options from
// the environment, which may differ at the time of the resume.
func Words(cfg *config.Config, once bool) []string {
	words := cfg.Flags()
	if once {
		words = append(words, "--max-iterations=1")
	}
	for _, o := range config.Table() {
		if cfg.Source(o.Key).Kind == config.SourceEnvironment {
			words = append(words, o.Key+"="+cfg.Value(o.Key))
		}
	}
	return words
}

// Settings returns the KEY=value words.
func Settings(words []string) []string {
	_, settings := split(words)
	return settings
}

func split(words []string) (flags, settings []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			flags = append(flags, w)
		} else {
			settings = append(settings, w)
		}
	}
	return flags, settings
}

// SetEnv returns env with these settings added or replaced.
func SetEnv(env, settings []string) []string {
	env = slices.Clone(env)
	for _, s := range settings {
		name, _, _ := strings.Cut(s, "=")
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		env = append(env, s)
	}
	return env
}

// Finished says in one line why a run without a runner must not resume by itself. It is
// empty for an interrupted run: the runner was killed, or got SIGTERM or SIGHUP, and
// nobody had asked it to pause or stop.
func Finished(s state.Status) string {
	killed := s.Status == state.StatusRunning || s.Status == state.StatusWaiting
	asked := s.Pending
	if s.Status == state.StatusPaused {
		asked = state.RequestPause
	}
	why := ""
	switch {
	case s.RunID == "":
		why = "no run was started here"
	case s.Status == state.StatusCompleted:
		why = fmt.Sprintf("run %s is complete: %s", s.RunID, s.Reason)
	case asked != "":
		why = fmt.Sprintf("run %s was asked to %s; continue it with: ralph resume", s.RunID, asked)
	case killed || s.Status == state.StatusStopped && s.ExitCode == rules.ExitTerminated:
		return ""
	default:
		why = fmt.Sprintf("run %s is %s: %s (exit code %d); continue it with: ralph resume",
			s.RunID, s.Status, s.Reason, s.ExitCode)
	}
	return termtext.Line(why)
}

// Find returns how a run was started. An agent can write to the recorded flags, so they
// count only if this user started the run with exactly these flags.
func Find(loader config.Loader, r *state.Reader, run string) (Run, error) {
	words, err := r.RunFlags(run)
	var corrupt *state.CorruptError
	if err != nil && !errors.As(err, &corrupt) {
		return Run{}, err
	}
	known, err := loader.KeptRuns()
	if err != nil {
		return Run{}, err
	}
	last := slices.IndexFunc(known, func(k config.KeptRun) bool { return k.Run == run })
	switch {
	case len(known) == 0:
		return Run{}, cmdline.UsageError("run %s cannot be resumed: you did not start it in this folder, or too long ago; "+
			"start a new one with: ralph", run)
	case last < 0:
		return Run{}, cmdline.UsageError("run %s, which .ralph/status.json names, is not the last one that you "+
			"started here, which is %s; start a new one with: %s", run, known[0].Run, commandLine(known[0]))
	case corrupt != nil || started(known, run, words) == nil:
		return Run{}, cmdline.UsageError("the flags of run %s were changed since you started it: "+
			".ralph/logs/%[1]s/flags.json has %.200s; start a new one with yours: %s",
			run, termtext.Line(cmdline.Quote(words...)), commandLine(known[last]))
	}
	flags, settings := split(words)
	options, err := cmdline.ParseOptions(flags)
	if err != nil {
		return Run{}, cmdline.UsageError("the flags of run %s cannot be used again: %v", run, err)
	}
	return Run{ID: run, Options: options, Settings: settings}, nil
}

// started returns the run if it was started with exactly these words, else nil.
func started(known []config.KeptRun, run string, words []string) *config.KeptRun {
	for i, k := range known {
		if k.Run == run && slices.Equal(k.Flags, words) {
			return &known[i]
		}
	}
	return nil
}

// commandLine returns the command that starts such a run.
func commandLine(k config.KeptRun) string {
	flags, settings := split(k.Flags)
	return cmdline.Quote(slices.Concat(settings, []string{"ralph"}, flags)...)
}

// Record records how a run is started. The previous run stays resumable until status.json
// names this one, which happens before the first event after run_start: pass every
// event to the returned function.
func Record(f *cmdline.Factory, r *state.Reader, run config.KeptRun) func(state.Event) {
	loader := f.Loader(filepath.Dir(r.Dir()), nil)
	record := func(runs ...config.KeptRun) {
		if err := loader.KeepRuns(runs...); err != nil {
			f.Warn(fmt.Errorf("this run cannot be resumed: %w", err))
		}
	}
	runs := []config.KeptRun{run}
	known, _ := loader.KeptRuns() // without a record nothing can be resumed
	last, _ := r.Status()
	words, _ := r.RunFlags(last.RunID)
	if before := started(known, last.RunID, words); before != nil {
		runs = append(runs, *before)
	}
	record(runs...)
	named := sync.OnceFunc(func() { record(run) })
	return func(e state.Event) {
		if e.Kind != state.KindRunStart {
			named()
		}
	}
}
