// Package cli has the table of ralph's verbs, and a file for each. It turns errors into exit codes.
package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/console"
	"ralph/cmd/internal/demo"
	"ralph/state"
)

// rootName is the name of the command that has the verbs.
const rootName = "ralph"

// calledAs returns the name by which ralph was called, and its command line. For ralph-status
// and ralph-monitor, that begins with the verb. Any other name counts as ralph.
func calledAs(argv []string) (program string, args []string) {
	if len(argv) == 0 {
		return rootName, nil
	}
	name, args := filepath.Base(argv[0]), argv[1:]
	if slices.Contains(cmdline.Links(), name) {
		return name, append([]string{strings.TrimPrefix(name, rootName+"-")}, args...)
	}
	return rootName, args
}

// Main runs one command line, with the program's name before it, and returns the exit code.
func Main(argv []string) int {
	program, args := calledAs(argv)
	tellOuter, watched := console.Reporter()
	f := cmdline.New()
	f.Program, f.Watched = program, watched
	if len(args) > 0 && args[0] == demoAgentVerb {
		return demo.Agent(args[1:], f.In, f.Out, f.Err)
	}
	text, code := execute(f, args)
	if text != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", program, text)
		tellOuter(text)
	}
	return code
}

// execute runs one command line. It returns an error as one line, empty if the
// verb has printed everything itself, and the exit code.
func execute(f *cmdline.Factory, args []string) (text string, code int) {
	if slices.Equal(args, []string{"--version"}) { // without making the other verbs
		args = []string{"version"}
	}
	own := *f
	own.Verb = verbOf(args)
	root, started := newRootCmd(&own)
	root.SetArgs(cmdline.Texts(cmdline.Join(args)))
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	err := root.Execute()
	if err == nil && !*started { // of ralph NAME --help
		err = root.ValidateArgs(root.Flags().Args())
	}
	if err == nil {
		return "", state.ExitComplete
	}
	if code = cmdline.ExitCode(err); !*started { // the command line itself is wrong
		code = state.ExitUsage
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }) // of joined errors
	text = cmdline.Inert(strings.Join(slices.CompactFunc(lines, cmdline.SameTrouble), "; "))
	if text != "" && cmdline.WantsJSON(args) {
		cmdline.WriteStartError(f.Out, text, code)
	}
	return text, code
}
