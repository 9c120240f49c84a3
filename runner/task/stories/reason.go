package stories

import (
	"slices"
	"strings"

	"ralph/runner/task"
	"ralph/runner/task/boxes"
)

// reason says how a format writes why a task is blocked.
type reason struct {
	title      string
	begin, end string   // the lines around the text below the heading; empty if there are none
	before     []string // titles of the sections that come later, as the format's own tool writes them
	says       string   // the text before the reason
}

// BacklogReason returns the edit that writes the reason for which a task is blocked into its implementation notes, in
// place of ralph's earlier one. An empty reason removes that one.
func BacklogReason(f task.File, _ task.Range, why string) (at task.Range, text string) {
	return reason{"Implementation Notes", "<!-- SECTION:NOTES:BEGIN -->", "<!-- SECTION:NOTES:END -->",
		[]string{"comments", "final summary"}, "Blocked: "}.edit(f, why)
}

// SpecReason does the same for a spec of BMAD 6.11, in the words of BMAD's own workflow.
func SpecReason(f task.File, _ task.Range, why string) (at task.Range, text string) {
	return reason{title: "Auto Run Result", says: "Status: blocked\nBlocking condition: "}.edit(f, why)
}

func (r reason) edit(f task.File, why string) (at task.Range, text string) {
	n := note{doc: string(f.Data), eol: "\n"}
	if strings.Contains(n.doc, "\r\n") {
		n.eol = "\r\n"
	}
	lines := func(text string) string { return strings.ReplaceAll(text, "\n", n.eol) }
	says, own := lines(r.says), task.Range{}
	n.heading = "## " + r.title + n.eol
	n.head = n.heading + n.eol
	tail := ""
	if r.begin != "" {
		n.head, tail = n.head+r.begin+n.eol, n.eol+r.end
	}
	for _, mark := range task.Signatures(n.doc) {
		start := strings.LastIndex(n.doc[:mark[0]], says)
		if start <= 0 || n.doc[start-1] != '\n' {
			continue
		}
		if _, is := task.Unsigned(n.doc[start+len(says) : mark[1]]); is {
			own = task.Range{Start: start, End: mark[1]}
		}
	}
	new := says + task.Signed(strings.ReplaceAll(why, "<!--", "<! --")) // it must not look like the tool's markup
	switch {
	case own.End > 0 && why != "":
		return own, new
	case own.End > 0:
		return n.without(own, tail), ""
	case why == "":
		return at, ""
	}
	place, has := r.place(f, n.doc)
	if !has {
		new = n.head + new + tail
	}
	return n.insert(place, new)
}

// place returns where a new reason goes, and whether its section exists.
func (r reason) place(f task.File, doc string) (place int, has bool) {
	if i := strings.Index(doc, r.begin); r.begin != "" && i >= 0 {
		if j := strings.Index(doc[i:], r.end); j >= 0 {
			return i + j, true
		}
	}
	d, err := read(0, f)
	if err != nil {
		return len(doc), false
	}
	place = len(doc)
	for i, p := range d.parts {
		if p.title == boxes.HeadingKey(r.title) {
			for _, next := range d.parts[i+1:] {
				if next.level <= p.level {
					return next.line.Start, true
				}
			}
			return len(doc), true
		}
		if p.level > 0 && slices.Contains(r.before, p.title) {
			place = min(place, p.line.Start)
		}
	}
	return place, false
}

// note inserts lines into a text and removes them again without a trace.
type note struct {
	doc, eol string
	heading  string
	head     string // the text before the lines in a section that has nothing else
}

func (n note) insert(place int, lines string) (task.Range, string) {
	before, last := n.doc[:place], place == len(n.doc)
	switch {
	case strings.HasSuffix(before, n.heading):
		lines += n.eol
	case last && !strings.HasSuffix(before, n.eol):
		lines = n.eol + n.eol + lines
	case last, strings.HasSuffix(before, n.head), !strings.HasSuffix(before, n.eol+n.eol):
		lines = n.eol + lines + n.eol
	default:
		lines += n.eol + n.eol
	}
	return task.Range{Start: place, End: place}, lines
}

// without returns the range of ralph's lines with everything that insert added around them. tail ends a section that
// has nothing else.
func (n note) without(own task.Range, tail string) task.Range {
	if strings.HasSuffix(n.doc[:own.Start], n.head) && strings.HasPrefix(n.doc[own.End:], tail) {
		own = task.Range{Start: own.Start - len(n.head), End: own.End + len(tail)}
	}
	before, after := n.doc[:own.Start], n.doc[own.End:]
	blank := strings.HasSuffix(before, n.eol+n.eol)
	switch {
	case after == "" && blank:
		own.Start -= 2 * len(n.eol)
	case strings.HasPrefix(after, n.eol+n.eol):
		own.End += 2 * len(n.eol)
	case strings.HasPrefix(after, n.eol):
		own.End += len(n.eol)
		if blank {
			own.Start -= len(n.eol)
		}
	}
	return own
}
