package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

// programsVar names the folder of the programs. Whoever sets it removes the folder:
// testgate for a run of many packages, Main for one package.
const programsVar = "RALPH_WORLD_PROGRAMS"

// Main runs the tests of a package that calls Programs, or of many, and returns their exit
// code. Call it in TestMain.
func Main(m interface{ Run() int }) int {
	if os.Getenv(programsVar) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "ralph-programs-")
	if err == nil {
		err = os.Setenv(programsVar, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.Run()
}

// Programs returns the folder of the built programs. The first call
// builds them.
func Programs(t testing.TB) string {
	t.Helper()
	dir, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Build is Programs without a test. It locks the folder, which packages under test share.
var Build = sync.OnceValues(func() (string, error) {
	dir := os.Getenv(programsVar)
	lock := flock.New(filepath.Join(dir, ".lock"))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("lock folder of the programs: %w", err)
	}
	defer lock.Close()
	built := filepath.Join(dir, ".built") // written last: an interrupted build does not count
	if _, err := os.Stat(built); err == nil {
		return dir, nil
	}
	build := exec.Command("go", "build", "-o", dir+"/", "ralph/cmd/ralph", "ralph/cmd/ralph-hub")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in a release, also for tests with the race detector
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build programs: %w\n%s", err, out)
	}
	for _, link := range []string{"ralph-monitor", "ralph-status"} {
		err := os.Symlink("ralph", filepath.Join(dir, link))
		if err != nil && !errors.Is(err, fs.ErrExist) { // of a build that was interrupted
			return "", fmt.Errorf("build programs: %w", err)
		}
	}
	return dir, os.WriteFile(built, nil, 0o600)
})

// GitMain runs the tests of a package with a git that ignores the settings of user and
// machine. It returns their exit code.
func GitMain(m *testing.M) int {
	home, err := os.MkdirTemp("", "ralph-git-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	config := filepath.Join(home, "gitconfig")
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
		"GIT_COMMITTER_EMAIL": "t@example.org", "GIT_CEILING_DIRECTORIES": os.TempDir(),
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	settings := "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[maintenance]\n\tauto = false\n"
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		panic(err)
	}
	return m.Run()
}
