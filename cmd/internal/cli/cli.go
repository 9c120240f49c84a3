// Package cli is ralph's command line: it groups the verbs and turns errors into
// exit codes. Each verb has a file; large ones have a package.
package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/demo"
	"ralph/cmd/internal/split"
	"ralph/logs/termtext"
	"ralph/runner/rules"
)

// Version is set by the release build. Empty: the version that Go stamps, which
// names the commit.
var Version = ""

// Main runs one command line and returns the exit code.
func Main(program string, args []string) int {
	tellOuter := split.Reporter()
	f := cmdline.New()
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

// execute runs one command line. text is the error as one line, empty if the verb
// has printed everything itself.
func execute(f *cmdline.Factory, args []string) (text string, code int) {
	root, started := newRootCmd(f)
	root.SetArgs(args)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	err := root.Execute()
	if err == nil {
		return "", rules.ExitComplete
	}
	if code = cmdline.ExitCode(err); !*started {
		code = rules.ExitUsage
	}
	return termtext.Clean(err.Error()), code
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); Version == "" && ok {
		return strings.Trim(info.Main.Version, "()")
	}
	return Version
}
