package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// analyst is an agent that answers as it was asked.
const analyst = `#!/bin/sh
nonce=$(sed -n 's/.*{"nonce": "\([^"]*\)".*/\1/p')
touch written-by-the-analyst
echo "{\"nonce\": \"$nonce\", \"type\": \"shop\", \"test\": {\"ready\": true, \"command\": \"test -f go.mod\", \"reason\": \"r\"}, \"build\": {\"ready\": true, \"command\": \"exit 1\", \"reason\": \"r\"}, \"lint\": {\"ready\": false, \"command\": \"\", \"reason\": \"no linter yet\"}}"
`

func TestInit_ai_whatIsAcceptedBecomesAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a terminal")
	}
	for name, c := range map[string]struct {
		typed, test, build string
	}{
		"one is accepted":    {"\ny\n\n\n\n\n\n\n\n", "test -f go.mod", ""},
		"Enter accepts none": {"\n\n\n\n\n\n\n\n\n", "", ""},
		"the other one is":   {"y\nn\n\n\n\n\n\n\n\n", "", "exit 1"},
	} {
		t.Run(name, func(t *testing.T) {
			files := goProject()
			files["package.json"] = "{}"
			w := newInitWorld(t, files)
			program := filepath.Join(t.TempDir(), "analyst")
			if err := os.WriteFile(program, []byte(analyst), 0o755); err != nil {
				t.Fatal(err)
			}
			w.Env = append(w.Env, "AGENT=text", "AGENT_CMD="+program, "PATH="+os.Getenv("PATH"))
			if err := w.typed(c.typed, initOptions{ai: true}); err != nil {
				t.Fatal(err)
			}
			rc := w.read(".ralphrc")
			if c.test != "" && !strings.Contains(rc, "\nTEST_COMMAND=\""+c.test+"\"") || c.test == "" && strings.Contains(rc, "TEST_COMMAND=\"test -f") {
				t.Errorf("test command:\n%s", rc)
			}
			if strings.Contains(rc, "\nBUILD_COMMAND=\"exit 1\"") != (c.build != "") {
				t.Errorf("build command:\n%s", rc)
			}
			if _, err := os.Stat(filepath.Join(w.Dir, "written-by-the-analyst")); err == nil {
				t.Error("the analyst wrote into the project")
			}
			if !strings.Contains(w.err.String()+w.out.String(), "not ready: no linter yet") {
				t.Errorf("it is not said what is missing:\n%s", w.err.String())
			}
		})
	}
}
