package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each line of the tables names what proves it.
func TestDocs_eachTestThatIsNamedExists(t *testing.T) {
	text, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, glob := range []string{"*_test.go", "*/*_test.go", "../../ptyexec/*_test.go", "../../ptyexec/*/*_test.go", "../../internal/e2e/*_test.go", "../*_test.go", "../turn/*_test.go", "../turn/steer/*_test.go", "../../cmd/internal/cli/*_test.go"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(data)
		}
	}
	tables := 0
	for line := range strings.Lines(string(text)) {
		names := regexp.MustCompile(`Test\w+`).FindAllString(line, -1)
		for _, name := range names {
			if !strings.Contains(code.String(), "func "+name+"(") {
				t.Errorf("no such test: %s", name)
			}
		}
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 5 && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "| what") {
			if tables++; len(names) == 0 {
				t.Errorf("no test is named: %s", line)
			}
		}
	}
	if tables < 30 {
		t.Errorf("%d lines", tables)
	}
}
