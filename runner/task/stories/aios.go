package stories

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/runner/task"
)

// AIOS reads a folder of AIOS stories: *.story.md and STORY-*.md.
func AIOS(in task.Input) (task.Parsed, error) {
	return folder(in, task.Vocabulary(map[task.State]string{task.Open: "Ready|Approved", task.Active: "In Progress",
		task.Review: "Ready for Review|InReview|Review|Ready for Done", task.Done: "Done|Completed",
		task.Blocked: "Blocked|Draft"}))
}

// BMAD4 reads a folder of stories of BMAD version 4: 1.2.title.md.
func BMAD4(in task.Input) (task.Parsed, error) {
	return folder(in, task.Vocabulary(map[task.State]string{task.Open: "Approved|Ready", task.Active: "InProgress|In Progress",
		task.Review: "Review|Ready for Review", task.Done: "Done", task.Blocked: "|Draft"}))
}

// folder reads a folder with one story per file.
func folder(in task.Input, words task.Words) (task.Parsed, error) {
	p := task.Parsed{List: task.List{Marking: "Set the story's status to `Done` in `%s`",
		Words: words.Write}}
	seen := make(map[string]string, len(in.Files))
	p.Tasks, p.Spots = make([]task.Task, 0, len(in.Files)), make([]task.Spot, 0, len(in.Files))
	for i, s := range readAll(in.Files, 0, words,
		func(d *doc) (task.Task, task.Spot) { return d.story(storyID(d.Name)) }) {
		name := in.Files[i].Name
		if s.err != nil {
			return p, s.err
		}
		if first := seen[s.ID]; first != "" {
			p.Faults = append(p.Faults, name+" line 1: "+first+" is also story "+s.ID+": each must be unique")
			s.ID = name
		}
		seen[s.ID] = name
		if s.status.fault != "" {
			p.Warnings = append(p.Warnings, s.status.fault)
		}
		if s.status.line == 0 {
			p.Warnings = append(p.Warnings, name+": the story has no status, so nobody works on it; write one below a heading "+
				"\"## Status\": "+words.Known())
			s.status.state = task.Blocked
		}
		s.add(&p)
	}
	byNumber(&p)
	return p, nil
}

// story returns the task of a file, without its state.
func (d *doc) story(id string) (task.Task, task.Spot) {
	t := task.Task{ID: id, Title: d.title(id), File: d.Name,
		Description: paragraph(d.section("story", "user story", "descrição", "description"))}
	var boxes, steps []task.Place
	t.Criteria, boxes = d.items(d.section("acceptance criteria", "critérios de aceitação", "critérios de aceite"))
	_, steps = d.items(d.section("tasks / subtasks", "tasks", "tasks/subtasks"))
	spot := task.Spot{States: append(boxes, steps...), Item: task.Range{File: d.index, End: len(d.Data)},
		Title: d.titleAt}
	return t, spot
}

var storyNumber = lazy.Regexp(`^(?i:story[-_ ]?)?(\d+(?:\.\d+)+)`)

// storyID returns the number of a story from its file name, else the name.
func storyID(name string) string {
	base := path.Base(name)
	if m := storyNumber().FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return strings.TrimSuffix(strings.TrimSuffix(base, ".md"), ".story")
}

// byNumber sorts tasks by the numbers in their files' names.
func byNumber(p *task.Parsed) {
	type entry struct {
		key  string
		task task.Task
		spot task.Spot
	}
	all := make([]entry, len(p.Tasks))
	for i, t := range p.Tasks {
		// Numbers in the key have one length: 2 comes before 10.
		key := digits().ReplaceAllStringFunc(t.File, func(n string) string { return fmt.Sprintf("%20s", strings.TrimLeft(n, "0")) })
		all[i] = entry{key, t, p.Spots[i]}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for i, e := range all {
		p.Tasks[i], p.Spots[i] = e.task, e.spot
	}
}

var digits = lazy.Regexp(`\d+`)
