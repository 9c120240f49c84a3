package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode"

	"ralph/runner/git/command"
)

// Mentions reports whether a file of code in dir, committed or not, has one of these words, or the path of any file does; a word may
// be the name of a file.
// Texts for people, data and the folder .ralph do not count.
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
		args = []string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}
		for _, w := range words {
			args = append(args, "*"+w+"*")
		}
		said, err = command.Run(ctx, dir, append(args, ":(exclude).ralph")...)
		parts := strings.FieldsFunc(said, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for line := range strings.Lines(said) {
			parts = append(parts, path.Base(strings.TrimSpace(line)))
		}
		if !slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) }) {
			said = ""
		}
	}
	if err != nil {
		return false, fmt.Errorf("look for %q: %w", words, err)
	}
	return said != "", nil
}
