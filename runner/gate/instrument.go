package gate

import (
	"fmt"
	"os"
	"path/filepath"
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

// jestOptions returns the arguments that make jest write a JSON file.
func jestOptions(file string) string { return "--json --outputFile=" + file }

// vitestOptions returns the arguments that make vitest write a JSON file.
func vitestOptions(file string) string {
	return "--reporter=default --reporter=json --outputFile.json=" + file
}

// goJSON adds -json to a go test.
func goJSON(c toolCall) (string, bool) {
	if len(c.Words) < 2 || c.Words[0] != "go" || c.Words[1] != "test" ||
		c.HasAny("-json", "-c", "-o", "-list", "-n", "-h", "-help", "--help", "-fuzz", "-exec") {
		return "", false
	}
	return c.After(1, "-json"), true
}

// jestJSON makes a call of jest or vitest also write a JSON file. It follows
// scripts of package.json.
func jestJSON(c toolCall, file, dir string) (string, bool) {
	if word, arg := jestArgs(c, file); arg != "" {
		return c.After(word, arg), true
	}
	if len(c.Words) < 2 || len(c.Words) > 3 || !slices.Contains([]string{"npm", "pnpm", "yarn"}, c.Words[0]) {
		return "", false
	}
	script := c.Words[len(c.Words)-1]
	switch {
	case len(c.Words) == 3 && c.Words[1] == "run", script == "test" && len(c.Words) == 2:
	case script == "t" && len(c.Words) == 2:
		script = "test"
	default:
		return "", false
	}
	_, arg := jestArgs(parseCall(packageScript(dir, script)), file)
	if arg == "" {
		return "", false
	}
	if c.Words[0] == "npm" {
		arg = "-- " + arg
	}
	return c.After(len(c.Words)-1, arg), true
}

// jestArgs returns the arguments to insert, and the index of the word before
// them; "" means none.
func jestArgs(c toolCall, file string) (int, string) {
	for i, word := range c.Words[:min(len(c.Words), 3)] {
		if i > 0 && !slices.Contains([]string{"npx", "pnpm", "exec", "yarn", "bunx"}, c.Words[i-1]) {
			break
		}
		switch filepath.Base(word) {
		case "jest":
			if c.HasAny("--json", "--outputFile", "--watch", "--watchAll", "--listTests") {
				return 0, ""
			}
			return i, jestOptions("'" + file + "'")
		case "vitest":
			if c.HasAny("--reporter", "--outputFile", "watch", "--watch", "-w", "list", "bench", "dev", "related") {
				return 0, ""
			}
			if i+1 < len(c.Words) && c.Words[i+1] == "run" {
				i++
			}
			return i, vitestOptions("'" + file + "'")
		}
	}
	return 0, ""
}
