package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"ralph/state/projectfs"
)

// minUsers is the number of tasks that must have used a lesson before ralph proposes it for a
// document.
const minUsers = 3

const section = "## Learned"

// Proposal is a change of a document of the project that a person may accept.
type Proposal struct {
	Name    string // relative to the project
	Lessons []Lesson
	exists  bool
	before  string
}

// Proposals returns the lessons that at least minUsers tasks have used, grouped by the document that should have them.
func Proposals(project string, all []Lesson) (list []Proposal, err error) {
	in := projectfs.In(project)
	for _, l := range all {
		if l.In != "" || l.Kind != Pattern || len(l.UsedBy) < minUsers {
			continue
		}
		name := document(in, l.Paths)
		i := slices.IndexFunc(list, func(p Proposal) bool { return p.Name == name })
		if i < 0 {
			p := Proposal{Name: name}
			if p.before, p.exists, err = p.read(in); err != nil {
				return nil, err
			}
			i, list = len(list), append(list, p)
		}
		list[i].Lessons = append(list[i].Lessons, l)
	}
	return list, nil
}

func (p Proposal) read(in projectfs.Dir) (text string, exists bool, err error) {
	data, err := in.Read(in.Path(p.Name), maxRead)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read %q: %w", p.Name, err)
	}
	return string(data), err == nil, nil
}

// document returns the AGENTS.md or CLAUDE.md of the innermost folder that contains all paths and
// has one; else the project's AGENTS.md, which may not exist yet.
func document(in projectfs.Dir, paths []string) string {
	folder := "."
	for i, p := range paths {
		if i == 0 {
			folder = path.Dir(p)
		}
		for folder != "." && folder != "/" && !strings.HasPrefix(p, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	for {
		for _, name := range [...]string{"AGENTS.md", "CLAUDE.md"} {
			if name = path.Join(folder, name); in.IsPlain(in.Path(name)) {
				return name
			}
		}
		if folder == "." || folder == "/" {
			return "AGENTS.md"
		}
		folder = path.Dir(folder)
	}
}

// change returns the lines of the document, those to add, and how many lines come before them.
func (p Proposal) change() (old, added []string, at int) {
	if p.before != "" {
		old = strings.Split(strings.TrimRight(p.before, "\n"), "\n")
	}
	at = len(old)
	if head := slices.Index(old, section); head >= 0 {
		if next := slices.IndexFunc(old[head+1:], func(line string) bool { return strings.HasPrefix(line, "#") }); next >= 0 {
			at = head + 1 + next
		}
		for at > head+1 && strings.TrimSpace(old[at-1]) == "" {
			at--
		}
	} else if added = []string{section, ""}; at > 0 {
		added = slices.Insert(added, 0, "")
	}
	for _, l := range p.Lessons {
		added = append(added, "- "+l.Text)
	}
	return old, added, at
}

// Diff returns the change as a patch.
func (p Proposal) Diff() string {
	old, added, at := p.change()
	from, first := "a/"+p.Name, max(0, at-3)
	if !p.exists {
		from = "/dev/null"
	}
	start := min(first+1, len(old))
	text := fmt.Sprintf("--- %s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n", from, p.Name, start, at-first, max(start, 1),
		at-first+len(added))
	for _, line := range old[first:at] {
		text += " " + line + "\n"
	}
	return text + "+" + strings.Join(added, "\n+") + "\n"
}

// Accept writes the document and records in the lessons where they are now. all are the current lessons:
// the person may have taken time to decide.
func (p Proposal) Accept(project string, all []Lesson) error {
	in := projectfs.In(project)
	if now, _, err := p.read(in); err != nil {
		return err
	} else if now != p.before {
		return fmt.Errorf("%s has changed meanwhile; run ralph learn propose again", p.Name)
	}
	old, added, at := p.change()
	text := strings.Join(slices.Insert(old, at, added...), "\n") + "\n"
	if err := in.Update(in.Path(p.Name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %q: %w", p.Name, err)
	}
	was := slices.Clone(all)
	for i, l := range all {
		if slices.ContainsFunc(p.Lessons, func(o Lesson) bool { return o.ID == l.ID }) {
			all[i].In = p.Name
		}
	}
	_, err := Save(project, was, all)
	return err
}
