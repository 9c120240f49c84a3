package stories

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"ralph/runner/task"
	"ralph/runner/task/boxes"
	"ralph/state/projectfs"
)

// Backlog reads the folder of Backlog.md: tasks/*.md with front matter, and the words for the
// states in config.yml.
func Backlog(in task.Input) (task.Parsed, error) {
	p := task.Parsed{List: task.List{}}
	words, err := backlogWords(in)
	if err != nil {
		return p, err
	}
	p.Words = words.Write
	p.Marking = "Set `status: " + words.Write[task.Done] + "` in `%s`"
	isOther := func(f task.File) bool { return path.Ext(f.Name) != ".md" }
	files := slices.DeleteFunc(slices.Clone(in.Files), isOther) // others come last
	seen := make(map[string]string, len(files))
	p.Tasks, p.Spots = make([]task.Task, 0, len(files)), make([]task.Spot, 0, len(files))
	for i, s := range readAll(files, 0, words, (*doc).backlogTask) {
		name, id := files[i].Name, strings.ToLower(s.ID)
		switch {
		case s.err != nil:
			return p, s.err
		case !s.front:
			return p, fmt.Errorf("%s line 1: must begin with front matter between two lines ---", name)
		case id == "":
			return p, fmt.Errorf("%s line 1: front matter: %q is missing", name, "id")
		case seen[id] != "":
			return p, fmt.Errorf("%s line %d: %q is also the id of %s: each must be unique", name,
				lineOf(files[i].Data, "id"), s.ID, seen[id])
		case s.status.line == 0:
			return p, fmt.Errorf("%s line 1: front matter: %q is missing: it must be one of %s", name, "status",
				words.Known())
		}
		if seen[id] = name; s.status.fault != "" {
			p.Warnings = append(p.Warnings, s.status.fault)
		}
		if at := value(string(files[i].Data), "updated_date", i); at.line > 0 && s.Updated != "" {
			now := map[task.State]string{}
			for state := range words.Write {
				now[state] = task.Time("2006-01-02 15:04")
			}
			s.spot.States = append(s.spot.States, task.Place{Range: at.Range, Words: now})
		}
		s.add(&p)
	}
	byNumber(&p)
	ids := map[string]string{}
	for _, t := range p.Tasks {
		ids[strings.ToLower(t.ID)] = t.ID
	}
	for i := range p.Tasks { // the case of a dependency does not matter
		for j, id := range p.Tasks[i].DependsOn {
			if known := ids[strings.ToLower(id)]; known != "" {
				p.Tasks[i].DependsOn[j] = known
			}
		}
	}
	return p, nil
}

// lineOf returns the first line that begins with a key.
func lineOf(data []byte, key string) int {
	return 1 + bytes.Count(data[:bytes.Index(data, []byte("\n"+key+":"))+1], []byte("\n"))
}

// backlogTask returns the task of a file, without its state.
func (d *doc) backlogTask() (task.Task, task.Spot) {
	t := task.Task{
		ID: d.str("id"), Title: d.str("title"), File: d.Name, DependsOn: d.list("dependencies"), Tags: d.list("labels"),
		Category: d.str("milestone"), Priority: task.PriorityOf(d.str("priority")),
		Created: d.str("created_date"), Updated: d.str("updated_date"),
		Description: paragraph(d.section("description")), Notes: paragraph(d.section("implementation plan")),
	}
	t.Title = cmp.Or(t.Title, t.ID)
	if order, err := strconv.Atoi(d.str("ordinal")); err == nil && t.Priority == task.NoPriority {
		t.Priority = task.Low + 1 + order
	}
	var boxes, done []task.Place
	t.Criteria, boxes = d.between("AC")
	_, done = d.between("DOD")
	spot := task.Spot{States: append(boxes, done...), Item: task.Range{File: d.index, End: len(d.Data)},
		Title: d.frontTitle()}
	return t, spot
}

// between returns the items between <!-- NAME:BEGIN --> and <!-- NAME:END -->.
func (d *doc) between(name string) ([]string, []task.Place) {
	from := strings.Index(d.text, "<!-- "+name+":BEGIN -->")
	to := strings.Index(d.text, "<!-- "+name+":END -->")
	var lines []boxes.MarkdownLine
	for _, p := range d.parts {
		for _, l := range p.lines {
			if l.Start > from && l.Start < to {
				lines = append(lines, l)
			}
		}
	}
	return d.items(lines)
}

// backlogWords returns the words of config.yml: the first means open and the last means done; meaning guesses the
// others.
func backlogWords(in task.Input) (task.Words, error) {
	names := []string{"To Do", "In Progress", "Done"}
	for _, f := range in.Files {
		if path.Ext(f.Name) != ".yml" {
			continue
		}
		var config struct {
			Statuses []string `yaml:"statuses"`
		}
		if err := projectfs.UnmarshalYAML(f.Data, &config); err != nil {
			return task.Words{}, fmt.Errorf("%s: %s", f.Name, yamlError(err))
		}
		if len(config.Statuses) > 1 {
			names = config.Statuses
		}
	}
	w := task.Words{Read: map[string]task.State{}, Write: map[task.State]string{}}
	for i, name := range names {
		state := meaning(name)
		switch i {
		case 0:
			state = task.Open
		case len(names) - 1:
			state = task.Done
		}
		w.Read[name] = state
		if _, named := w.Write[state]; !named || i == len(names)-1 {
			w.Write[state] = name
		}
	}
	return w, nil
}

// meaning guesses the state that a person's word for a status means; an unknown one means open.
func meaning(status string) task.State {
	words := strings.FieldsFunc(strings.ToLower(status), func(r rune) bool { return !isLetter(r) && r != '\'' })
	if slices.Contains(words, "not") {
		return task.Open
	}
	for _, row := range []struct {
		state task.State
		words []string
	}{
		{task.Review, []string{"review", "reviewing", "qa", "test", "tests", "testing"}},
		{task.Blocked, []string{"blocked", "hold", "wait", "waiting", "draft"}},
		{task.Dropped, []string{"cancelled", "canceled", "dropped", "won't", "wont", "rejected", "abandoned"}},
		{task.Active, []string{"progress", "doing", "active", "started"}},
		{task.Done, []string{"done", "complete", "completed", "closed", "released"}},
	} {
		if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(row.words, word) }) {
			return row.state
		}
	}
	return task.Open
}
