package turn

// This file protects the user's files that control a run: they restore those that
// an agent call destroyed, and report those that it changed. Git does not show them all:
// many projects ignore .ralph/.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"ralph/runner/agent"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/task/store"
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

// Steering is what steers agents in a project, and the programs that keep plans: all, or those with a plan in dir.
func Steering(agents agent.EnvFilter, dir string) agent.Steering {
	all := agents.Steering()
	files, topics := store.Steering(dir)
	return agent.Steering{Files: append(all.Files, files...), Topics: append(all.Topics, topics...)}
}

// steerMemory remembers the files as they were when it was first read. The zero value remembers nothing yet.
type steerMemory struct {
	Steering agent.Steering // the names to look for

	first steerFiles
	home  home
}

// Read reads the files of a project, and what AtHome has named.
func (m *steerMemory) Read(dir string) steerFiles {
	now := readSteering(dir, m.Steering.Files)
	m.home.read(now)
	if m.first == nil {
		m.first = now
	}
	return maps.Clone(now)
}

// Changed compares the files with what they were at first.
func (m *steerMemory) Changed(dir string) []git.ChangedFile { return m.first.Changed(m.Read(dir)) }

// AtHome adds what an agent keeps in the home folder of env, from now on. It compares files
// by digest, because they may contain keys. The starters are JSON files that the agent itself rewrites in
// each call: of these it compares only what starts programs. It leaves out names that are in state:
// Landlock can lock those.
func (m *steerMemory) AtHome(env, state, files, starters []string) {
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, "HOME="); ok {
			m.home.dir = dir
		}
	}
	missing := func(have, names []string) []string {
		return slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return slices.Contains(have, name) || slices.Contains(state, name) })
	}
	fresh := home{m.home.dir, missing(m.home.files, files), missing(m.home.starters, starters)}
	m.home.files, m.home.starters = append(m.home.files, fresh.files...), append(m.home.starters, fresh.starters...)
	if m.first != nil {
		fresh.read(m.first)
	}
}

// home says what to compare in the home folder. The zero value: nothing.
type home struct {
	dir             string
	files, starters []string
}

// read adds the files under names that begin with ~/.
func (h home) read(all steerFiles) {
	if h.dir == "" {
		return
	}
	for _, name := range h.files {
		left := maxSpecs
		_ = filepath.WalkDir(filepath.Join(h.dir, name), func(path string, d fs.DirEntry, err error) error {
			left--
			own := err == nil && slices.Contains(ownData(), d.Name())
			switch {
			case left < 0:
				return fs.SkipAll
			case own && d.IsDir():
				return fs.SkipDir
			case own || err != nil || d.IsDir():
				return nil // an unreadable file counts as missing
			}
			if rel, err := filepath.Rel(h.dir, path); err == nil {
				all["~/"+filepath.ToSlash(rel)] = digest(path)
			}
			return nil
		})
	}
	for _, name := range h.starters {
		all.readStarters(filepath.Join(h.dir, name), "~/"+name)
	}
}

// ownData names what the CLIs write themselves: the data of Claude Code's plugins, the skills that
// Codex unpacks when it starts, and the file in which qwen enables extensions.
func ownData() []string { return []string{"store", ".system", "extension-enablement.json"} }

func digest(path string) string {
	data, err := state.ReadFile(path, maxRead)
	if err != nil {
		return "not readable"
	}
	return fmt.Sprintf("%d bytes, SHA-256 %x", len(data), sha256.Sum256(data))
}

// starters returns the keys of a CLI's own state that make it start programs, or ask less.
func starters() []string {
	return []string{"mcpServers", "hooks", "env", "apiKeyHelper", "statusLine", "permissions", "allowedTools",
		"approvalMode", "sandbox"}
}

// readStarters adds the entries that start programs, a line for each.
func (all steerFiles) readStarters(path, name string) {
	data, err := state.ReadFile(path, maxRead)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var value any
	if err == nil {
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		all[name] = "not readable"
		return
	}
	var lines []string
	findStarters(value, "", func(line string) { lines = append(lines, line) })
	if len(lines) > 0 { // a file without such entries counts as missing
		all[name] = strings.Join(lines, "\n")
	}
}

// findStarters calls found for the starters in a value.
func findStarters(value any, at string, found func(line string)) {
	entries, ok := value.(map[string]any)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		path, entry := strings.TrimPrefix(at+"."+key, "."), entries[key]
		if !slices.Contains(starters(), key) {
			findStarters(entry, path, found)
			continue
		}
		parts, ok := entry.(map[string]any)
		if !ok {
			parts = map[string]any{"": entry}
		}
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			text, err := json.Marshal(parts[part])
			if empty := string(text); err == nil &&
				!slices.Contains([]string{"null", "{}", "[]", `""`, "false"}, empty) {
				found(fmt.Sprintf("%s %s SHA-256 %.8x", path, part, sha256.Sum256(text)))
			}
		}
	}
}

// maxProtected limits the size of a file to restore, in bytes.
const maxProtected = 16 << 20

// protectedFiles are files as they were before the call.
type protectedFiles []protectedFile

type protectedFile struct {
	path string
	data []byte
	mode fs.FileMode
}

// protectFiles remembers files of a project. It leaves out those that are missing or empty now: their
// readers report that.
func protectFiles(dir string, paths []string) protectedFiles {
	var all protectedFiles
	project := projectfs.In(dir)
	for _, path := range paths {
		info, err := project.Lstat(path)
		if err != nil {
			continue
		}
		if data, err := project.Read(path, maxProtected); err == nil && len(bytes.TrimSpace(data)) > 0 {
			all = append(all, protectedFile{path, data, info.Mode().Perm()})
		}
	}
	return all
}

// Restore restores the files that were removed, emptied or replaced by a link, and returns their names.
func (all protectedFiles) Restore(dir string) ([]string, error) {
	project := projectfs.In(dir)
	var damaged []string
	for _, f := range all {
		data, err := project.Read(f.path, maxProtected)
		if err == nil && len(bytes.TrimSpace(data)) > 0 {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !projectfs.IsLink(err) {
			continue // an unreadable file is not lost; a rule reports an unreadable plan
		}
		if err := project.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		if err := errors.Join(project.Clear(f.path), project.Write(f.path, f.data, f.mode)); err != nil {
			return damaged, fmt.Errorf("restore file: %w", err)
		}
		damaged = append(damaged, relative(dir, f.path))
	}
	return damaged, nil
}

// relative returns a path for people: relative to the project if it is inside.
func relative(dir, path string) string {
	if r, err := filepath.Rel(dir, path); err == nil && r != ".." && !strings.HasPrefix(r, "../") {
		return r
	}
	return path
}
