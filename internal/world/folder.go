package world

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Patience is how long a test waits for something that must happen: far longer than it takes.
const Patience = time.Minute

// Folder is where a test works. An error in a method fails the test.
type Folder struct {
	testing.TB
	Dir string
	Env []string // of what runs here; nil: the test's own
}

// In returns another folder with the same environment.
func (f Folder) In(dir string) Folder {
	f.Dir = dir
	return f
}

// Path returns the path of a file of the folder.
func (f Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Do fails the test if err is not nil.
func (f Folder) Do(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// Write writes a file and creates its folders.
func (f Folder) Write(name, text string) {
	f.Helper()
	f.Do(os.MkdirAll(filepath.Dir(f.Path(name)), 0o755))
	f.Do(os.WriteFile(f.Path(name), []byte(text), 0o644))
}

// Read returns the content of a file, "" if it does not exist.
func (f Folder) Read(name string) string {
	f.Helper()
	data, err := os.ReadFile(f.Path(name))
	if !errors.Is(err, fs.ErrNotExist) {
		f.Do(err)
	}
	return string(data)
}

// Set sets a variable of the environment.
func (f *Folder) Set(name, value string) {
	f.Unset(name)
	f.Env = append(f.Env, name+"="+value)
}

// Unset removes a variable of the environment.
func (f *Folder) Unset(name string) {
	f.Env = slices.DeleteFunc(slices.Clone(f.Env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// Run runs a program to its end. It returns the output and the exit code, which is -1 after
// a signal.
func (f Folder) Run(argv ...string) (said string, code int) {
	f.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(argv[0]), argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.Dir, f.Env, time.Second
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		f.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// Git returns the output of git without its last newline.
func (f Folder) Git(args ...string) string {
	f.Helper()
	out, code := f.Run(append([]string{"git"}, args...)...)
	if code != 0 {
		f.Fatalf("git %q ended with %d:\n%s", args, code, out)
	}
	return strings.TrimRight(out, "\n")
}

// Commit commits everything.
func (f Folder) Commit(message string) {
	f.Helper()
	f.Git("add", "-A")
	f.Git("commit", "-q", "--allow-empty", "-m", message)
}

// program returns the path of a program. For ralph's own it is the one that was just built.
func program(name string) string {
	own := filepath.Join(os.Getenv(programsVar), name)
	if _, err := os.Stat(own); err == nil && strings.HasPrefix(name, "ralph") {
		return own
	}
	return name
}
