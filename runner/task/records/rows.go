package records

import (
	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// newText makes the text of a new record, and says where it goes.
type newText = func(task.File, task.Parsed, string) (task.Range, string)

// NewStory is a story of prd.json.
func NewStory() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "title", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "acceptanceCriteria", Value: "[]"}, Member{Key: "priority", Value: "%ORDER"}, Member{Key: "passes",
			Value: "false"})
}

// NewItem is an item of a PRD folder.
func NewItem() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "name", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "priority", Value: `"medium"`}, Member{Key: "status", Value: `"pending"`})
}

// NewTask is a task of ralph's list.
func NewTask() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "name", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "status", Value: `"pending"`}, Member{Key: "order", Value: "%ORDER"})
}

// NewNumbered is a task of Taskmaster.
func NewNumbered() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "title", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "status", Value: `"pending"`}, Member{Key: "dependencies", Value: "[]"},
		Member{Key: "priority", Value: `"medium"`}, Member{Key: "subtasks", Value: "[]"})
}

// LooksLikeTaskmaster knows Taskmaster's file by its content.
func LooksLikeTaskmaster(data []byte) bool {
	root := gjson.ParseBytes(data)
	if root.Get("tasks").IsArray() {
		return !root.Get("userStories").Exists()
	}
	tagged := false
	root.ForEach(func(_, value gjson.Result) bool {
		tagged = value.Get("tasks").IsArray()
		return !tagged
	})
	return tagged
}
