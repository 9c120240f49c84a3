// Package release has tests of what a release consists of: programs, man pages, completions,
// packages. They build with make, as a release does.
package release

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ralph/internal/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m)) }

const root = "../.."

// command runs a program at the root of the tree.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// shipped writes what goes beside the programs, and returns its folder.
func shipped(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	command(t, "go", "run", "./cmd/internal/shipped", dir, "v1.2.3")
	return dir
}

// ralph is small enough to be copied without a thought, and the same tree makes the same
// programs, whoever builds it and wherever.
func TestBuild_inTwoFolders_makesTheSameSmallProgram(t *testing.T) {
	world.Long(t, "two whole builds")
	const bound = 16 << 20
	var sums []string
	for range 2 {
		dir := t.TempDir()
		tree := filepath.Join(dir, "ralph")
		if err := os.MkdirAll(tree, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"go.mod", "go.sum", "Makefile", "cmd", "internal", "logs", "monitor", "ptyexec", "runner", "state", "tmux"} {
			command(t, "cp", "-R", part, tree)
		}
		command(t, "make", "-s", "-C", tree, "build", "VERSION=v1.2.3")
		sum := ""
		for _, name := range []string{"ralph", "ralph-hub"} {
			data, err := os.ReadFile(filepath.Join(tree, "bin", name))
			if err != nil {
				t.Fatal(err)
			}
			sum += fmt.Sprintf("%s %x\n", name, sha256.Sum256(data))
			if name == "ralph" && runtime.GOARCH == "amd64" && len(data) >= bound {
				t.Errorf("ralph has %d bytes, and is to have less than %d", len(data), bound)
			}
		}
		sums = append(sums, sum)
		out, err := exec.Command(filepath.Join(tree, "bin", "ralph"), "version").Output()
		if err != nil || string(out) != "ralph v1.2.3\n" {
			t.Errorf("ralph version: %v\n%s", err, out)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of one tree differ:\n%s\n%s", sums[0], sums[1])
	}
}

func TestMan_eachPage_isReadWithoutAWarning(t *testing.T) {
	world.Long(t, "groff formats every page")
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("needs man")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("needs groff")
	}
	pages, err := filepath.Glob(filepath.Join(shipped(t), "man", "*.1"))
	if err != nil || len(pages) < 50 {
		t.Fatal("too few pages:", len(pages), err)
	}
	for _, page := range pages {
		cmd := exec.Command("man", "--warnings", "-l", page)
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		text := string(out)
		if err != nil || strings.Contains(text, "warning") {
			t.Errorf("%s: %v\n%s", page, err, text)
		}
		for _, want := range []string{"NAME", "SYNOPSIS", "ralph v1.2.3"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", page, want)
			}
		}
		for _, no := range []string{"[=false]", `=""`, "= ", "Jan 0001", "cobra"} {
			if strings.Contains(text, no) {
				t.Errorf("%s has %q:\n%s", page, no, text)
			}
		}
	}
}
