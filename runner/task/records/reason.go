package records

import (
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// Informed adds the reason for which a task is blocked to the details of a record of Taskmaster, as
// that adds information. Without details there is no place; then the text is empty.
func Informed(f task.File, item task.Range, why string) (at task.Range, text string) {
	v := members(gjson.ParseBytes(f.Data[item.Start:item.End])).get("details")
	if v.Type != gjson.String {
		return at, ""
	}
	note := "<info added on " + task.Now + `>\nBlocked: ` + inside(quoted(why)) + `\n</info added on ` + task.Now + ">"
	if v.Str != "" {
		note = `\n\n` + note
	}
	end := item.Start + v.Index + len(v.Raw) - 1
	return task.Range{Start: end, End: end}, note
}

// details are those of a task of Taskmaster, without reasons: they are no change of the task.
func (r *reader) details(rec record) string {
	own := text(rec.all.get("details"))
	if strings.Contains(own, "Blocked: ") {
		own = informed().ReplaceAllString(own, "")
	}
	return strings.TrimSpace(own + "\n" + text(rec.all.get("testStrategy")))
}

var informed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*<info added on [^>\n]*>\nBlocked: [^\n]*\n</info added on [^>\n]*>`)
})

// inside is a quoted text without its quotes.
func inside(quoted string) string { return quoted[1 : len(quoted)-1] }
