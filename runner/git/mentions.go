package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"ralph/runner/git/command"
)

// Mentions returns the files in dir, committed or not, that have one of these words in their text or path; a word may be
// the name of a file. It leaves out the folder .ralph, the files in skip, and texts for people unless prose is true.
func Mentions(ctx context.Context, dir string, words []string, prose bool, skip []string) (files []string, err error) {
	where := []string{"--", ".", ":(exclude).ralph"}
	for _, name := range skip {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			where = append(where, ":(exclude,literal)"+filepath.ToSlash(rel))
		}
	}
	args := []string{"grep", "--untracked", "--no-color", "-I", "-l", "-z", "-w", "-F"}
	for _, w := range words {
		args = append(args, "-e", w)
	}
	args = append(args, where...)
	if !prose {
		args = append(args, ":(exclude,icase)*.md", ":(exclude,icase)*.txt", ":(exclude,icase)*.rst")
	}
	said, err := command.Run(ctx, dir, args...)
	if status := (*exec.ExitError)(nil); errors.As(err, &status) && status.ExitCode() == 1 { // git grep found nothing
		said, err = command.Run(ctx, dir, append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "-z"}, where...)...)
		for file := range strings.SplitSeq(said, "\x00") {
			parts := strings.FieldsFunc(file, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if slices.ContainsFunc(append(parts, path.Base(file)), func(part string) bool { return slices.Contains(words, part) }) {
				files = append(files, file)
			}
		}
	} else if err == nil {
		files = command.Entries(said)
	}
	if err != nil {
		return nil, fmt.Errorf("look for %q: %w", words, err)
	}
	return files, nil
}

// WroteIgnored reports whether a file at or below one of these paths in dir was written since a moment, where git ignores
// the path itself or, as with dist/*, whatever is in it. A cache in a folder of the project does not count.
func WroteIgnored(ctx context.Context, dir string, names []string, since time.Time) (bool, error) {
	ignored := func(name string) bool {
		_, err := command.Run(ctx, dir, "check-ignore", "-q", "--", name)
		return err == nil
	}
	if names = slices.DeleteFunc(names, func(name string) bool {
		if !filepath.IsLocal(name) || strings.HasPrefix(path.Clean(name), ".ralph") {
			return true
		}
		// If any is ignored, too, the project ignores every file that no rule lets in.
		return !ignored(name) && (!ignored(path.Join(name, "any")) || ignored("any"))
	}); len(names) == 0 {
		return false, nil
	}
	args := []string{"ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"}
	for _, name := range names {
		args = append(args, ":(literal)"+path.Clean(name))
	}
	said, err := command.Run(ctx, dir, args...)
	for file := range strings.SplitSeq(said, "\x00") {
		info, missing := os.Lstat(filepath.Join(dir, file))
		if file != "" && missing == nil && info.Mode().IsRegular() && info.ModTime().After(since) {
			return true, err
		}
	}
	return false, err
}
