package lessons

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/memory"
	"ralph/state"
	"ralph/state/projectfs"
)

const (
	branchFile = ".branch"
	archiveDir = "archive"

	digestLength = len("-") + 6

	maxCopied = 64 << 20 // bytes of a file
)

// OnBranch records on which branch a run starts. If the last run was on another branch, OnBranch
// copies that branch's plan, notes, memory and report into an archive, and restores the memory
// that the archive has for the new branch. It moves no file of the user. said is one line for
// the user; empty: the branch is the same, or the user does not want this.
func (o LessonOptions) OnBranch(project, branch, plan string, now time.Time) (said string, err error) {
	dir := filepath.Join(project, state.DirName)
	note := filepath.Join(dir, branchFile)
	in := projectfs.In(project)
	was, _ := in.Read(note, 4<<10) // the first run has none
	before := strings.TrimSpace(string(was))
	if !o.ArchiveBranch || branch == "" || branch == before {
		return "", nil // without a branch, HEAD is detached, perhaps by a rebase
	}
	if before != "" {
		if said, err = swap(project, [2]string{before, branch}, plan, now); err != nil {
			return "", fmt.Errorf("archive branch %q: %w", before, err)
		}
	}
	return said, in.Write(note, []byte(branch+"\n"), 0o600)
}

func swap(project string, branches [2]string, plan string, now time.Time) (said string, err error) {
	in, dir := projectfs.In(project), filepath.Join(project, state.DirName)
	to := filepath.Join(dir, archiveDir, now.Format(time.DateOnly)+"-"+nameOf(branches[0]))
	files := []string{filepath.Join(dir, branchFile), filepath.Join(dir, File), filepath.Join(dir, Page),
		latestReport(in, dir)}
	for _, path := range append(notes(project), plan) {
		if committed := planOn(project, branches[0], path); committed != nil {
			if err := committed.into(in, to); err != nil {
				return "", err
			}
		} else if source(project, path).IsPlain(path) {
			files = append(files, path)
		}
	}
	for _, file := range files {
		if err := copyTo(in, to, source(project, file), file); err != nil {
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
	var restored []memory.Lesson
	if back := latestArchive(in, dir, branches[1]); back != "" {
		if restored, err = restore(in, filepath.Join(back, File)); err != nil {
			return "", err
		}
	}
	if len(restored) > 0 {
		said += "; took " + termtext.Count(len(restored), "lesson") + " of this branch back"
	}
	if len(was)+len(restored) == 0 {
		return said, nil
	}
	// The progress file belongs to the branch itself: git has changed it already.
	return said, writePages(in, dir, restored)
}

// notes returns the paths of the project's own notes. They share a name, so the last one wins in an archive.
func notes(project string) (paths []string) {
	for _, name := range slices.Backward(progressFiles()) {
		paths = append(paths, filepath.Join(project, filepath.FromSlash(name)))
	}
	return paths
}

// nameOf turns the name of a branch into that of a folder. If it has to replace characters, it appends a digest,
// because another branch may have the resulting name.
func nameOf(branch string) string {
	name := plainName(branch)
	if name != branch {
		name += fmt.Sprintf("-%x", sha256.Sum256([]byte(branch)))[:digestLength]
	}
	return name
}

// plainName replaces the characters that some file systems do not allow. Older versions named the folder so.
func plainName(branch string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, branch)
}

// latestArchive returns the newest archive of a branch; empty if there is none.
func latestArchive(in projectfs.Dir, dir, branch string) string {
	entries, _ := in.ReadDir(filepath.Join(dir, archiveDir))
	for _, e := range slices.Backward(entries) { // sorted by name, and so by date
		if len(e.Name()) <= len(time.DateOnly) {
			continue
		}
		folder, name := filepath.Join(dir, archiveDir, e.Name()), e.Name()[len(time.DateOnly)+1:]
		of, err := in.Read(filepath.Join(folder, branchFile), 4<<10)
		old := err != nil && name == plainName(branch) // of a version that did not store the branch
		if strings.TrimSpace(string(of)) == branch || old {
			return folder
		}
	}
	return ""
}

// undoArchived removes from the archives the lessons that only this turn taught: a later switch would restore them.
func undoArchived(project string, t memory.Turn) error {
	in, dir := projectfs.In(project), filepath.Join(project, state.DirName, archiveDir)
	files, _ := fs.Glob(in.FS(dir), "*/"+File)
	for _, file := range files {
		file = filepath.Join(dir, file)
		all, err := restore(in, file)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(l memory.Lesson) bool { return slices.Contains(l.Turns, t) }) {
			continue
		}
		if err := writePages(in, filepath.Dir(file), memory.Without(all, t)); err != nil {
			return err
		}
	}
	return nil
}

// latestReport returns the report of the latest run; empty if there is none.
func latestReport(in projectfs.Dir, dir string) string {
	pages, _ := fs.Glob(in.FS(dir), "reports/*.md")
	if len(pages) == 0 {
		return ""
	}
	slices.Sort(pages)
	return filepath.Join(dir, pages[len(pages)-1])
}

// source is where a file of the archive comes from: the project or, for a plan elsewhere, the folder that it is in.
func source(project, file string) projectfs.Dir {
	if rel, err := filepath.Rel(project, file); err != nil || !filepath.IsLocal(rel) {
		project = filepath.Dir(file)
	}
	return projectfs.In(project)
}

// copyTo copies a file into a folder, over an older copy. It ignores a missing file.
func copyTo(in projectfs.Dir, dir string, from projectfs.Dir, file string) error {
	if file == "" {
		return nil
	}
	data, err := from.Read(file, maxCopied)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = in.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = in.Write(filepath.Join(dir, filepath.Base(file)), data, 0o600)
	}
	return err
}
