package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"ralph/runner/git/command"
)

// Mentions reports whether a file of code in dir, committed or not, has one of these words. Texts for people, data and
// the folder .ralph do not count.
func Mentions(ctx context.Context, dir string, words []string) (bool, error) {
	args := []string{"grep", "--untracked", "--no-color", "-I", "-l", "-w", "-F"}
	for _, w := range words {
		args = append(args, "-e", w)
	}
	args = append(args, "--", ".", ":(exclude).ralph")
	for _, end := range []string{"md", "txt", "rst", "json", "yaml", "yml"} {
		args = append(args, ":(exclude,icase)*."+end)
	}
	said, err := command.Run(ctx, dir, args...)
	if status := (*exec.ExitError)(nil); errors.As(err, &status) && status.ExitCode() == 1 { // git grep found nothing
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %q: %w", words, err)
	}
	return said != "", nil
}
