package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs/lazy"
	"ralph/runner/roles"
	"ralph/state/projectfs"
)

// Projects of other tools list what they learned in a file of their own, under this heading.
const patterns = "## Codebase Patterns"

func progressFiles() []string {
	return []string{"progress.txt", ".ralph/progress.txt", "scripts/ralph/progress.txt"}
}

// memoryFile is the one of AIOS.
const memoryFile = "MEMORY.md"

// Lists returns the files of the project that list the patterns.
func Lists(project string) []string { return lists(project, false) }

func lists(project string, memory bool) (all []string) {
	in := projectfs.In(project)
	for _, name := range progressFiles() {
		if path := in.Path(name); in.IsPlain(path) {
			all = append(all, path)
			break
		}
	}
	if path := in.Path(memoryFile); (roles.AIOSOptions{Enabled: "auto"}).In(project) && in.IsPlain(path) {
		if data, _ := in.Read(path, maxRead); memory || strings.Contains(string(data), patterns) {
			all = append(all, path)
		}
	}
	return all
}

// show adds the new patterns to a file, under their heading, and removes the lines of those that
// are gone. It changes nothing else there.
func show(in projectfs.Dir, path string, was, all []Lesson) (wrote bool, err error) {
	data, err := in.Read(path, maxRead)
	if err != nil {
		return false, err
	}
	missing := func(list []Lesson, l Lesson) bool {
		return !slices.ContainsFunc(list, func(o Lesson) bool { return o.ID == l.ID })
	}
	text, gone := string(data), map[string]bool{}
	for _, l := range was {
		gone[l.Text] = missing(all, l)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return gone[pattern(line)] })
	var fresh []string
	for _, l := range all {
		if missing(was, l) && !strings.Contains(text, l.Text) {
			fresh = append(fresh, fmt.Sprintf("- %s (%s, %s)\n", l.Text, l.At.Format(time.DateOnly), cmp.Or(l.Task, "a person")))
		}
	}
	shown := insert(lines, fresh)
	if shown == text {
		return false, nil
	}
	err = in.Update(path, []byte(shown), 0o644)
	return err == nil, err
}

// pattern is the text of a line in a list of patterns, without when and by which task it was learned; empty: it is no such
// line.
func pattern(line string) string {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	if !ok {
		return ""
	}
	return learned().ReplaceAllString(text, "")
}

var learned = lazy.Regexp(` \(\d{4}-\d\d-\d\d, .*\)$`)

// others returns the patterns in the project's own lists that are none of the lessons.
func others(project string, lessons []Lesson) (texts []string) {
	for _, path := range Lists(project) {
		data, _ := projectfs.In(project).Read(path, maxRead) // a prompt can do without
		_, list := split(string(data))
		for _, line := range list {
			text := New(pattern(line), time.Time{}).Text
			known := func(l Lesson) bool { return l.Text == text }
			if text != "" && Refuse(text) == "" && !slices.ContainsFunc(lessons, known) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// split separates the list of patterns from the rest of a file.
func split(text string) (rest string, list []string) {
	lines := strings.SplitAfter(text, "\n")
	start := heading(lines) + 1
	end := start
	for start > 0 && end < len(lines) && strings.HasPrefix(lines[end], "- ") {
		end++
	}
	return strings.Join(slices.Concat(lines[:start], lines[end:]), ""), lines[start:end:end]
}

func heading(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == patterns })
}

// insert adds patterns below their heading, and the heading if it is missing.
func insert(lines, fresh []string) string {
	at := heading(lines)
	if at < 0 && len(fresh) > 0 {
		lines, at = slices.Concat([]string{patterns, "\n"}, lines), 0
	}
	if len(fresh) > 0 {
		lines[at] = strings.TrimRight(lines[at], "\n") + "\n"
		lines = slices.Insert(lines, at+1, fresh...)
	}
	return strings.Join(lines, "")
}
