package stories

import (
	"strings"

	"ralph/runner/task"
)

// Noted adds the reason for which a task is blocked to the implementation notes of Backlog.md.
func Noted(f task.File, _ task.Range, why string) (at task.Range, text string) {
	const end = "<!-- SECTION:NOTES:END -->"
	doc := string(f.Data)
	note := "Blocked: " + quiet(why) + "\n"
	if i := strings.Index(doc, end); i >= 0 {
		return task.Range{Start: i, End: i}, ending(doc, "\n"+note)
	}
	place := len(doc)
	for _, later := range []string{"\n## Comments", "\n## Final Summary"} { // the order in which the tool writes
		if i := strings.Index(doc, later); i >= 0 {
			place = min(place, i+1)
		}
	}
	text = "## Implementation Notes\n\n<!-- SECTION:NOTES:BEGIN -->\n" + note + end + "\n"
	return between(doc, place, text)
}

// Halted says why a spec of BMAD 6.11 is blocked, as its own workflow does.
func Halted(f task.File, _ task.Range, why string) (at task.Range, text string) {
	const heading = "## Auto Run Result"
	doc := string(f.Data)
	text = "Status: blocked\nBlocking condition: " + quiet(why) + "\n"
	i := strings.Index(doc, "\n"+heading)
	if i < 0 {
		return between(doc, len(doc), heading+"\n\n"+text)
	}
	place := len(doc)
	if next := strings.Index(doc[i+len(heading):], "\n## "); next >= 0 {
		place = i + len(heading) + next + 1
	}
	return between(doc, place, text)
}

// between is a block of lines at a place, with a blank line around it.
func between(doc string, place int, text string) (task.Range, string) {
	before := strings.ReplaceAll(doc[:place], "\r", "")
	for len(before) > 0 && !strings.HasSuffix(before, "\n\n") {
		text, before = "\n"+text, before+"\n"
	}
	if place < len(doc) {
		text += "\n"
	}
	return task.Range{Start: place, End: place}, ending(doc, text)
}

// ending gives a text the line ends of a file.
func ending(doc, text string) string {
	if strings.Contains(doc, "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// quiet is a text that is no markup of these tools.
func quiet(why string) string { return strings.ReplaceAll(why, "<!--", "<! --") }
