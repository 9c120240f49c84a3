package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/runner/git/command"
)

// restoreCommand returns the command that restores files from a kept state. If the state does not have them, because they are
// too large, the text says so.
func restoreCommand(ctx context.Context, root, oid string, files []string) (string, error) {
	if oid == "" {
		return "ralph kept no copy", nil
	}
	out, err := command.Run(ctx, root, append([]string{"ls-tree", "-r", "--full-tree", "--name-only", "-z", oid, "--"},
		files...)...)
	if err != nil {
		return "", fmt.Errorf("look for kept files: %w", err)
	}
	kept := strings.Split(out, "\x00")
	words := []string{"git", "-C", root, "--literal-pathspecs", "restore", "--source", fmt.Sprintf("%.12s", oid), "--"}
	names := len(words)
	for _, f := range files {
		if slices.Contains(kept, f) {
			words = append(words, f)
		}
	}
	lost := len(files) - len(words[names:])
	if lost == len(files) {
		return "ralph kept no copy, because they are too large", nil
	}
	for i, w := range words {
		if words[i], err = syntax.Quote(w, syntax.LangBash); err != nil {
			return "", fmt.Errorf("quote %q: %w", w, err)
		}
	}
	text := strings.Join(words, " ")
	if lost > 0 {
		text += fmt.Sprintf(" (%d of them were too large to keep)", lost)
	}
	return text, nil
}
