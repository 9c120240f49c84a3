package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

// Text is a changed text file. Its path is relative to the root of the repository.
type Text = ChangedFile

// Texts returns the changed files, including the user's files in .ralph, as they were before and are now; after must be
// current. It leaves out files that are binary or larger than 1 MiB on one side. Without a repository there are none.
// It runs at most one git process.
func (c Change) Texts(ctx context.Context, dir string, before, after Snapshot) ([]Text, error) {
	root, ok := Root(dir)
	if !ok || !before.Repo || !after.Repo {
		return nil, nil
	}
	files := slices.Clone(c.Files)
	for _, own := range []map[string]signature{before.own, after.own} {
		for path := range own {
			if before.own[path] != after.own[path] {
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	committed, err := command.Contents(ctx, root, before.Head, slices.DeleteFunc(slices.Clone(files), before.Dirty))
	if err != nil {
		return nil, fmt.Errorf("read texts before: %w", err)
	}
	var all []Text
	for _, path := range files {
		t := Text{Path: path}
		known := true
		if sig, dirty := before.signature(path); dirty {
			t.Before, known = before.texts[path]
			t.Existed = sig != signature{}
			known = known || !t.Existed
		} else if t.Before, t.Existed = committed[path]; t.Existed {
			known = isText([]byte(t.Before))
		}
		if !known || !readAfter(&t, root) {
			continue
		}
		all = append(all, t)
	}
	return all, nil
}

// readAfter reads the current file. It returns false for a binary or large one.
func readAfter(t *Text, root string) bool {
	path := filepath.Join(root, filepath.FromSlash(t.Path))
	info, err := os.Lstat(path)
	if err != nil {
		return true // removed
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return false
	}
	data, err := projectfs.In(root).Read(path, maxText)
	if err != nil {
		return os.IsNotExist(err)
	}
	t.After, t.Exists = string(data), true
	return isText(data)
}

// Large returns the changed files that are now larger than 1 MiB.
func (c Change) Large(dir string) []string {
	root, ok := Root(dir)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Files), func(file string) bool {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file)))
		return err != nil || !info.Mode().IsRegular() || info.Size() <= maxText
	})
}

// ChangedFile is a changed text file before and after. A renamed file is two: one that no longer exists and one that
// did not exist before.
type ChangedFile struct {
	Path            string // slash-separated, relative to the root of the repository, or to the project
	Before, After   string // empty if the file does not exist
	Existed, Exists bool   // before, after
}

// HiddenFile is a file that git does not show.
type HiddenFile struct {
	File  string // slash-separated, relative to the root of the repository
	Flag  string // "assume-unchanged", "skip-worktree"; empty: an ignore rule
	Rule  string // the rule, such as "*_test.go"
	Place string // the file with the rule
	// StandIn is true for a new or changed file that takes the place of a test runner, or that it loads by itself.
	StandIn bool
	// OnPath is true for a stand-in that git shows, and Needed for ignored code that the change imports.
	OnPath, Needed bool
}

// Lost is something that the repository had and does not have any more.
type Lost struct {
	What string `json:"what"` // one of the constants below
	// Name is that of the branch, tag or worktree; of commits: the branch that had them.
	Name string `json:"name,omitempty"`
	OID  string `json:"oid,omitempty"`  // the object that brings it back
	Text string `json:"text,omitempty"` // what is gone, with the command that brings it back
	// Gone is true for commits whose branch is gone, too.
	Gone bool `json:"gone,omitempty"`
	// Harmless is true if nothing but a name is gone.
	Harmless bool     `json:"harmless,omitempty"`
	Commits  []string `json:"commits,omitempty"` // that are on no branch any more
}

// What can be lost.
const (
	LostCommits  = "commits"
	LostBranch   = "branch"
	LostTag      = "tag"
	LostStash    = "stash"
	LostWorktree = "worktree"
	// LostCrossed are stash entries that two turns exchanged. A person has to say that nothing is missing.
	LostCrossed = "crossed"
)

// Discarded returns the files among files that were dirty before and whose content is gone: it was neither committed
// nor moved. c is the change from before to after; after must be current.
func (c Change) Discarded(before, after Snapshot, files []string) []string {
	if !before.Repo || !after.Repo {
		return nil
	}
	var gone []string
	s := signer{root: after.root}
	for _, path := range files {
		was, dirty := before.signature(path)
		if !dirty || was == (signature{}) || strings.HasSuffix(path, "/") {
			continue
		}
		is, dirty := after.signature(path)
		if !dirty { // clean, committed, ignored or gone
			is = s.sign(entry{path: path}, true).signature
		}
		switch {
		case is == was, dirty && is != signature{}: // unchanged, or edited
		case is != signature{} && c.HeadMoved && (c.Count > len(c.Files) || slices.Contains(c.Files, path)): // edited and committed
		case after.has(was): // moved
		default:
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	return gone
}

// has reports whether a dirty file has this signature.
func (s Snapshot) has(sig signature) bool {
	return slices.Contains(slices.Collect(maps.Values(s.files)), sig)
}

// block matches a conflict as git leaves it in a file.
var block = lazy.Regexp(`(?ms)^<<<<<<< [^\n]+\n(.*?)^(?:\|\|\|\|\|\|\| ?[^\n]*\n.*?^)?=======\r?\n(.*?)^>>>>>>> ([^\s-]\S*)[^\n]*$`)

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
