package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"ralph/runner/agent"
	"ralph/runner/agent/argv"
	"ralph/runner/rules"
)

// verb runs a verb with its arguments on a terminal on which the text is typed.
func (w *initWorld) verb(cmd *cobra.Command, typed string, args ...string) error {
	w.t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		w.t.Fatal(err)
	}
	defer ptmx.Close()
	defer tty.Close()
	go func() { _, _ = io.Copy(io.Discard, ptmx) }() // the echo
	if _, err := ptmx.WriteString(typed); err != nil {
		w.t.Fatal(err)
	}
	w.in = tty
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.Execute()
}

// program puts an executable into the project, which no test starts.
func (w *initWorld) program(name string) {
	w.t.Helper()
	w.write(name, "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(w.dir, name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func TestAgentAdd_dialogue_writesTheRowAndTrustsIt(t *testing.T) {
	w := newInitWorld(t, map[string]string{".ralph/config.yaml": "# keep\nlimits: {iterations: 3}\n"})
	w.program("mine.sh")
	const typed = "codex\nmy agent\nmine\n" + // two names that cannot be
		"no-such-program\n./mine.sh 'a\n./mine.sh --file {prompt_file}\n" +
		"stdin\n\n" + // {prompt_file} needs file, which is proposed
		"xml\nclaude-stream-json\n"
	if err := w.verb(w.agentAddCommand(), typed); err != nil {
		t.Fatalf("%v\n%s", err, &w.err)
	}
	want := "# keep\nlimits: {iterations: 3}\n\nagents:\n  mine:\n    command: \"./mine.sh --file {prompt_file}\"\n    prompt: file\n    format: claude-stream-json\n"
	if got := w.read(".ralph/config.yaml"); got != want {
		t.Errorf("wrote\n%s", got)
	}
	s, err := w.load().Spec("mine")
	if err != nil || s.PromptBy != argv.PromptFile || s.Format != agent.FormatClaude {
		t.Errorf("%+v, %v", s, err)
	}
	if u, err := w.loader(w.dir, nil).Untrusted(); u != nil || err != nil {
		t.Errorf("not trusted: %+v, %v", u, err)
	}
	said := w.err.String()
	for _, text := range []string{
		`name "codex" is that of a built-in agent`, `name "my agent" is not allowed`, `"no-such-program": executable file not found`,
		"is not a plain command line", "which needs prompt: file", "It prints (claude-stream-json, codex-json", `format "xml" is not one of`,
	} {
		if !strings.Contains(said, text) {
			t.Errorf("it never said %q:\n%s", text, said)
		}
	}
}

func TestAgentAdd_flags_areWhatEnterMeans(t *testing.T) {
	w := newInitWorld(t, nil)
	w.program("mine.sh")
	if err := w.verb(w.agentAddCommand(), "\n./mine.sh\n\n\n", "--name", "mine", "--format", "codex-json"); err != nil {
		t.Fatalf("%v\n%s", err, &w.err)
	}
	if got, want := w.read(".ralph/config.yaml"), "agents:\n  mine:\n    command: \"./mine.sh\"\n    prompt: stdin\n    format: codex-json\n"; got != want {
		t.Errorf("wrote\n%s", got)
	}
}

func TestAgentAdd_endedEarly_writesNothing(t *testing.T) {
	for _, typed := range []string{"\x04", "mine\n\x04", "mine\n./mine.sh\n\x04"} {
		w := newInitWorld(t, nil)
		w.program("mine.sh")
		err := w.verb(w.agentAddCommand(), typed)
		exit := (*exitError)(nil)
		if !errors.As(err, &exit) || exit.code != rules.ExitInterrupted {
			t.Errorf("%q: %v", typed, err)
		}
		if _, err := os.Stat(filepath.Join(w.dir, ".ralph")); err == nil {
			t.Errorf("%q: something was written", typed)
		}
	}
}

func TestAgentTest_onATerminal_makesNoCallWithoutAYes(t *testing.T) {
	for _, typed := range []string{"\n", "n\n", "yeah\n", "\x04"} {
		w := newInitWorld(t, map[string]string{".ralphrc": "AGENT=text\n"})
		w.program("mine.sh")
		w.env = append(w.env, "AGENT_CMD="+filepath.Join(w.dir, "mine.sh"))
		err := w.verb(w.agentTestCommand(), typed)
		if err == nil || err.Error() != "no call was made" {
			t.Errorf("%q: %v", typed, err)
		}
		if !strings.Contains(w.out.String(), "asks text once") || !strings.Contains(w.out.String(), "costs one call") {
			t.Errorf("it did not say what it costs: %s", &w.out)
		}
	}
}
