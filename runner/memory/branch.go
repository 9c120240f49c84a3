package memory

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
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

	gitTimeout = 20 * time.Second
	maxFiles   = 200      // of a plan that is a folder
	maxCopied  = 64 << 20 // bytes of a file
)

// OnBranch records on which branch a run starts. If the last run was on another branch, OnBranch
// copies that branch's plan, notes, memory and report into an archive, and restores the memory
// that the archive has for the new branch. It moves no file of the user. said is one line for
// the user; empty: the branch is the same, or the user does not want this.
func (c LessonOptions) OnBranch(project, branch, plan string, now time.Time) (said string, err error) {
	in := projectfs.In(project)
	note := filepath.Join(project, state.DirName, branchFile)
	before := branchIn(in, note)
	if !c.ArchiveBranch || branch == "" || branch == before {
		return "", nil // without a branch, HEAD is detached, perhaps by a rebase
	}
	if before != "" {
		to, err := archive(project, before, plan, now)
		if err != nil {
			return "", fmt.Errorf("archive branch %q: %w", before, err)
		}
		restored, err := switchTo(project, branch)
		if err != nil {
			return "", fmt.Errorf("switch the memory to branch %q: %w", branch, err)
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
func archive(project, branch, plan string, now time.Time) (folder string, err error) {
	in, home := projectfs.In(project), filepath.Join(project, state.DirName)
	files := map[string]string{} // by their path in the archive
	keep := func(from projectfs.Dir, path string) error {
		if !from.IsPlain(path) {
			return nil
		}
		data, err := from.Read(path, maxCopied)
		files[filepath.Base(path)] = string(data)
		return err
	}
	paths := []string{plan}
	for _, name := range slices.Backward(progressFiles()) { // they share a name: the first wins
		paths = append(paths, in.Path(name))
	}
	for _, path := range paths {
		if kept := committed(project, branch, path); kept != nil {
			maps.Copy(files, kept)
			continue
		}
		from := in
		if rel, err := filepath.Rel(project, path); err != nil || !filepath.IsLocal(rel) {
			from = projectfs.In(filepath.Dir(path)) // a plan elsewhere
		}
		if err := keep(from, path); err != nil {
			return "", err
		}
	}
	own := []string{branchFile, File, Page}
	if reports, _ := fs.Glob(in.FS(home), "reports/*.md"); len(reports) > 0 {
		own = append(own, slices.Max(reports))
	}
	for _, name := range own {
		if err := keep(in, filepath.Join(home, name)); err != nil {
			return "", err
		}
	}
	folder = filepath.Join(state.DirName, archiveDir, now.Format(time.DateOnly)+"-"+folderOf(branch))
	for name, text := range files {
		path := filepath.Join(project, folder, name)
		if err := in.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := in.Write(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return filepath.ToSlash(folder), nil
}

// folderOf turns the name of a branch into that of a folder. It replaces the characters that some file systems do not
// allow, and then appends a digest, because another branch may have the resulting name.
func folderOf(branch string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, branch)
	if name != branch {
		name += fmt.Sprintf("-%.3x", sha256.Sum256([]byte(branch)))
	}
	return name
}

// committed returns the files of a plan as they are committed on a branch, by their paths below the folder of the
// plan: the user has already checked out another branch. nil: git does not have it, or it has uncommitted changes,
// which the checkout kept.
func committed(project, branch, plan string) map[string]string {
	ctx, done := context.WithTimeout(context.Background(), gitTimeout)
	defer done()
	rel, err := filepath.Rel(project, plan)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	changed, err := command.Run(ctx, project, "status", "--porcelain", "--", rel)
	if err != nil || changed != "" {
		return nil
	}
	ref := "refs/heads/" + branch
	list, err := command.Run(ctx, project, "ls-tree", "-r", "-z", "--name-only", ref, "--", rel)
	names := strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	if err != nil || len(names) == 0 {
		return nil
	}
	for i, name := range names {
		names[i] = "./" + name
	}
	texts, err := command.Contents(ctx, project, ref, names[:min(len(names), maxFiles)])
	if err != nil {
		return nil
	}
	files := map[string]string{}
	for name, text := range texts {
		below, err := filepath.Rel(filepath.Dir(rel), filepath.FromSlash(name))
		if err == nil && filepath.IsLocal(below) {
			files[below] = text
		}
	}
	return files
}

// switchTo replaces the memory by the one that the newest archive of a branch has. It returns how many lessons that are.
// The project's own lists belong to the branch: git has changed them already.
func switchTo(project, branch string) (restored int, err error) {
	in, home := projectfs.In(project), filepath.Join(project, state.DirName)
	was, err := Load(project)
	if err != nil {
		return 0, err
	}
	var all []Lesson
	archives, _ := fs.Glob(in.FS(home), archiveDir+"/*/"+branchFile)
	for _, file := range slices.Backward(archives) { // sorted by name, and so by date
		path := filepath.Join(home, filepath.FromSlash(file))
		if branchIn(in, path) != branch {
			continue
		}
		if all, err = load(in, filepath.Dir(path)); err != nil {
			return 0, err
		}
		break
	}
	if len(was)+len(all) == 0 {
		return 0, nil
	}
	return len(all), write(in, home, all)
}
