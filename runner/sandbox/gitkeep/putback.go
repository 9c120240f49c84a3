package gitkeep

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ralph/logs/lazy"
	ralph "ralph/state"
	"ralph/state/projectfs"
)

// maxKept limits how many files of one command are kept.
const maxKept = 200

// maxPasses is how often it looks: the first time without git, then with its settings as they were.
const maxPasses = 4

// clockTick is how much the time of a file may be behind that of the clock.
const clockTick = 100 * time.Millisecond

// putBack puts a repository back as it was, and keeps what it replaces in a folder.
func putBack(r Repository, was state, logs string, since time.Time) (Replaced, error) {
	done := Replaced{Kept: logs}
	for n := range maxPasses {
		before := len(done.Files)
		if err := done.pass(r, was, since.Add(-clockTick), n > 0); err != nil || n > 0 && len(done.Files) == before {
			return done, err
		}
	}
	return done, nil
}

func (done *Replaced) pass(r Repository, was state, since time.Time, askGit bool) error {
	now, err := look(r, was.Repos, since, askGit)
	for _, path := range paths(was, now.state) {
		old, had := was.Files[path]
		is, has := now.Files[path]
		if !now.covers(path, old, had) || had && has && same(path, old, is) ||
			!had && now.allowed(path, is, slices.Contains(was.Repos, is.Repo)) ||
			had && !has && (strings.HasSuffix(path, "/"+todo) || old.Other != "") {
			continue
		}
		name := r.name(path)
		if has && len(done.Files) < maxKept {
			err = errors.Join(err, keep(done.Kept, name, is))
		}
		if !slices.Contains(done.Files, name) {
			done.Files = append(done.Files, name)
		}
		if broken := put(path, old, had); broken != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, broken))
		}
	}
	return err
}

// covers reports whether a file can be compared: not if its repository is gone or in another work tree.
func (l *looker) covers(path string, old file, had bool) bool {
	return !had || old.Repo == "" && slices.Contains(l.seen, path) || slices.Contains(l.Repos, old.Repo)
}

// name is how people know a path.
func (r Repository) name(path string) string {
	if rel, err := filepath.Rel(r.common(), path); err == nil && filepath.IsLocal(rel) && len(r.Git) > 0 {
		return dotGit + "/" + filepath.ToSlash(rel)
	}
	for _, dir := range []string{r.Dir, r.work()} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// keep keeps what was planted, as a plain file.
func keep(logs, name string, is file) error {
	text := string(is.Data)
	switch {
	case is.Link != "":
		text = "a link to " + is.Link + "\n"
	case is.Other != "":
		text = is.Other + "\n"
	}
	base := "planted." + strings.TrimPrefix(strings.ReplaceAll(name, "/", "."), ".")
	_, err := ralph.RunLogs{Dir: logs}.KeepMore(base[:min(len(base), 200)], text, maxKept)
	return err
}

// put makes a path what it was. A new file comes in place of the old one at once.
func put(path string, was file, had bool) error {
	switch {
	case !had, was.Other == folder:
		if err := disk().RemoveAll(path); !projectfs.InPlaceOfFolder(err) { // else nothing is there
			return err
		}
		return nil
	case was.Other != "":
		return errors.New("what was there was no file, so ralph does not know it")
	}
	dir := filepath.Dir(path)
	if err := disk().MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if was.Link != "" {
		at, err := disk().OpenDir(dir)
		if err != nil {
			return err
		}
		defer at.Close()
		return errors.Join(disk().RemoveAll(path), unix.Symlinkat(was.Link, int(at.Fd()), filepath.Base(path)))
	}
	if err := disk().Clear(path); err != nil {
		return err
	}
	next, err := disk().Replace(path, was.Mode)
	if err != nil {
		return err
	}
	defer next.Discard()
	_, err = next.Write(was.Data)
	if err = errors.Join(err, next.Chmod(was.Mode)); err != nil {
		return err
	}
	return next.Commit()
}

// everyday matches what git itself writes for branches: it starts nothing, and leads nowhere. Each part must be as git
// writes it.
var everyday = lazy.Regexp(`^(?:\[branch "[\w./@+-]+"\]|\[user\]|` +
	`\t(?:remote|merge|name|email|vscode-merge-base) = [\w.@+ -]*[\w./@+-]*)$`)

// harmless matches the lines of a new repository that start nothing. A local address is not among them: git push
// starts hooks there.
var harmless = lazy.Regexp(`^(?:\[(?:core|user|(?:branch|remote|submodule) "[\w./@+-]+")\]|` +
	`\t(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|` +
	`sparsecheckout|sparsecheckoutcone|active|name|email) = [\w.@+ -]*|` +
	`\t(?:worktree|merge|fetch) = [\w./@+*:-]+|\tremote = [\w.@+-]+|` +
	`\turl = (?:(?:https?|ssh|git)://[\w.@:/~+-]+|[\w.-]+@[\w.-]+:[\w./~+-]+))$`)

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

var starts = lazy.Regexp(`(?m)^\s*(?:x|exec)\s`)

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
