package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/state"
)

// starting holds the lock of a new project, and collects the warnings.
func starting(t *testing.T) (*cmdline.Factory, *state.Writer, *strings.Builder) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	dir := t.TempDir()
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Release() })
	said := &strings.Builder{}
	return &cmdline.Factory{Err: said, Dir: dir, Env: os.Environ()}, w, said
}

// A start that is killed before status.json names it leaves the run before to
// go on with, however often; once it is named, no earlier one is.
func TestRecord_startsThatAreKilledEarly_leaveTheRunBeforeResumable(t *testing.T) {
	f, w, said := starting(t)
	begin := func(run string) func(state.Event) {
		t.Helper()
		begun, _ := RecordStart(f, w.Reader, config.KeptRun{Run: run})
		return begun
	}
	name := func(run string, named func(state.Event)) {
		t.Helper()
		if err := w.SaveStatus(state.Status{RunID: run}); err != nil {
			t.Fatal(err)
		}
		named(state.Event{Kind: state.KindIterationStart})
	}
	resumable := func(run string, want bool) {
		t.Helper()
		if _, err := FindRun(f.Loader(f.Dir, nil), run); (err == nil) != want {
			t.Errorf("run %s: %v, want it resumable: %v", run, err, want)
		}
	}
	name("a", begin("a"))
	resumable("a", true)
	begin("b")
	resumable("a", true)
	named := begin("c")
	named(state.Event{Kind: state.KindRunStart})
	resumable("a", true)
	name("c", named)
	resumable("c", true)
	resumable("a", false)
	resumable("b", false)
	// An agent names the earlier run, and the next start is killed early.
	if err := w.SaveStatus(state.Status{RunID: "a"}); err != nil {
		t.Fatal(err)
	}
	begin("d")
	resumable("a", false)
	if said.Len() > 0 {
		t.Error(said.String())
	}
}

// A variable that was exported since the start counts, also under its other name.
func TestSetEnv_exportedSinceTheStart_countsMoreThanTheRecord(t *testing.T) {
	recorded := []string{"CLAUDE_CODE_CMD=old", "AGENT=text", "MODEL=m"}
	got := SetEnv([]string{"HOME=/h", "AGENT_CMD=new", "AGENT=", "MODEL=other"}, recorded)
	cfg, warnings, err := config.Loader{Dir: t.TempDir(), Env: got}.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if cfg.AgentCmd != "new" || cfg.Agent != "text" || cfg.Model != "other" {
		t.Errorf("command %q, agent %q, model %q of %q", cfg.AgentCmd, cfg.Agent, cfg.Model, got)
	}
}

func TestFind_anotherRun_isRefused(t *testing.T) {
	f, w, _ := starting(t)
	started := config.Loader{Dir: f.Dir, Env: []string{"MODEL=a@b"}, Flags: map[string]string{"FLEET": "nats://ann:horse@h:1,ann:horse@i:2"}}
	cfg, _, err := started.Load()
	if err != nil {
		t.Fatal(err)
	}
	RecordStart(f, w.Reader, cfg.Kept("a"))
	run, err := FindRun(f.Loader(f.Dir, nil), "a")
	if err != nil || run.Flags["FLEET"] != started.Flags["FLEET"] || !slices.Equal(run.Env, started.Env) {
		t.Errorf("%+v, %v", run, err)
	}
	_, err = FindRun(f.Loader(f.Dir, nil), "b")
	if err == nil || !strings.Contains(err.Error(), "is not the last one that you started here, which is a") {
		t.Errorf("another run: %v", err)
	}
}
