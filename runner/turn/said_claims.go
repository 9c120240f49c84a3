package turn

import (
	"regexp"
	"strings"
	"sync"

	"ralph/runner/agent/statusblock"
	"ralph/runner/task"
)

// ClaimsDone reports whether a final message says that this task is done: in its status block, by
// "TASK: id" or by a story_id with the status COMPLETE. That counts like a mark in the
// plan, which still has to be proved.
func ClaimsDone(final string, t task.Task) bool {
	signal, ok := statusblock.Parse(final)
	if !ok || t.ID == "" || signal.Status == statusblock.Blocked || signal.Status == statusblock.Error {
		return false
	}
	return saidPlain(signal.Task) == saidPlain(t.ID) || signal.Status == statusblock.Complete &&
		saidPlain(signal.StoryID) == saidPlain(t.ID)
}

var (
	zeros      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b0+(\d)`) })
	separators = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\p{L}\p{N}.]+`) })
)

// saidPlain removes what people and agents spell differently: "US-001" and
// "[us 1]" become the same.
func saidPlain(name string) string {
	name = strings.TrimSpace(separators().ReplaceAllString(strings.ToLower(name), " "))
	return zeros().ReplaceAllString(strings.TrimRight(name, "."), "$1")
}
