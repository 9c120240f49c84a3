package gitkeep

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// everyday matches what git itself writes for branches: it starts nothing, and leads nowhere. Each part must be as git
// writes it.
var everyday = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[branch "[\w./@+-]+"\]|\[user\]|` +
		`\t(?:remote|merge|name|email|vscode-merge-base) = [\w.@+ -]*[\w./@+-]*)$`)
})

// harmless matches the lines of a new repository that start nothing. A local address is not among them: git push
// starts hooks there.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[(?:core|user|(?:branch|remote|submodule) "[\w./@+-]+")\]|` +
		`\t(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|` +
		`sparsecheckout|sparsecheckoutcone|active|name|email) = [\w.@+ -]*|` +
		`\t(?:worktree|merge|fetch) = [\w./@+*:-]+|\tremote = [\w.@+-]+|` +
		`\turl = (?:(?:https?|ssh|git)://[\w.@:/~+-]+|[\w.-]+@[\w.-]+:[\w./~+-]+))$`)
})

// withoutEveryday returns a configuration without those parts of branches and users of which each line is everyday.
func withoutEveryday(text []byte) []byte {
	var out, part []byte
	plain := false
	flush := func() {
		if !plain {
			out = append(out, part...)
		}
		part = nil
	}
	for line := range bytes.Lines(text) {
		fits := everyday().Match(bytes.TrimSuffix(line, []byte("\n")))
		if bytes.HasPrefix(line, []byte("[")) {
			flush()
			plain = fits
		}
		plain = plain && fits && remoteIsName(line)
		part = append(part, line...)
	}
	flush()
	return out
}

// remoteIsName is false for a branch whose remote is an address.
func remoteIsName(line []byte) bool {
	value, is := bytes.CutPrefix(line, []byte("\tremote = "))
	return !is || !bytes.ContainsAny(value, "/:\\")
}

// same reports whether two files mean the same for what git starts.
func same(path string, was, is file) bool {
	plain := was.Link+was.Other == "" && is.Link+is.Other == ""
	switch base := filepath.Base(path); {
	case plain && (base == "config" || base == configWorktree):
		return bytes.Equal(was.Data, is.Data) || bytes.Equal(withoutEveryday(was.Data), withoutEveryday(is.Data))
	case strings.HasSuffix(path, "/"+todo):
		return plain && (bytes.Equal(was.Data, is.Data) || !starts().Match(is.Data))
	}
	return was.Link == is.Link && was.Other == is.Other && bytes.Equal(was.Data, is.Data) &&
		(was.Link+was.Other != "" || was.Mode == is.Mode)
}

var starts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*(?:x|exec)\s`) })

// allowed reports whether a new file of a repository starts nothing. known is true if the repository is older.
func (l *looker) allowed(path string, f file, known bool) bool {
	common := l.r.common()
	plain := f.Link+f.Other == ""
	base := filepath.Base(path)
	switch {
	case strings.HasSuffix(path, "/"+todo):
		return plain && !starts().Match(f.Data)
	case base == configWorktree || base == "config":
		text := f.Data
		if known { // it has other parts that this one could change
			text = withoutEveryday(text)
		}
		for line := range bytes.Lines(text) {
			if known || !harmless().Match(bytes.TrimRight(line, "\n")) {
				return false
			}
		}
		return plain
	case f.Repo == "": // a .git
		rel, err := filepath.Rel(common, l.leads(path))
		return f.Other == folder || err == nil && filepath.IsLocal(rel) && len(l.r.Git) > 0
	case known:
		return false
	case base == "gitdir":
		return plain
	case base == commonDir: // of a new work tree
		to := strings.TrimSpace(string(f.Data))
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		return plain && filepath.Clean(to) == common
	}
	return plain && (strings.HasSuffix(path, "/info/attributes") || strings.HasSuffix(path, "/alternates"))
}
