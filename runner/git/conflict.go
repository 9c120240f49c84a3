package git

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"ralph/runner/git/command"
)

// block matches a conflict as git leaves it in a file.
var block = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?ms)^<<<<<<< [^\n]+\n(.*?)^(?:\|\|\|\|\|\|\| ?[^\n]*\n.*?^)?=======\r?\n(.*?)^>>>>>>> ([^\s-]\S*)[^\n]*$`)
})

// Conflicts returns the files in which a change left the markers of a conflict. A file can also be about such markers.
// So one of the sides has to be what the file said before, or what it says in the commit that the last marker names. A
// file that had markers before does not count.
func Conflicts(ctx context.Context, dir string, texts []Text) (files []string) {
	root, _ := Root(dir)
	for _, t := range texts {
		if !t.Exists || !strings.Contains(t.After, "\n>>>>>>> ") || block().MatchString(t.Before) {
			continue
		}
		for _, m := range block().FindAllStringSubmatch(t.After, -1) {
			theirs := func() string {
				text, _ := command.Run(ctx, root, "cat-file", "blob", m[3]+":"+t.Path) // a label that names no commit
				return text
			}
			if within(m[1], t.Before) || within(m[2], t.Before) || within(m[2], theirs()) {
				files = append(files, t.Path)
				break
			}
		}
	}
	return files
}

// within reports whether a text has these lines, in a row.
func within(lines, text string) bool {
	return strings.TrimSpace(lines) != "" && strings.Contains("\n"+text, "\n"+lines)
}
