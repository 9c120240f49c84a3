package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// Place says where to move a task.
type Place string

// The places.
const (
	First  Place = "first"
	Last   Place = "last"
	Before Place = "before"
	After  Place = "after"
)

// Unsupported is the error of a change that the format of the plan does not allow: trying again does not help.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

func unsupported(format string, args ...any) error { return Unsupported(fmt.Sprintf(format, args...)) }

// Add adds an open task at the end of the plan, above the optional sections, and returns it.
func Add(f File, title string) (task.Task, error) {
	var added task.Task
	if program, ok := f.program(); ok {
		return program.add(f.Path, title)
	}
	err := update(f, func(p *plan) ([]edit, error) {
		if p.New == nil {
			return nil, unsupported("in %s, each task is a file of its own; write it with that tool", p.format.Name)
		}
		at, text := p.New(p.file(p.First.File), p.Parsed, p.Title(title))
		edits := []edit{{at, text}}
		after, err := p.parseWith(edits)
		if err != nil {
			return nil, err
		}
		if len(after.Tasks) != len(p.Tasks)+1 {
			return nil, fmt.Errorf("%q would not be read as one task", title)
		}
		known := task.Index(p.Tasks)
		for _, t := range after.Tasks {
			if _, is := known[t.ID]; !is {
				added = t
			}
		}
		return edits, p.checkIDs(after.Tasks, -1)
	})
	if err != nil {
		return added, fmt.Errorf("add task: %w", err)
	}
	return added, nil
}

// Rename gives a task another title and returns it with that.
func Rename(f File, t task.Task, title string) (task.Task, error) {
	return change(f, t, func(p *plan, i int) ([]edit, error) {
		at := p.Spots[i].Title
		if at.End == 0 {
			return nil, cmp.Or(p.keptByProgram(), unsupported("ralph cannot change its title here; edit the file"))
		}
		if strings.TrimSpace(title) == "" {
			return nil, errors.New("the title is empty")
		}
		edits := []edit{{at, p.Title(title)}}
		if number := p.Tasks[i].Number(); number != "" { // others may depend on it
			after, err := p.parseWith(edits)
			err = cmp.Or(err, p.checkIDs(after.Tasks, i))
			if err == nil && i < len(after.Tasks) && task.Hashed(after.Tasks[i].ID) {
				edits[0].Text = number + edits[0].Text
			}
			return edits, err
		}
		return edits, nil
	})
}

// Text returns the text of a task in its file.
func Text(f File, t task.Task) (text string, err error) {
	p, err := open(f)
	return p.text(t, cmp.Or(err, p.keptByProgram()))
}

// Replace replaces the text that Text returned, and returns the resulting task. It fails if the text has changed since.
func Replace(f File, t task.Task, old, text string) (task.Task, error) {
	return change(f, t, func(p *plan, i int) ([]edit, error) {
		item := p.Spots[i].Item
		if string(p.file(item.File).Data[item.Start:item.End]) != old {
			return nil, errors.New("somebody else has changed it meanwhile")
		}
		return []edit{{item, text}}, nil
	})
}

// Remove removes a task from the plan, with those below it. It first calls keep with the text and the removed tasks,
// and again if somebody else writes meanwhile.
func Remove(f File, t task.Task, keep func(text string, gone []task.Task) error) error {
	f.OptionalSections = nil // their open tasks do not go either
	return update(f, func(p *plan) ([]edit, error) {
		i, err := task.Locate(p.Tasks, t)
		if err != nil || p.New == nil {
			return nil, cmp.Or(err, unsupported("in %s, each task is a file of its own", p.format.Name))
		}
		item := p.Spots[i].Item
		data := p.file(item.File).Data
		edits := []edit{{item.Cut(data), ""}}
		after, err := p.parseWith(edits)
		if err != nil {
			return nil, err
		}
		stays := func(t task.Task) bool { _, is := after.List.Find(t.ID); return is }
		gone := slices.DeleteFunc(slices.Clone(p.Tasks), stays)
		if len(after.Tasks)+len(gone) != len(p.Tasks) || slices.ContainsFunc(gone, task.Task.Pending) {
			return nil, fmt.Errorf("ralph cannot remove task %q from the plan without removing others", t.ID)
		}
		return edits, keep(string(data[item.Start:item.End]), gone)
	})
}

// CanRemove reports whether Remove works in a plan of this format.
func CanRemove(list task.List) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return f.Name == list.Format && f.New != nil })
}

// change edits one task and returns the result.
func change(f File, t task.Task, how func(p *plan, i int) ([]edit, error)) (now task.Task, err error) {
	err = update(f, func(p *plan) ([]edit, error) {
		i, err := task.Locate(p.Tasks, t)
		if err != nil {
			return nil, err
		}
		edits, err := how(p, i)
		if err != nil {
			return nil, err
		}
		after, err := p.parseWith(edits)
		if err != nil {
			return nil, err
		}
		if len(after.Tasks) != len(p.Tasks) {
			return nil, fmt.Errorf("the plan would have %d tasks instead of %d", len(after.Tasks), len(p.Tasks))
		}
		now = after.Tasks[i]
		return edits, p.checkIDs(after.Tasks, i)
	})
	if err != nil {
		return now, fmt.Errorf("edit task %q: %w", t.Title, err)
	}
	return now, nil
}

