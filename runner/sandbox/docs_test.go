package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	for _, glob := range []string{"*_test.go", "*/*_test.go", "../../ptyexec/*_test.go", "../../ptyexec/*/*_test.go", "../../internal/e2e/*_test.go", "../../internal/faults/*_test.go", "../../cmd/internal/hub/proxy/*_test.go", "../*_test.go", "../turn/*_test.go", "../turn/steer/*_test.go", "../../cmd/internal/cli/*_test.go"} {
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
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 7 && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "| what") {
			if tables++; len(names) == 0 {
				t.Errorf("no test is named: %s", line)
			}
		}
	}
	if tables < 20 {
		t.Errorf("%d lines", tables)
	}
}

// What the program knows about a sandbox is in its row.
func TestProfiles_areNamedInTheTableOnly(t *testing.T) {
	named := regexp.MustCompile(`Sandbox(:| ==| !=) "(` + strings.Join(Names(), "|") + `)"`)
	for _, dir := range []string{"..", "../../cmd", "../../monitor", "../../state"} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			if found := named.Find(data); found != nil {
				t.Errorf("%s: %s", path, found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestProfiles_eachRow_isUsedAsItSays(t *testing.T) {
	for _, p := range profiles() {
		s, inImage := Settings{Sandbox: p.name, SandboxNet: []string{"api.example.com"}}, p.engine != nil
		if slices.Contains(Engines(), p.name) != inImage || s.InContainer() != inImage || s.Locks() != p.locks ||
			s.NeedsProxy() != (p.filters == nil) {
			t.Errorf("%s is used for something else than its row says", p.name)
		}
		if bridge := map[bool]int{true: 1}[s.NeedsProxy()]; s.Below() != p.below+bridge {
			t.Errorf("%s: %d processes, want %d", p.name, s.Below(), p.below+bridge)
		}
	}
	if none := (Settings{Sandbox: Off}); none.Locks() || none.InContainer() || none.NeedsProxy() || none.Below() > 0 || none.Lacks() != "" {
		t.Error("no sandbox is used as one")
	}
}
