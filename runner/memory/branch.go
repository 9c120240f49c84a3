package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/git/command"
	"ralph/state"
	"ralph/state/projectfs"
)

const (
	branchFile = ".branch"
	archiveDir = "archive"
	maxCopied  = 64 << 20 // bytes of a file
	maxName    = 200      // bytes of the name of a folder, without date and digest
)

// OnBranch records on which branch a run starts. If the last run was on another branch, OnBranch
// copies that branch's plan, notes, memory and report into an archive, and restores the memory
// that the archive has for the new branch. It moves no file of the user. said is one line for
// the user; empty: the branch is the same, or the user does not want this.
func (c LessonOptions) OnBranch(ctx context.Context, project, branch, plan string, now time.Time) (said string, err error) {
	in := projectfs.In(project)
	note := filepath.Join(project, state.DirName, branchFile)
	before := branchIn(in, note)
	if !c.ArchiveBranch || branch == "" || branch == before {
		return "", nil // without a branch, HEAD is detached, perhaps by a rebase
	}
	if before != "" {
		to, err := archive(ctx, project, before, plan, now)
		restored := 0
		if err == nil {
			restored, err = switchTo(project, branch)
		}
		if err != nil {
			return "", fmt.Errorf("archive branch %q: %w", before, err)
		}
		said = fmt.Sprintf("the branch is %s, no longer %s; copied plan, notes, memory and report to %s", branch, before, to)
		if restored > 0 {
			said += "; took " + termtext.Count(restored, "lesson") + " of this branch back"
		}
	}
	return said, in.Write(note, []byte(branch+"\n"), 0o600)
}

// branchIn reads the name of a branch; empty: there is none.
func branchIn(in projectfs.Dir, path string) string {
	name, _ := in.Read(path, 4<<10)
	return strings.TrimSpace(string(name))
}

// archive copies what belongs to a branch. It returns the folder, relative to the project. plan is empty if there is
// none.
func archive(ctx context.Context, project, branch, plan string, now time.Time) (folder string, err error) {
	in, home := projectfs.In(project), filepath.Join(project, state.DirName)
	name := url.QueryEscape(branch) // nothing that a shell understands: people copy the path
	if len(name) > maxName {
		name = fmt.Sprintf("%.*s-%.3x", maxName, name, sha256.Sum256([]byte(branch)))
	}
	folder = filepath.Join(state.DirName, archiveDir, now.Format(time.DateOnly)+"-"+name)
	if err := in.MkdirAll(in.Path(folder), 0o700); err != nil {
		return "", err
	}
	files := []string{plan, filepath.Join(home, branchFile), filepath.Join(home, File), filepath.Join(home, Page)}
	for _, name := range slices.Backward(progressFiles()) { // they share a name: the first wins
		files = append(files, in.Path(name))
	}
	if reports, _ := fs.Glob(in.FS(home), "reports/*.md"); len(reports) > 0 {
		files = append(files, filepath.Join(home, slices.Max(reports)))
	}
	for _, path := range files {
		text, err := fileOn(ctx, project, branch, path)
		if err == nil {
			err = in.Write(in.Path(filepath.Join(folder, filepath.Base(path))), text, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return filepath.ToSlash(folder), nil
}

// fileOn returns a file as it was on a branch. The user has already checked out another one: the file is as it was if
// it has uncommitted changes, or is not in git.
func fileOn(ctx context.Context, project, branch, path string) ([]byte, error) {
	in := projectfs.In(project)
	rel, err := filepath.Rel(project, path)
	if err != nil || !filepath.IsLocal(rel) {
		in = projectfs.In(filepath.Dir(path)) // a plan elsewhere
	} else if changed, err := command.Run(ctx, project, "status", "--porcelain", "--", rel); err == nil && changed == "" {
		texts, _ := command.Contents(ctx, project, "refs/heads/"+branch, []string{"./" + rel})
		if text, ok := texts["./"+rel]; ok {
			return []byte(text), nil
		}
	}
	if !in.IsPlain(path) {
		return nil, fs.ErrNotExist
	}
	return in.Read(path, maxCopied)
}

// switchTo replaces the memory by the one that the newest archive of a branch has. It returns how many lessons that are.
// The project's own lists belong to the branch: git has changed them already.
func switchTo(project, branch string) (restored int, err error) {
	in, home := projectfs.In(project), filepath.Join(project, state.DirName)
	var all []Lesson
	archives, _ := fs.Glob(in.FS(home), archiveDir+"/*/"+branchFile)
	for _, file := range archives { // sorted by date: the last one is the newest
		path := filepath.Join(home, filepath.FromSlash(file))
		if branchIn(in, path) != branch {
			continue
		}
		if all, err = load(in, filepath.Dir(path)); err != nil {
			return 0, err
		}
	}
	return len(all), write(in, home, all)
}
