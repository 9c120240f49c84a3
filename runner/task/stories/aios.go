package stories

import (
	"path"
	"regexp"
	"sort"
	"strings"
	"sync"

	"ralph/runner/task"
)

// AIOS reads a folder of AIOS stories: *.story.md and STORY-*.md.
func AIOS(in task.Input) (task.Parsed, error) {
	return folder(in, task.Words{
		Read: map[string]task.State{"Draft": task.Blocked, "Ready": task.Open, "Approved": task.Open,
			"In Progress":      task.Active,
			"Ready for Review": task.Review, "InReview": task.Review, "Review": task.Review, "Done": task.Done,
			"Completed": task.Done, "Ready for Done": task.Review, "Blocked": task.Blocked},
		Write: map[task.State]string{task.Open: "Ready", task.Active: "In Progress", task.Review: "Ready for Review",
			task.Done: "Done", task.Blocked: "Blocked"},
	})
}

// BMAD4 reads a folder of stories of BMAD version 4: 1.2.title.md.
func BMAD4(in task.Input) (task.Parsed, error) {
	return folder(in, task.Words{
		Read: map[string]task.State{"Draft": task.Blocked, "Approved": task.Open, "Ready": task.Open,
			"In Progress": task.Active,
			"InProgress":  task.Active, "Review": task.Review, "Ready for Review": task.Review, "Done": task.Done},
		Write: map[task.State]string{task.Open: "Approved", task.Active: "InProgress", task.Review: "Review",
			task.Done: "Done"},
	})
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

var storyNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:story[-_ ]?)?(\d+(?:\.\d+)+)`)
})

// storyID returns the number of a story from its file name, else the name.
func storyID(name string) string {
	base := path.Base(name)
	if m := storyNumber().FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return strings.TrimSuffix(strings.TrimSuffix(base, ".md"), ".story")
}

// byNumber sorts tasks by the numbers in their files' names: 2 comes before 10.
func byNumber(p *task.Parsed) {
	order := make([]int, len(p.Tasks))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return natural(p.Tasks[order[i]].File, p.Tasks[order[j]].File) < 0 })
	tasks, spots := p.Tasks, p.Spots
	p.Tasks, p.Spots = make([]task.Task, 0, len(order)), make([]task.Spot, 0, len(order))
	for _, i := range order {
		p.Tasks, p.Spots = append(p.Tasks, tasks[i]), append(p.Spots, spots[i])
	}
}

// natural compares texts; it compares numbers in them by value.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			n, m := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if len(n) != len(m) {
				return len(n) - len(m)
			}
			if c := strings.Compare(n, m); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
