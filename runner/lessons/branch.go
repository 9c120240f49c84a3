package lessons

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/memory"
	"ralph/state"
)

const (
	branchFile = ".branch"
	archiveDir = "archive"

	digestLength = len("-") + 6
)

// OnBranch notes on which branch a run starts. If the one before was on another branch, it
// copies plan, notes, memory and report of that one into an archive, and begins with what the
// archive has of the new branch. It moves no file of the user. said is one line for
// people; empty: nothing has changed.
func OnBranch(project, branch, plan string, now time.Time) (said string, err error) {
	dir := filepath.Join(project, state.DirName)
	note := filepath.Join(dir, branchFile)
	was, _ := state.ReadFile(note, 4<<10) // a missing one is normal
	before := strings.TrimSpace(string(was))
	if branch == "" || branch == before {
		return "", nil // none is checked out: a rebase, perhaps
	}
	if before != "" {
		if said, err = swap(project, [2]string{before, branch}, plan, now); err != nil {
			return "", fmt.Errorf("archive branch %q: %w", before, err)
		}
	}
	return said, os.WriteFile(note, []byte(branch+"\n"), 0o600)
}

func swap(project string, branches [2]string, plan string, now time.Time) (said string, err error) {
	dir := filepath.Join(project, state.DirName)
	to := filepath.Join(dir, archiveDir, now.Format(time.DateOnly)+"-"+nameOf(branches[0]))
	files := []string{filepath.Join(dir, branchFile), filepath.Join(dir, File), filepath.Join(dir, Page), latestReport(dir)}
	for _, path := range append(notes(project), plan) {
		if committed := planOn(project, branches[0], path); committed != nil {
			if err := committed.into(to); err != nil {
				return "", err
			}
		} else if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	for _, file := range files {
		if err := copyTo(to, file); err != nil {
			return "", err
		}
	}
	was, err := Load(project)
	if err != nil {
		return "", err
	}
	said = fmt.Sprintf("the branch is %s, no longer %s", branches[1], branches[0])
	if rel, err := filepath.Rel(project, to); err == nil {
		said += "; copied plan, notes, memory and report to " + filepath.ToSlash(rel)
	}
	back := latestArchive(dir, branches[1])
	restored, err := restore(filepath.Join(back, File))
	if err != nil {
		return "", err
	}
	if len(restored) > 0 {
		said += "; took " + termtext.Count(len(restored), "lesson") + " of this branch back"
	}
	if len(was)+len(restored) == 0 {
		return said, nil
	}
	// The progress file belongs to the branch itself: git has changed it already.
	return said, writePages(dir, restored)
}

// notes are the places of the project's own notes. The last one wins in an archive.
func notes(project string) (paths []string) {
	for _, name := range slices.Backward(progressFiles()) {
		paths = append(paths, filepath.Join(project, filepath.FromSlash(name)))
	}
	return paths
}

// nameOf makes a branch the name of a folder. A name that cannot stay as it is ends with a digest, since
// another branch may be called what is left of it.
func nameOf(branch string) string {
	name := plainly(branch)
	if name != branch {
		name += fmt.Sprintf("-%x", sha256.Sum256([]byte(branch)))[:digestLength]
	}
	return name
}

// plainly is a branch without the characters that a folder cannot have everywhere. It was its folder once.
func plainly(branch string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, branch)
}

// latestArchive is the newest folder of a branch; empty if there is none.
func latestArchive(dir, branch string) string {
	entries, _ := os.ReadDir(filepath.Join(dir, archiveDir))
	for _, e := range slices.Backward(entries) { // sorted by name, and so by date
		if len(e.Name()) <= len(time.DateOnly) {
			continue
		}
		folder, name := filepath.Join(dir, archiveDir, e.Name()), e.Name()[len(time.DateOnly)+1:]
		of, err := state.ReadFile(filepath.Join(folder, branchFile), 4<<10)
		unsaid := err != nil && name == plainly(branch) // from before archives said it
		if strings.TrimSpace(string(of)) == branch || unsaid {
			return folder
		}
	}
	return ""
}

// undoArchived forgets what only this turn taught in the archives: a branch that comes back brings its lessons along.
func undoArchived(project string, t memory.Turn) error {
	dir := filepath.Join(project, state.DirName, archiveDir)
	files, _ := fs.Glob(os.DirFS(dir), "*/"+File)
	for _, file := range files {
		file = filepath.Join(dir, file)
		all, err := restore(file)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(l memory.Lesson) bool { return slices.Contains(l.Turns, t) }) {
			continue
		}
		if err := writePages(filepath.Dir(file), memory.Without(all, t)); err != nil {
			return err
		}
	}
	return nil
}

// latestReport is the page of the latest run; empty if there is none.
func latestReport(dir string) string {
	pages, _ := fs.Glob(os.DirFS(dir), "reports/*.md")
	if len(pages) == 0 {
		return ""
	}
	slices.Sort(pages)
	return filepath.Join(dir, pages[len(pages)-1])
}

// copyTo copies a file into a folder, over an older copy. One that is not there is left out.
func copyTo(dir, file string) error {
	if file == "" {
		return nil
	}
	from, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(dir, filepath.Base(file)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}
