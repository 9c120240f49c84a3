package gate

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/ptyexec"
)

// withPytest returns an environment in which every pytest of the command writes a report. Only the xunit1
// family names the files of tests.
func withPytest(env []string, file string) []string {
	const name = "PYTEST_ADDOPTS"
	if env == nil {
		env = os.Environ()
	}
	options := fmt.Sprintf("--junitxml='%s' -o junit_family=xunit1", file)
	if given := ptyexec.Getenv(env, name); given != "" {
		options = given + " " + options
	}
	return append(slices.Clone(env), name+"="+options)
}

// goVerbose makes a go test name the tests that pass, with marks before its own lines. It changes only a command that is one
// plain call of go test.
func goVerbose(command string) string {
	call, ok := plainCall(command)
	if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "go" || call.Args[1].Lit() != "test" {
		return command
	}
	for _, w := range call.Args[2:] {
		option, _, _ := strings.Cut(w.Lit(), "=")
		if option == "-json" { // its events have no reader here
			return command[:w.Pos().Offset()] + "-v=test2json" + command[w.End().Offset():]
		}
		if slices.Contains([]string{"-v", "-c", "-o", "-list", "-n", "-h", "-help", "--help", "-fuzz", "-exec"}, option) {
			return command
		}
	}
	at := call.Args[1].End().Offset()
	return command[:at] + " -v=test2json" + command[at:]
}

// plainCall returns the only call of a command; false if the command is more than one, or no plain one.
func plainCall(command string) (*syntax.CallExpr, bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	return call, ok && !s.Negated && !s.Background && len(s.Redirs) == 0
}
