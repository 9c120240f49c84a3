package records

import (
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// TaskmasterReason returns the edit that writes the reason for which a task is blocked into its details, in
// Taskmaster's own form, in place of ralph's earlier reason. An empty reason removes that one. The text is also empty
// if the record has no details.
func TaskmasterReason(f task.File, item task.Range, why string) (at task.Range, text string) {
	v := members(gjson.ParseBytes(f.Data[item.Start:item.End])).get("details")
	if v.Type != gjson.String {
		return at, ""
	}
	start := item.Start + v.Index
	own := task.Range{}
	for _, m := range informed().FindAllStringSubmatchIndex(v.Raw, -1) {
		if _, is := task.Unsigned(gjson.Parse(`"` + v.Raw[m[2]:m[3]] + `"`).Str); is {
			own = task.Range{Start: start + m[0], End: start + m[1]}
		}
	}
	end := start + len(v.Raw) - 1
	switch {
	case why == "":
		return own, ""
	case own.End == 0:
		own = task.Range{Start: end, End: end}
	}
	note := "<info added on " + task.Now + `>\nBlocked: ` + inside(quoted(task.Signed(why))) +
		`\n</info added on ` + task.Now + ">"
	if own.Start > start+1 {
		note = `\n\n` + note
	}
	return own, note
}

// details returns the details of a Taskmaster task without ralph's reason, which is no change of the task.
func (r *reader) details(rec record) string {
	value := rec.all.get("details")
	own := text(value)
	if strings.Contains(own, "Blocked: ") {
		raw := informed().ReplaceAllStringFunc(value.Raw, func(note string) string {
			if _, is := task.Unsigned(gjson.Parse(`"` + informed().FindStringSubmatch(note)[1] + `"`).Str); is {
				return ""
			}
			return note
		})
		own = gjson.Parse(raw).Str
	}
	return strings.TrimSpace(own + "\n" + text(rec.all.get("testStrategy")))
}

// informed matches such a note in a JSON string.
var informed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\\n\\n)?<info added on [^>\\]*>\\nBlocked: ((?:[^"\\]|\\[^n])*)\\n</info added on [^>\\]*>`)
})

// inside returns a quoted text without its quotes.
func inside(quoted string) string { return quoted[1 : len(quoted)-1] }
