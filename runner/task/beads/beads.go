// Package beads reads and changes the issues of Beads. Only the program bd can read its
// database, so List, Set and Add run bd, and their callers need the user's consent.
package beads

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/task"
)

// Program is the program that keeps the issues.
const Program = "bd"

const (
	// timeout limits how long bd may take.
	timeout = 30 * time.Second
	// maxOutput limits the output of bd, in bytes.
	maxOutput = 16 << 20
)

// List asks bd for all issues of the project that has the folder .beads, as JSON.
func List(folder string) ([]byte, error) {
	return run(folder, "list", "--all", "--limit", "0", "--json")
}

// Set changes the state of an issue.
func Set(folder string, t task.Task, to task.State) error {
	if t.State == task.Done {
		if _, err := run(folder, "reopen", t.ID, "--json"); err != nil || to == task.Open {
			return err
		}
	}
	var args []string
	switch to {
	case task.Done:
		args = []string{"close", t.ID, "--reason", "Done", "--json"}
	case task.Open, task.Active, task.Blocked:
		args = []string{"update", t.ID, "--status", words().Write[to], "--json"}
	default:
		return fmt.Errorf("%w: %s", task.ErrNoWord, to)
	}
	_, err := run(folder, args...)
	return err
}

// Add creates an open issue and returns its id.
func Add(folder, title string) (id string, err error) {
	out, err := run(folder, "create", "--title", title, "--json")
	if err != nil {
		return "", err
	}
	if id = data(out).Get("id").Str; id == "" {
		return "", fmt.Errorf("%s create printed no id", Program)
	}
	return id, nil
}

// run runs bd in the project.
func run(folder string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	defer ptyexec.Working(timeout)()
	cmd := exec.CommandContext(ctx, Program, args...)
	cmd.Dir, cmd.WaitDelay = filepath.Dir(folder), time.Second
	cmd.Env = append(os.Environ(), "BD_JSON_ENVELOPE=1")
	out, err := cmd.Output()
	what := Program + " " + args[0]
	switch failed := (*exec.ExitError)(nil); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("ralph reads Beads with the program %s, which is not installed", Program)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s took longer than %s", what, timeout)
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w: %s", what, err,
			termtext.Unwrap(string(failed.Stderr)+string(out[:min(len(out), 1000)])))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case len(out) > maxOutput:
		return nil, fmt.Errorf("%s printed more than %d MiB", what, maxOutput>>20)
	}
	return out, nil
}

// data returns the answer of bd without its envelope, if it has one.
func data(text []byte) gjson.Result {
	root := gjson.ParseBytes(text)
	if inner := root.Get("data"); root.IsObject() && inner.Exists() {
		return inner
	}
	return root
}
