package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/internal/world"
	"ralph/runner/agent"
	"ralph/state"
)

// agentWorld is a project, a factory for it, and its own home.
type agentWorld struct {
	*cmdline.Factory
	t        *testing.T
	out, err bytes.Buffer
}

func newWorld(t *testing.T, files map[string]string) *agentWorld {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	w := &agentWorld{t: t}
	w.Factory = &cmdline.Factory{Out: &w.out, Err: &w.err, Env: []string{"HOME=" + home}, Dir: t.TempDir()}
	for name, text := range files {
		w.write(name, text, 0o644)
	}
	return w
}

func (w *agentWorld) write(name, text string, mode os.FileMode) {
	w.t.Helper()
	path := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *agentWorld) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// verb runs a verb with its arguments on a terminal on which the text is typed.
func (w *agentWorld) verb(newCmd func(*cmdline.Factory) *cobra.Command, typed string, args ...string) error {
	w.t.Helper()
	w.In = world.Typed(w.t, typed)
	cmd := newCmd(w.Factory)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.Execute()
}

// program puts an executable into the project, which no test starts.
func (w *agentWorld) program(name string) {
	w.t.Helper()
	w.write(name, "#!/bin/sh\n", 0o755)
}

func TestAgentAdd_dialogue_writesTheRowAndTrustsIt(t *testing.T) {
	w := newWorld(t, map[string]string{".ralph/config.yaml": "# keep\nlimits: {iterations: 3}\n"})
	w.program("mine.sh")
	const typed = "codex\nmy agent\nmine\n" + // two names that cannot be
		"no-such-program\n./mine.sh 'a\n./mine.sh --file {prompt_file}\n" +
		"xml\nclaude-stream-json\n" +
		"--version\nlist 'a\nlist models\n"
	if err := w.verb(newAddCmd, typed); err != nil {
		t.Fatalf("%v\n%s", err, &w.err)
	}
	want := "# keep\nlimits: {iterations: 3}\n\nagents:\n  mine:\n    command: \"./mine.sh --file {prompt_file}\"\n    prompt: \"file\"\n    format: \"claude-stream-json\"\n" +
		"    version: \"--version\"\n    models: \"list models\"\n"
	if got := w.read(".ralph/config.yaml"); got != want {
		t.Errorf("wrote\n%s", got)
	}
	cfg, _, err := w.Loader(w.Dir, nil).Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := cfg.Spec("mine")
	if strings.Join(s.ModelsArgs, " ") != "list models" {
		t.Errorf("%q", s.ModelsArgs)
	}
	if err != nil || s.PromptBy != agent.PromptFile || s.Format != agent.FormatClaude {
		t.Errorf("%+v, %v", s, err)
	}
	if u, err := w.Loader(w.Dir, nil).Untrusted(); u != nil || err != nil {
		t.Errorf("not trusted: %+v, %v", u, err)
	}
	said := w.err.String()
	for _, text := range []string{
		`name "codex" is that of a built-in agent`, `name "my agent" is not allowed`, `"no-such-program" is not an executable on PATH`,
		"is not a plain command line", "What it prints: claude-stream-json, codex-json", `format "xml" is not one of`,
	} {
		if !strings.Contains(said, text) {
			t.Errorf("it never said %q:\n%s", text, said)
		}
	}
}

func TestAgentAdd_flags_areWhatEnterMeans(t *testing.T) {
	w := newWorld(t, nil)
	w.program("mine.sh")
	if err := w.verb(newAddCmd, "\n./mine.sh\n\n\n\n", "--name", "mine", "--format", "codex-json"); err != nil {
		t.Fatalf("%v\n%s", err, &w.err)
	}
	if got, want := w.read(".ralph/config.yaml"), "agents:\n  mine:\n    command: \"./mine.sh\"\n    prompt: \"stdin\"\n    format: \"codex-json\"\n"; got != want {
		t.Errorf("wrote\n%s", got)
	}
}

func TestAgentAdd_endedEarly_writesNothing(t *testing.T) {
	for _, typed := range []string{"\x04", "mine\n\x04", "mine\n./mine.sh\n\x04"} {
		w := newWorld(t, nil)
		w.program("mine.sh")
		err := w.verb(newAddCmd, typed)
		exit := (*cmdline.ExitError)(nil)
		if !errors.As(err, &exit) || exit.Code != state.ExitInterrupted {
			t.Errorf("%q: %v", typed, err)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, ".ralph")); err == nil {
			t.Errorf("%q: something was written", typed)
		}
	}
}

func trust(t *testing.T, w *agentWorld, all []config.Untrusted) {
	t.Helper()
	if all == nil {
		t.Fatal("nothing to trust")
	}
	for _, u := range all {
		if err := w.Loader(w.Dir, nil).Trust(u); err != nil {
			t.Fatal(err)
		}
	}
}
