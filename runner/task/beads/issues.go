package beads

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// words returns those of bd. Projects may have more; they make a task Blocked.
func words() task.Words {
	return task.Vocabulary(map[task.State]string{task.Open: "open", task.Active: "in_progress|hooked",
		task.Blocked: "blocked", task.Done: "closed", task.Dropped: "|deferred|pinned"})
}

// Parse reads what List returned.
func Parse(in task.Input) (task.Parsed, error) {
	p := task.Parsed{List: task.List{Marking: "Close the issue with the program `" + Program +
		"`, whose data is in `%s`,", Words: words().Write}}
	text := in.Files[0].Data
	if !gjson.ValidBytes(text) {
		return p, fmt.Errorf("%s list did not print JSON", Program)
	}
	all := data(text)
	if !all.IsArray() {
		return p, fmt.Errorf("%s list did not print an array of issues", Program)
	}
	words, t := words(), tree{children: map[string][]string{}, issues: map[string]issue{}}
	for _, row := range all.Array() {
		if status := row.Get("status").Str; row.Get("ephemeral").Bool() || status == "tombstone" {
			continue
		}
		one, err := read(row, words, &p.List)
		if err != nil {
			return p, err
		}
		if _, twice := t.issues[one.ID]; twice {
			return p, fmt.Errorf("two issues have the id %q", one.ID)
		}
		t.issues[one.ID] = one
		t.order = append(t.order, one.ID)
	}
	slices.SortStableFunc(t.order, func(a, b string) int {
		return cmp.Compare(t.issues[a].created, t.issues[b].created)
	})
	p.Tasks = t.nested()
	p.Spots = make([]task.Spot, len(p.Tasks)) // there is no file
	return p, nil
}

// issue is a task with its parent and time, which decide its place.
type issue struct {
	task.Task
	parent, created string
}

// read reads an issue. Problems that must stop a run go to the list.
func read(row gjson.Result, words task.Words, list *task.List) (issue, error) {
	text := func(key string) string { return strings.TrimSpace(row.Get(key).Str) }
	one := issue{created: text("created_at"), Task: task.Task{ID: text("id"), Title: text("title"),
		Priority: task.NoPriority,
		Notes:    text("notes"), Category: text("issue_type"), Created: text("created_at"), Updated: text("updated_at"), Criteria: criteria(text("acceptance_criteria"))}}
	one.Description = strings.TrimSpace(text("description") + "\n\n" + text("design"))
	switch {
	case one.ID == "" || strings.HasPrefix(one.ID, "-"):
		return one, fmt.Errorf("the issue %q has the id %q, which cannot be used", one.Title, one.ID)
	case one.Title == "":
		return one, errors.New("the issue " + one.ID + " has no title")
	}
	if v := row.Get("priority"); v.Type == gjson.Number {
		one.Priority = int(v.Int())
	}
	for _, label := range row.Get("labels").Array() {
		one.Tags = append(one.Tags, label.Str)
	}
	if !words.Apply(&one.Task, text("status")) {
		list.Warnings = append(list.Warnings, words.Unknown(fmt.Sprintf("issue %q", one.ID), text("status")))
	}
	for _, d := range row.Get("dependencies").Array() {
		switch on := d.Get("depends_on_id").Str; d.Get("type").Str {
		case "parent-child":
			one.parent = on
		case "blocks", "conditional-blocks", "waits-for", "":
			one.DependsOn = append(one.DependsOn, on)
		}
	}
	return one, nil
}

// criteria returns the lines of a text, without the marks of a list.
func criteria(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"- [ ]", "- [x]", "-", "*"} {
			line = strings.TrimSpace(strings.TrimPrefix(line, mark))
		}
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// tree has the issues by id, and the children of each.
type tree struct {
	issues   map[string]issue
	order    []string
	children map[string][]string
}

// nested puts each issue below its parent. Each issue also waits for what its parent waits for.
func (t tree) nested() []task.Task {
	var roots []string
	for _, id := range t.order {
		parent := t.issues[id].parent
		if _, known := t.issues[parent]; known {
			t.children[parent] = append(t.children[parent], id)
		} else {
			roots = append(roots, id)
		}
	}
	var out []task.Task
	seen := map[string]bool{}
	var add func(id string, depth int, waits []string)
	add = func(id string, depth int, waits []string) {
		if seen[id] {
			return
		}
		seen[id] = true
		one := t.issues[id].Task
		one.Depth = depth
		for _, on := range waits {
			if on != id && !slices.Contains(one.DependsOn, on) {
				one.DependsOn = append(one.DependsOn, on)
			}
		}
		out = append(out, one)
		for _, child := range t.children[id] {
			add(child, depth+1, one.DependsOn)
		}
	}
	for _, id := range append(roots, t.order...) { // the second part adds issues whose parents form a circle
		add(id, 0, nil)
	}
	return out
}
