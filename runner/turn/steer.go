package turn

// The files steer*.go protect the user's files that control a run: they restore those that
// an agent call destroyed, and report those that it changed. Git does not show them all:
// many projects ignore .ralph/.

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/state"
	"ralph/state/projectfs"
)

const (
	maxText  = 256 << 10 // bytes of a file to compare as text
	maxRead  = 16 << 20  // bytes of a file to compare at all
	maxSpecs = 1000      // files and folders
)

// gitData are the folders of a repository that contain many files and no program.
var gitData = []string{"objects", "refs", "logs", "info", "lfs", "rebase-merge"}

// steerFiles maps slash paths in the project to the content of existing files.
type steerFiles map[string]string

// steering reads the files that steer the run, before the call.
func (t *turn) steering() steerFiles {
	if t.a.Sandbox.On() && !t.a.Sandbox.Locks() { // then an agent can change its own settings at home
		t.w.steer.AtHome(t.w.env(), t.a.Agent.Spec.Env.State, t.a.Agent.Spec.Env.Fixed, t.a.Agent.Spec.Env.Copied)
	}
	return t.w.steer.Read(t.a.Dir)
}

// readSteering reads the settings, the prompt and the specs of a project, and the files that
// make git, a shell or another program start programs. more are those of agents and plans; folders end with a slash.
func readSteering(dir string, more []string) steerFiles {
	all, in := steerFiles{}, projectfs.In(dir)
	for _, name := range append([]string{".ralphrc", state.DirName + "/config.yaml", state.DirName + "/PROMPT.md",
		state.DirName + "/specs/", ".envrc"}, more...) {
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			all.walk(in, folder, func(string) bool { return true })
			continue
		}
		all.read(in, name, name)
	}
	all.readGit(dir)
	return all
}

// readGit reads git's files under the names that they have in .git, wherever they are.
func (all steerFiles) readGit(dir string) {
	root, ok := command.Root(dir)
	if !ok {
		root = dir
	}
	if info, err := os.Lstat(filepath.Join(root, dotGit)); err == nil && !info.IsDir() {
		all.read(projectfs.In(root), dotGit, dotGit)
	}
	own := command.MetaDir(root)
	common := own
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		all.read(projectfs.In(own), name, dotGit+"/"+name)
	}
	switch text := all[commonDir]; {
	case text == ".\n": // made by a sandbox that runs at the same time; it changes nothing
		delete(all, commonDir)
	case text != "" && !filepath.IsAbs(text):
		common = filepath.Join(own, strings.TrimRight(text, "\r\n"))
	case text != "":
		common = strings.TrimRight(text, "\r\n")
	}
	if all[dotGit+"/config.worktree"] == "" {
		delete(all, dotGit+"/config.worktree")
	}
	git, in := steerFiles{}, projectfs.In(common)
	git.read(in, "config", "config")
	git.walk(in, "hooks", func(string) bool { return true })
	git.walk(in, "modules", func(name string) bool { // of submodules
		base := path.Base(name)
		return base == "config" || base == "config.worktree" && size(in, name) > 0 || path.Base(path.Dir(name)) == "hooks"
	})
	for name, text := range git {
		all[dotGit+"/"+name] = text
	}
}

const (
	dotGit    = ".git"
	commonDir = dotGit + "/commondir"
)

func size(in projectfs.Dir, name string) int64 {
	info, err := in.Lstat(in.Path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// repairGit restores files that the call changed to lead git to another repository: git would start
// programs of that one. It returns what was changed; empty: nothing. If there was a change, do not trust the
// repository, not even about what else changed.
func repairGit(dir string, changed []git.ChangedFile) string {
	root, ok := command.Root(dir)
	if !ok {
		root = dir
	}
	meta := command.MetaDir(root) // the loop restores .git before its files: it sorts first
	for _, f := range changed {
		file := filepath.Join(root, dotGit)
		switch f.Path {
		case dotGit:
		case commonDir, dotGit + "/gitdir":
			file = filepath.Join(meta, filepath.Base(f.Path))
		default:
			continue
		}
		err := os.Remove(file)
		if f.Existed && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			err = os.WriteFile(file, []byte(f.Before), 0o644) // file: in the folder of git
		}
		why := fmt.Sprintf("%s was changed, which leads git to another repository", f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%s; ralph could not restore it: %v", why, err)
		}
		if _, err := os.Lstat(filepath.Join(root, dotGit)); err != nil { // a file had replaced the folder
			return why + "; ralph removed that file, and now there is no .git: if it was moved, move it back"
		}
		return why + "; ralph restored it"
	}
	return ""
}

// walk reads the wanted files of a folder. It skips git's samples, which git does not start.
func (all steerFiles) walk(in projectfs.Dir, folder string, wanted func(name string) bool) {
	left := maxSpecs
	_ = fs.WalkDir(in.FS(in.Path(folder)), ".", func(name string, d fs.DirEntry, err error) error {
		name = path.Join(folder, name)
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case d == nil:
			all.read(in, folder, folder) // it is a link, or below one
		case err != nil: // an unreadable file counts as missing
		case d.IsDir() && slices.Contains(gitData, d.Name()) && folder == "modules":
			return fs.SkipDir
		case !d.IsDir() && wanted(name) && path.Ext(name) != ".sample":
			all.read(in, name, name)
		}
		return nil
	})
}

// read adds a file. For a link it adds the target's path, not its content.
func (all steerFiles) read(in projectfs.Dir, file, name string) {
	full := in.Path(file)
	info, err := in.Lstat(full)
	if projectfs.IsLink(err) {
		if to, err := os.Stat(full); err == nil { // what changes below it shows, and not how it reads
			all[name] = fmt.Sprintf("below a link: %d bytes of %s", to.Size(), to.ModTime().Format(time.RFC3339Nano))
		}
		return
	}
	if err != nil || info.Mode()&fs.ModeSocket != 0 { // a sandbox puts a socket where a file is missing
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, _ := os.Readlink(full)
		all[name] = "a link to " + to
		return
	}
	data, err := in.Read(full, maxRead)
	switch {
	case err != nil:
		all[name] = fmt.Sprintf("not readable: %s, %d bytes", info.Mode(), info.Size())
	case len(data) > maxText || !utf8.Valid(data):
		all[name] = fmt.Sprintf("%d bytes, SHA-256 %x", len(data), sha256.Sum256(data))
	default:
		all[name] = string(data)
	}
}

// Changed compares the files with what they are now, sorted by path.
func (all steerFiles) Changed(now steerFiles) []git.ChangedFile {
	var found []git.ChangedFile
	add := func(name string) {
		f := git.ChangedFile{Path: name}
		f.Before, f.Existed = all[name]
		f.After, f.Exists = now[name]
		if f.Before != f.After || f.Existed != f.Exists {
			found = append(found, f)
		}
	}
	for name := range all {
		add(name)
	}
	for name := range now {
		if _, seen := all[name]; !seen {
			add(name)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found
}
