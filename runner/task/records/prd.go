package records

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// PRD reads a prd.json: an object with userStories, an array of objects. It ignores
// unknown keys. The last of repeated keys counts.
func PRD(in task.Input) (task.Parsed, error) {
	r := &reader{}
	root, err := r.begin(0, in.Files[0])
	if err != nil {
		return r.Parsed, err
	}
	if !root.IsObject() {
		return r.Parsed, fmt.Errorf("line 1: must be an object with an array %q", "userStories")
	}
	top := members(root)
	r.Project, r.Description = text(top.first("project", "name")), top.get("description").String()
	r.Choice, r.Branch = r.topChoice(top), text(top.get("branch_name"))
	stories := top.get("user_stories")
	if !stories.Exists() {
		return r.Parsed, fmt.Errorf("%q is missing: it must be an array of stories", "userStories")
	}
	if !stories.IsArray() {
		return r.Parsed, r.wrong("userStories", stories, "an array of stories")
	}
	if err := r.alone(top, "userStories", "tasks", "items"); err != nil {
		return r.Parsed, err
	}
	err = r.records("userStories", stories, r.simple)
	return r.Parsed, err
}

// topChoice is the choice of a file for tasks without their own. It warns of what else ralph does not read there.
func (r *reader) topChoice(top object) task.Choice {
	r.unread("the file", top, true)
	return r.choice("the file", top).Or(r.choice("metadata", members(top.get("metadata"))))
}

// alone returns an error if other lists in the file have tasks, too.
func (r *reader) alone(top object, own string, others ...string) error {
	for _, name := range others {
		list := top.get(name)
		first := list.Get("0")
		if first.Get("id").Exists() && (first.Get("status").Exists() || first.Get("passes").Exists()) {
			line, _ := task.Position(r.data, list.Index)
			return fmt.Errorf("line %d: %q is a second plan beside %q: a file may have only one", line, name, own)
		}
	}
	return nil
}

// simple adds a record that is one task.
func (r *reader) simple(rec record) error {
	t, spot, err := r.one(rec)
	if err != nil {
		return err
	}
	return r.add(rec.place, t, spot)
}

// LooksLikeJSON reports whether data may be a JSON object.
func LooksLikeJSON(data []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(string(data[:min(len(data), 1<<10)]),
		"\xef\xbb\xbf")), "{")
}

// Folder reads a folder of JSON files, each a category: {"items": [...]}, or only the array.
func Folder(in task.Input) (task.Parsed, error) {
	r := &reader{passes: true, words: task.Vocabulary(map[task.State]string{task.Open: "pending",
		task.Active: "in_progress", task.Done: "completed"})}
	for i, f := range in.Files {
		r.name = f.Name
		root, err := r.begin(i, f)
		if err != nil {
			return r.Parsed, err
		}
		items, plan, category := root, task.Choice{}, ""
		if root.IsObject() {
			top := members(root)
			category = text(top.get("category"))
			items, plan = top.get("items"), r.topChoice(top)
		}
		if !items.IsArray() {
			return r.Parsed, fmt.Errorf("%sline 1: must be an array, or an object with an array %q", r.prefix(),
				"items")
		}
		category = cmp.Or(category, strings.TrimSuffix(path.Base(f.Name), ".json"))
		err = r.records("items", items, func(rec record) error {
			t, spot, err := r.one(rec)
			if err != nil {
				return err
			}
			if t.Title == "" {
				t.Title, t.Description = t.Description, ""
				if v := rec.all.get("description"); v.Type == gjson.String {
					spot.Title = r.span(v)
				}
			}
			if t.File, t.Choice = f.Name, t.Choice.Or(plan); t.Category == "" {
				t.Category = category
			}
			return r.add(rec.place, t, spot)
		})
		if err != nil {
			return r.Parsed, err
		}
	}
	r.Marking = "Set the item's `status` to `completed`, or its `passes` to `true`, in `%s`"
	return r.Parsed, nil
}

