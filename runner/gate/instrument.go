package gate

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// withPytest returns an environment in which every pytest of the command writes a report. Only the xunit1
// family names the files of tests.
func withPytest(env []string, file string) []string {
	const name = "PYTEST_ADDOPTS"
	if env == nil {
		env = os.Environ()
	}
	options := fmt.Sprintf("--junitxml='%s' -o junit_family=xunit1", file)
	for _, e := range env {
		if given, ok := strings.CutPrefix(e, name+"="); ok && given != "" {
			options = given + " " + options
		}
	}
	return append(slices.Clone(env), name+"="+options)
}

// goVerbose makes a go test name the tests that pass, with marks before its own lines.
func goVerbose(c toolCall) (string, bool) {
	if len(c.Words) < 2 || c.Words[0] != "go" || c.Words[1] != "test" ||
		c.HasAny("-v", "-json", "-c", "-o", "-list", "-n", "-h", "-help", "--help", "-fuzz", "-exec") {
		return "", false
	}
	return c.After(1, "-v=test2json"), true
}
