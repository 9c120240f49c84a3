package records

import (
	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// newText returns where a new record goes, and its text.
type newText = func(task.File, task.Parsed, string) (task.Range, string)

// NewStory returns a story of prd.json.
func NewStory() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "title", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "acceptanceCriteria", Value: "[]"}, Member{Key: "priority", Value: "%ORDER"},
		Member{Key: "passes", Value: "false"})
}

// NewItem returns an item of a PRD folder.
func NewItem() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "name", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "priority", Value: `"medium"`}, Member{Key: "status", Value: `"pending"`})
}

// NewTask returns a task of ralph's list.
func NewTask() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "name", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "status", Value: `"pending"`}, Member{Key: "order", Value: "%ORDER"})
}

// NewNumbered returns a task of Taskmaster.
func NewNumbered() newText {
	return New(Member{Key: "id", Value: "%ID"}, Member{Key: "title", Value: "%TITLE"},
		Member{Key: "description", Value: `""`},
		Member{Key: "status", Value: `"pending"`}, Member{Key: "dependencies", Value: "[]"},
		Member{Key: "priority", Value: `"medium"`}, Member{Key: "subtasks", Value: "[]"})
}

// LooksLikeTaskmaster recognizes a file of Taskmaster by its content.
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