// Tasks reads ralph's own list: {"tasks": [{"id", "name", "status", "order"}]}.
func Tasks(in task.Input) (task.Parsed, error) {
	r := &reader{words: task.Vocabulary(map[task.State]string{task.Open: "pending", task.Active: "in_progress",
		task.Done: "completed", task.Dropped: "skipped", task.Blocked: "paused|failed"})}
	root, err := r.begin(0, in.Files[0])
	if err != nil {
		return r.Parsed, err
	}
	tasks := root.Get("tasks")
	if !tasks.IsArray() {
		return r.Parsed, fmt.Errorf("line 1: must be an object with an array %q", "tasks")
	}
	r.unread("the file", members(root), true)
	if err := r.alone(members(root), "tasks", "userStories", "items"); err != nil {
		return r.Parsed, err
	}
	err = r.records("tasks", tasks, func(rec record) error {
		t, spot, err := r.one(rec)
		if err != nil {
			return err
		}
		if order := rec.all.get("order"); order.Type == gjson.Number && t.Priority == task.NoPriority {
			t.Priority, spot.Order = int(order.Num), r.span(order)
		}
		return r.add(rec.place, t, spot)
	})
	r.Marking = "Set the task's `status` to `completed` in `%s`"
	return r.Parsed, err
}

// Taskmaster reads .taskmaster/tasks/tasks.json: {TAG: {"tasks": []}} or {"tasks": []}.
// The tag is the currentTag of state.json beside the folder.
func Taskmaster(in task.Input) (task.Parsed, error) {
	r := &reader{words: task.Vocabulary(map[task.State]string{task.Open: "pending", task.Active: "in-progress",
		task.Review: "review", task.Done: "done|completed", task.Dropped: "cancelled|deferred", task.Blocked: "blocked"})}
	root, err := r.begin(0, in.Files[0])
	if err != nil {
		return r.Parsed, err
	}
	if !root.IsObject() {
		return r.Parsed, fmt.Errorf("line 1: must be an object with an array %q, or with one below each tag", "tasks")
	}
	top, tag, from, place := members(root), "master", "", "tasks"
	for _, f := range in.Files[1:] {
		if current := gjson.GetBytes(f.Data, "currentTag"); current.Type == gjson.String {
			tag = current.Str
			from = fmt.Sprintf(", named in %s line %d,", path.Base(f.Name),
				1+bytes.Count(f.Data[:current.Index], []byte("\n")))
		}
	}
	tasks := top.get("tasks")
	if !tasks.IsArray() {
		tagged := top.get(tag)
		if tasks = members(tagged).get("tasks"); !tasks.IsArray() {
			return r.Parsed, fmt.Errorf("the tag %q%s has no array %q here; tags with tasks: %s; "+
				"choose one with: task-master use-tag NAME", tag, from, "tasks",
				cmp.Or(strings.Join(tagsOf(root), ", "), "none"))
		}
		place, r.Project = tag+".tasks", tag
	}
	err = r.records(place, tasks, r.withSubtasks)
	r.Marking = "Set the task's `status` to `done` in `%s`"
	return r.Parsed, err
}

// LooksLikeTaskmaster recognizes a file of Taskmaster by its content.
func LooksLikeTaskmaster(data []byte) bool {
	root := gjson.ParseBytes(data)
	if root.Get("tasks").IsArray() {
		return !root.Get("userStories").Exists()
	}
	return len(tagsOf(root)) > 0
}

// tagsOf returns the tags that have tasks.
func tagsOf(root gjson.Result) (tags []string) {
	root.ForEach(func(name, value gjson.Result) bool {
		if value.Get("tasks").IsArray() {
			tags = append(tags, name.Str)
		}
		return true
	})
	return tags
}

// details returns what Taskmaster knows about a task besides its description.
func details(rec record) string {
	return strings.TrimSpace(text(rec.all.get("details")) + "\n" + text(rec.all.get("test_strategy")))
}

// withSubtasks adds a task and, below it, its subtasks: their ids are local.
func (r *reader) withSubtasks(rec record) error {
	t, spot, err := r.one(rec)
	if err != nil {
		return err
	}
	t.Notes = details(rec)
	if err := r.add(rec.place, t, spot); err != nil {
		return err
	}
	subtasks := rec.all.get("subtasks")
	if !subtasks.IsArray() || !subtasks.Get("0").Exists() {
		return nil
	}
	return r.records(rec.place.String()+".subtasks", subtasks, func(rec record) error {
		sub, spot, err := r.one(rec)
		if err != nil {
			return err
		}
		sub.ID, sub.Depth, sub.Priority = t.ID+"."+sub.ID, 1, t.Priority
		sub.Notes = details(rec)
		for i, id := range sub.DependsOn {
			if !strings.Contains(id, ".") {
				sub.DependsOn[i] = t.ID + "." + id
			}
		}
		sub.DependsOn = append(sub.DependsOn, t.DependsOn...)
		return r.add(rec.place, sub, spot)
	})
}