// checkIDs returns an error if a task loses its id because two would have it; other tasks may depend on it. It ignores
// the task at index except.
func (p *plan) checkIDs(after []task.Task, except int) error {
	stays := task.Index(after)
	for i, t := range p.Tasks {
		if _, is := stays[t.ID]; !is && i != except && !task.Hashed(t.ID) {
			return unsupported("another task has the id %q, with which this title begins", t.ID)
		}
	}
	return nil
}

// Move moves a task before or after another one, or to an end of the plan. If a value orders the tasks,
// the task gets that of its new neighbour.
func Move(f File, t task.Task, where Place, other task.Task) error {
	err := update(f, func(p *plan) ([]edit, error) {
		from, err := task.Locate(p.Tasks, t)
		if err != nil {
			return nil, err
		}
		order := p.siblings(from)
		if order == nil {
			return nil, cmp.Or(p.keptByProgram(), unsupported("in %s, the file names decide the order", p.format.Name))
		}
		var to int
		switch where {
		case First:
			to = order[0]
		case Last:
			to = order[len(order)-1]
		default:
			if to, err = task.Locate(p.Tasks, other); err != nil {
				return nil, err
			}
			if !slices.Contains(order, to) {
				return nil, unsupported("%q is not on the same level of the same list", p.Tasks[to].ID)
			}
		}
		if to == from {
			return nil, nil
		}
		return p.moveEdits(order, from, to, where == Last || where == After), nil
	})
	if err != nil {
		return fmt.Errorf("move task %q: %w", t.Title, err)
	}
	return nil
}

// siblings returns the tasks with which a task can change places, in their order;
// nil: none, because each is a file.
func (p *plan) siblings(i int) []int {
	if p.New == nil {
		return nil
	}
	var all []int
	parent := func(i int) int {
		for j := i - 1; j >= 0; j-- {
			if p.Tasks[j].Depth < p.Tasks[i].Depth {
				return j
			}
		}
		return -1
	}
	own := parent(i)
	for j, t := range p.Tasks {
		if t.Depth == p.Tasks[i].Depth && p.Spots[j].Item.File == p.Spots[i].Item.File && parent(j) == own {
			all = append(all, j)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return p.Tasks[all[i]].Priority < p.Tasks[all[j]].Priority })
	return all
}

// moveEdits returns the edits that put a task next to another.
func (p *plan) moveEdits(order []int, from, to int, after bool) []edit {
	text := string(p.file(p.Spots[from].Item.File).Data)
	item, target := p.Spots[from].Item, p.Spots[to].Item
	block := text[item.Start:item.End]
	if mine, its := p.Spots[from].Order, p.Spots[to].Order; mine.End > 0 && its.End > 0 {
		block = text[item.Start:mine.Start] + text[its.Start:its.End] + text[mine.End:item.End]
	}
	if p.Spots[from].Order.End > 0 || strings.HasPrefix(block, "{") {
		now := slices.DeleteFunc(slices.Sorted(slices.Values(order)), func(i int) bool { return i == from })
		at := slices.Index(now, to)
		if after {
			at++
		}
		return p.reorder(slices.Insert(now, at, from), from, block)
	}
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	if !strings.HasSuffix(block, "\n") {
		block += end
	}
	at := target.Start
	if after {
		at = target.End
	}
	if at == item.Start || at == item.End {
		return nil // it is already there
	}
	if at > 0 && text[at-1] != '\n' { // the last line has no end
		block = end + strings.TrimSuffix(block, end)
	}
	return []edit{{task.Range{File: item.File, Start: at, End: at}, block}, {item, ""}}
}

// reorder returns the edits that give the records of an array another order and keep the text between them. The
// moved record gets another text.
func (p *plan) reorder(order []int, moved int, text string) []edit {
	var edits []edit
	for n, slot := range slices.Sorted(slices.Values(order)) {
		item := p.Spots[order[n]].Item
		record := string(p.file(item.File).Data[item.Start:item.End])
		if order[n] == moved {
			record = text
		}
		edits = append(edits, edit{p.Spots[slot].Item, record})
	}
	return edits
}

// file returns a file as the format reads it.
func (p *plan) file(i int) task.File { return task.File{Data: p.files[i].data[p.files[i].bom:]} }

// parseWith returns the plan with the edits.
func (p *plan) parseWith(edits []edit) (plan, error) {
	texts := p.apply(slices.Clone(edits))
	after := plan{format: p.format, in: p.in}
	for i, f := range p.files {
		if text, changed := texts[i]; changed {
			f.data = text
		}
		after.files = append(after.files, f)
	}
	err := after.finish(p.Path, task.Input{Folder: p.folder})
	return after, err
}

// TextIn is Text for other content of the plan, which must be one file.
func TextIn(path string, data []byte, t task.Task) (text string, err error) {
	p := plan{in: projectfs.In(filepath.Dir(path)), files: []planFile{{path: path, data: data}}}
	return p.text(t, p.parse(path, nil))
}

// text returns the text of a task in its file, unless err is set.
func (p *plan) text(t task.Task, err error) (string, error) {
	if err != nil {
		return "", err
	}
	i, err := task.Locate(p.Tasks, t)
	if err != nil {
		return "", err
	}
	item := p.Spots[i].Item
	return string(p.file(item.File).Data[item.Start:item.End]), nil
}
