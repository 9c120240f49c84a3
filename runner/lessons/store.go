package lessons

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/memory"
	"ralph/state"
	"ralph/state/projectfs"
)

// The files, in the state directory.
const (
	File = "learnings.jsonl"
	Page = "LEARNINGS.md"
)

// pageMark is the first line of a page that ralph has written. A file without it is the user's.
const pageMark = "<!-- written by ralph; see: ralph learn -->"

// maxRead limits the size of a file, in bytes: agents can write to it, too.
const maxRead = 8 << 20

// Load reads the lessons of a project. It skips lines that are no valid lessons: an agent may have
// written them.
func Load(project string) ([]memory.Lesson, error) {
	return restore(projectfs.In(project), filepath.Join(project, state.DirName, File))
}

// restore reads one file of lessons.
func restore(in projectfs.Dir, path string) ([]memory.Lesson, error) {
	data, err := in.Read(path, maxRead)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the lessons: %w", err)
	}
	var all []memory.Lesson
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxRead)
	for lines.Scan() {
		var l memory.Lesson
		if json.Unmarshal(lines.Bytes(), &l) != nil || memory.Refuse(l.Text) != "" && !l.Person() {
			continue
		}
		fresh, ok := memory.New(l.Text, l.Kind, l.At)
		if ok {
			l.ID, l.Text = fresh.ID, fresh.Text
			all = append(all, l)
		}
	}
	return all, nil
}

// Save writes the lessons, their page, and the progress file of a project that has one; wrote is true if that file
// changed. was are the earlier lessons.
func Save(project string, was, all []memory.Lesson) (wrote bool, err error) {
	return save(project, was, all, false)
}

// save is Save. In a project of AIOS it also updates a MEMORY.md that has lessons; with sync, it adds them to one that
// has none.
func save(project string, was, all []memory.Lesson, sync bool) (wrote bool, err error) {
	in := projectfs.In(project)
	if err := writePages(in, filepath.Join(project, state.DirName), all); err != nil {
		return false, err
	}
	for _, path := range shared(project, sync) {
		changed, err := show(in, path, was, all)
		if wrote = wrote || changed; err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

// writePages writes the lessons for ralph and for people.
func writePages(in projectfs.Dir, dir string, all []memory.Lesson) error {
	var data bytes.Buffer
	for _, l := range all {
		line, _ := json.Marshal(l) // plain values: it cannot fail
		data.Write(append(line, '\n'))
	}
	if err := write(in, filepath.Join(dir, File), data.Bytes()); err != nil {
		return err
	}
	page := filepath.Join(dir, Page)
	if old, err := in.Read(page, maxRead); err == nil && !bytes.HasPrefix(old, []byte(pageMark)) {
		return nil // the user wrote it
	}
	return write(in, page, []byte(render(all)))
}

func write(in projectfs.Dir, path string, data []byte) error {
	if old, err := in.Read(path, maxRead); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := in.Write(path, data, 0o600); err != nil {
		return fmt.Errorf("write the lessons: %w", err)
	}
	return nil
}

// render returns the page for people.
func render(all []memory.Lesson) string {
	var b strings.Builder
	b.WriteString(pageMark + "\n\n# Learnings\n")
	for _, part := range []struct {
		kind  memory.Kind
		title string
	}{{memory.Pattern, "Patterns"}, {memory.Failure, "Check failures"}} {
		first := true
		for _, l := range all {
			if l.Kind != part.kind {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n## %s\n\n", part.title)
				first = false
			}
			fmt.Fprintf(&b, "- %s (%s)\n", l.Text, l.ID)
		}
	}
	return b.String()
}

// progressFiles are the files in which projects of other tools collect what they learned.
func progressFiles() []string {
	return []string{"progress.txt", ".ralph/progress.txt", "scripts/ralph/progress.txt"}
}

const patterns = "## Codebase Patterns"

// shared returns the files of the project that list the patterns.
func shared(project string, sync bool) (all []string) {
	in := projectfs.In(project)
	regular := func(name string) bool { return in.IsPlain(in.Path(name)) }
	if i := slices.IndexFunc(progressFiles(), regular); i >= 0 {
		all = append(all, filepath.Join(project, progressFiles()[i]))
	}
	ofAIOS := slices.ContainsFunc([]string{".aios-core", ".aiox-core"}, func(name string) bool {
		info, err := in.Lstat(in.Path(name))
		return err == nil && info.IsDir()
	})
	if path := filepath.Join(project, memoryFile); ofAIOS && regular(memoryFile) {
		data, err := in.Read(path, maxRead)
		if sync || err == nil && strings.Contains(string(data), patterns) {
			all = append(all, path)
		}
	}
	return all
}

// memoryFile is the file in which projects of AIOS collect what they learned.
const memoryFile = "MEMORY.md"

// show adds the new patterns to a file, under their heading, and removes the lines of those that
// are gone. It changes nothing else there.
func show(in projectfs.Dir, path string, was, all []memory.Lesson) (wrote bool, err error) {
	data, err := in.Read(path, maxRead)
	if err != nil {
		return false, fmt.Errorf("read the shared lessons: %w", err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	has := func(list []memory.Lesson, id string) bool {
		return slices.ContainsFunc(list, func(l memory.Lesson) bool { return l.ID == id && l.Kind == memory.Pattern })
	}
	changed := false
	for _, l := range was {
		if !has(all, l.ID) {
			n := len(lines)
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "- "+l.Text })
			changed = changed || len(lines) < n
		}
	}
	var fresh []string
	for _, l := range all {
		if l.Kind == memory.Pattern && !has(was, l.ID) && !strings.Contains(string(data), l.Text) {
			fresh = append(fresh, "- "+l.Text+"\n")
		}
	}
	if len(fresh) == 0 && !changed {
		return false, nil
	}
	if err := in.Update(path, []byte(insert(lines, fresh)), 0o644); err != nil {
		return false, fmt.Errorf("write the shared lessons: %w", err)
	}
	return true, nil
}
