package lessons

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/memory"
	"ralph/state/projectfs"
)

// minUsers is the number of tasks that must have used a lesson before ralph proposes it for a
// document.
const minUsers = 3

// Proposal is a change of a document of the project that a person may accept.
type Proposal struct {
	Name    string // relative to the project
	Lessons []memory.Lesson
	before  string
	exists  bool
}

const section = "## Learned"

// Proposals returns the lessons that at least minUsers tasks have used, grouped by the document that should have them.
func Proposals(project string, all []memory.Lesson) ([]Proposal, error) {
	var list []Proposal
	for _, l := range all {
		if l.In != "" || l.Kind != memory.Pattern || len(l.UsedBy) < minUsers {
			continue
		}
		name := document(project, l.Paths)
		i := slices.IndexFunc(list, func(p Proposal) bool { return p.Name == name })
		if i < 0 {
			data, err := projectfs.In(project).Read(filepath.Join(project, name), maxRead)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("read %q: %w", name, err)
			}
			i, list = len(list), append(list, Proposal{Name: name, before: string(data), exists: err == nil})
		}
		list[i].Lessons = append(list[i].Lessons, l)
	}
	return list, nil
}

// document returns the AGENTS.md or CLAUDE.md of the innermost folder that contains all paths and
// has one; else the project's AGENTS.md, which may not exist yet.
func document(project string, paths []string) string {
	folder := "."
	for i, p := range paths {
		if i == 0 {
			folder = path.Dir(p)
		}
		for folder != "." && folder != "/" && !strings.HasPrefix(p, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	for ; filepath.IsLocal(folder); folder = path.Dir(folder) {
		for _, name := range [...]string{"AGENTS.md", "CLAUDE.md"} {
			if projectfs.In(project).IsPlain(filepath.Join(project, folder, name)) {
				return path.Join(folder, name)
			}
		}
		if folder == "." {
			break
		}
	}
	return "AGENTS.md"
}

// lines returns the added lines, and the number of lines before them.
func (p Proposal) lines() (added []string, at int) {
	old := strings.Split(strings.TrimRight(p.before, "\n"), "\n")
	if p.before == "" {
		old = nil
	}
	at = len(old)
	head := slices.Index(old, section)
	if head < 0 {
		if len(old) > 0 {
			added = append(added, "")
		}
		added = append(added, section, "")
	} else {
		next := slices.IndexFunc(old[head+1:], func(line string) bool { return strings.HasPrefix(line, "#") })
		if next >= 0 {
			at = head + 1 + next
		}
		for at > head+1 && strings.TrimSpace(old[at-1]) == "" {
			at--
		}
	}
	for _, l := range p.Lessons {
		added = append(added, "- "+l.Text)
	}
	return added, at
}

// Diff returns the change as a patch.
func (p Proposal) Diff() string {
	added, at := p.lines()
	from := "a/" + p.Name
	if !p.exists {
		from = "/dev/null"
	}
	var b strings.Builder
	old := strings.Split(strings.TrimRight(p.before, "\n"), "\n")
	context := old[max(0, at-3):at]
	if p.before == "" {
		context = nil
	}
	start := at - len(context) + 1
	if p.before == "" {
		start = 0
	}
	fmt.Fprintf(&b, "--- %s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n", from, p.Name, start, len(context), max(start, 1),
		len(context)+len(added))
	for _, line := range context {
		b.WriteString(" " + line + "\n")
	}
	for _, line := range added {
		b.WriteString("+" + line + "\n")
	}
	return b.String()
}

// Accept writes the document and records in the lessons where they are now. all are the current lessons:
// the person may have taken time to decide.
func (p Proposal) Accept(project string, all []memory.Lesson) error {
	in := projectfs.In(project)
	data, err := in.Read(in.Path(p.Name), maxRead)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %q: %w", p.Name, err)
	}
	if string(data) != p.before {
		return fmt.Errorf("%s has changed meanwhile; run ralph learn propose again", p.Name)
	}
	added, at := p.lines()
	var old []string
	if p.before != "" {
		old = strings.Split(strings.TrimRight(p.before, "\n"), "\n")
	}
	text := strings.Join(slices.Insert(old, at, added...), "\n") + "\n"
	if err := in.Update(in.Path(p.Name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %q: %w", p.Name, err)
	}
	was := slices.Clone(all)
	for i, l := range all {
		if slices.ContainsFunc(p.Lessons, func(o memory.Lesson) bool { return o.ID == l.ID }) {
			all[i].In = p.Name
		}
	}
	_, err = Save(project, was, all)
	return err
}
