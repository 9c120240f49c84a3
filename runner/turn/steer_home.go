package turn

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/agent"
	"ralph/runner/git"
	"ralph/runner/task/store"
	"ralph/state"
)

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
