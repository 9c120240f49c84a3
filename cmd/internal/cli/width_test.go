package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
	"ralph/logs/termtext"
)

// onTerminal returns what a verb prints on a terminal of so many columns, and its error.
func onTerminal(t *testing.T, dir string, width int, argv ...string) (text string, err error) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	if _, err := master.WriteString("y\n"); err != nil { // to what a verb may ask
		t.Fatal(err)
	}
	read := make(chan string)
	go func() { // ends with an error when nobody has the terminal open
		data, _ := io.ReadAll(master)
		read <- string(data)
	}()
	root, _ := newRootCmd(&cmdline.Factory{In: tty, Out: tty, Err: tty, Env: os.Environ()})
	root.SetArgs(append([]string{"--dir=" + dir}, argv...))
	root.SetOut(tty)
	root.SetErr(tty)
	root.SilenceErrors, root.SilenceUsage = true, true
	err = root.Execute()
	_ = tty.Close()
	return strings.ReplaceAll(<-read, "[y/N] ", "[y/N]\n"), err // where a person has pressed Enter
}

// shown are the lines that a verb prints on a terminal of so many columns.
func shown(t *testing.T, dir string, width int, argv ...string) (lines []string) {
	t.Helper()
	text, err := onTerminal(t, dir, width, argv...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if lines = append(lines, line); termtext.Width(line) > width {
			t.Errorf("%q at %d columns: %q has %d", argv, width, line, termtext.Width(line))
		}
	}
	return lines
}

func TestTables_onATerminal_fitItsWidthAndArePipedWhole(t *testing.T) {
	w := newPastWorld(t)
	for verb, heads := range map[string][3]string{
		"runs": {"RUN TOOK RESULT TASKS ITERATIONS", "RUN STARTED TOOK RESULT TASKS ITERATIONS COST",
			"RUN STARTED TOOK RESULT TASKS ITERATIONS COST EXIT"},
		"iterations": {"N TASK ENDED CHECKS OUTCOME", "N TASK ENDED CHECKS FOUND COST OUTCOME",
			"N TASK ENDED CHECKS FOUND FILES COST STATE OUTCOME"},
	} {
		for i, width := range []int{60, 80, 200} {
			all := strings.Join(shown(t, w.Dir, width, verb), "\n")
			fields := strings.Join(strings.Fields(all), " ")
			if !strings.Contains(fields+" ", heads[i]+" ") || width < 200 && strings.Contains(fields, heads[i+1]+" ") {
				t.Errorf("%d columns:\n%s\nwant the columns %s", width, all, heads[i])
			}
		}
		if _, out := w.do(verb); !strings.Contains(strings.Join(strings.Fields(out), " "), heads[2]) {
			t.Errorf("in a pipe:\n%s", out)
		}
	}
}

func TestTrust_onATerminal_wrapsWhatItShowsAtBlanks(t *testing.T) {
	otherHome(t)
	command := strings.TrimSpace(strings.Repeat("make some-target ", 9))
	dir := world.Project(t, map[string]string{".ralphrc": "TEST_COMMAND='" + command + "'\n"})
	lines := shown(t, dir, 60, "trust")
	text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	for _, want := range []string{"this project needs your consent: what follows decides which programs ralph runs, what the agent may do,", command} {
		if !strings.Contains(text, want) {
			t.Errorf("a word is broken:\n%s", strings.Join(lines, "\n"))
		}
	}
}

func TestRun_nothingIsSetUp_saysWhatToType(t *testing.T) {
	text, err := onTerminal(t, t.TempDir(), 80)
	if err == nil || !strings.Contains(text, "ralph demo ") || !strings.Contains(text, "ralph init ") {
		t.Errorf("%v\n%s", err, text)
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/.ralphrc", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err = onTerminal(t, dir, 80); err == nil || strings.Contains(text, "ralph demo") {
		t.Errorf("with settings: %v\n%s", err, text)
	}
}

func TestHelp_onATerminal_fitsItsWidth(t *testing.T) {
	shown(t, t.TempDir(), 80, "--help")
}
