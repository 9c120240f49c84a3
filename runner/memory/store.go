package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/state"
	"ralph/state/projectfs"
)

// The files, in the state directory and in the archives of branches.
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
func Load(project string) ([]Lesson, error) {
	return load(projectfs.In(project), filepath.Join(project, state.DirName))
}

func load(in projectfs.Dir, dir string) (all []Lesson, err error) {
	data, err := in.Read(filepath.Join(dir, File), maxRead)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the lessons: %w", err)
	}
	for line := range bytes.Lines(data) {
		var l Lesson
		if json.Unmarshal(line, &l) != nil || !l.Person() && Refuse(l.Text) != "" {
			continue
		}
		fresh := New(l.Text, l.At)
		if l.ID, l.Text = fresh.ID, fresh.Text; l.Text != "" {
			all = append(all, l)
		}
	}
	return all, nil
}

// Save writes the lessons, their page, and the project's own lists of patterns; wrote is true if one of these changed.
// was are the earlier lessons.
func Save(project string, was, all []Lesson) (wrote bool, err error) {
	return save(project, was, all, false)
}

// save is Save. With memoryFile, it begins a list in the MEMORY.md of a project of AIOS.
func save(project string, was, all []Lesson, memoryFile bool) (wrote bool, err error) {
	if err := write(projectfs.In(project), filepath.Join(project, state.DirName), all); err != nil {
		return false, err
	}
	for _, path := range lists(project, memoryFile) {
		changed, err := show(projectfs.In(project), path, was, all)
		if wrote = wrote || changed; err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

// write writes the lessons for ralph and for people.
func write(in projectfs.Dir, dir string, all []Lesson) error {
	var data bytes.Buffer
	for _, l := range all {
		line, _ := json.Marshal(l) // plain values: it cannot fail
		data.Write(append(line, '\n'))
	}
	for name, text := range map[string][]byte{File: data.Bytes(), Page: []byte(page(all))} {
		path := filepath.Join(dir, name)
		old, err := in.Read(path, maxRead)
		if errors.Is(err, fs.ErrNotExist) && len(all) == 0 ||
			err == nil && (bytes.Equal(old, text) || name == Page && !bytes.HasPrefix(old, []byte(pageMark))) {
			continue
		}
		if err := in.Write(path, text, 0o600); err != nil {
			return fmt.Errorf("write the lessons: %w", err)
		}
	}
	return nil
}

// page returns the page for people.
func page(all []Lesson) string {
	text := pageMark + "\n\n# Learnings\n\n"
	for _, l := range all {
		text += fmt.Sprintf("- %s (%s)\n  - Context: %s\n  - Time: %s\n", l.Text, l.ID,
			strings.Join(append([]string{cmp.Or(l.Task, "a person")}, l.Paths...), ", "), l.At.Format(time.RFC3339))
	}
	return text
}

// Undo removes the lessons that only this turn taught, also from the archives of branches: a later switch would restore
// them. It returns how many it removed from the current memory. wrote is true if it changed a list of the project.
func Undo(project string, t Turn) (forgotten int, wrote bool, err error) {
	in, home := projectfs.In(project), filepath.Join(project, state.DirName)
	taught := func(l Lesson) bool { return slices.Contains(l.Turns, t) }
	archived, _ := fs.Glob(in.FS(home), archiveDir+"/*/"+File)
	for _, file := range append(archived, File) {
		dir := filepath.Dir(filepath.Join(home, filepath.FromSlash(file)))
		all, err := load(in, dir)
		if err != nil {
			return 0, false, err
		}
		left := without(all, t)
		switch {
		case !slices.ContainsFunc(all, taught):
		case dir == home:
			// An undo may have removed lines of lessons that stay from the lists: Save adds them again.
			was := slices.DeleteFunc(slices.Clone(all), func(l Lesson) bool { return taught(l) && len(l.Turns) > 1 })
			wrote, err = Save(project, was, left)
			forgotten = len(all) - len(left)
		default:
			err = write(in, dir, left)
		}
		if err != nil {
			return 0, wrote, err
		}
	}
	return forgotten, wrote, nil
}
