// Package stories reads plans in which each task is a file of Markdown, or a line of a
// status file: AIOS, BMAD and Backlog.md.
package stories

import (
	"fmt"
	"strings"
	"sync"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/runner/task/boxes"
	"ralph/state/projectfs"
)

// doc is a story file.
type doc struct {
	index int // of the file
	task.File
	text    string
	front   map[string]any // front matter; nil if there is none
	begin   int            // where the body begins
	heading string         // text of the first heading of level 1
	titleAt task.Range     // of heading, without "Story 1.2:"
	parts   []part
}

// maxFrontMatter limits the YAML at the start of a file, in bytes.
const maxFrontMatter = 64 << 10

// part is a heading with the lines below it, up to the next heading of any level.
type part struct {
	title string // as boxes.HeadingKey; empty: before the first heading
	line  boxes.MarkdownLine
	level int
	lines []boxes.MarkdownLine
}

// read splits a file. It fails only if the front matter is invalid.
func read(index int, f task.File) (*doc, error) {
	d := &doc{index: index, File: f, text: string(f.Data), parts: []part{{}}}
	if block, ok := frontMatter(d.text); ok {
		if block > maxFrontMatter {
			return nil, fmt.Errorf("%s: front matter: larger than %d KiB", f.Name, maxFrontMatter>>10)
		}
		if err := projectfs.UnmarshalYAML([]byte(d.text[:block]), &d.front); err != nil {
			return nil, fmt.Errorf("%s: front matter: %s", f.Name, yamlError(err))
		}
		d.begin = block
	}
	for l := range boxes.MarkdownLines(d.text) {
		if l.Start < d.begin || l.Code {
			continue
		}
		level, title, ok := boxes.ATXHeading(l.Text)
		if !ok {
			last := &d.parts[len(d.parts)-1]
			last.lines = append(last.lines, l)
			continue
		}
		if level == 1 && d.heading == "" {
			d.heading = boxes.CleanHeading(title)
			title = strings.TrimSpace(title)
			at := l.Start + strings.Index(l.Text, title)
			d.titleAt = task.Range{File: index, Start: at, End: at + len(title)}
			if number := len(storyTitle().FindString(title)); number < len(title) {
				d.titleAt.Start += number
			}
		}
		d.parts = append(d.parts, part{title: boxes.HeadingKey(title), line: l, level: level})
	}
	return d, nil
}

// yamlError returns a YAML error as one line, with its position.
func yamlError(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	var line, column int
	if n, _ := fmt.Sscanf(text, "[%d:%d]", &line, &column); n < 2 {
		return text
	}
	_, text, _ = strings.Cut(text, "] ")
	return fmt.Sprintf("line %d, column %d: %s", line, column, text)
}

// frontMatter returns the length of the YAML block at the start of a text.
func frontMatter(text string) (length int, ok bool) {
	first := true
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		rule := strings.TrimRight(line, " \t\r\n") == "---"
		switch {
		case first && !rule:
			return 0, false
		case !first && rule:
			return at, true
		}
		first = false
	}
	return 0, false
}

// found is the place of a value.
type found struct {
	task.Range        // without quotes and comment
	quote      string // around it; empty: none
	line       int    // 1-based; 0 if there is none
}

// value returns the plain value in YAML after "key:" at the start of a line.
func value(text, key string, file int) found {
	start, line := 0, 0
	for l := range strings.Lines(text) {
		line++
		rest, ok := strings.CutPrefix(strings.TrimRight(l, "\r\n"), key)
		trimmed := strings.TrimLeft(rest, " \t")
		if ok && strings.HasPrefix(trimmed, ":") {
			end := start + len(key) + len(rest)
			f := scalar(text, task.Range{File: file, Start: end - len(trimmed) + 1, End: end})
			f.line = line
			return f
		}
		start += len(l)
	}
	return found{}
}

// scalar returns the value in a part of a line.
func scalar(text string, in task.Range) found {
	in.Start += boxes.Blank(text[in.Start:in.End])
	raw := text[in.Start:in.End]
	if raw != "" && (raw[0] == '"' || raw[0] == '\'') {
		for i := 1; i < len(raw); i++ {
			switch {
			case raw[0] == '"' && raw[i] == '\\', raw[0] == '\'' && strings.HasPrefix(raw[i:], "''"):
				i++ // the next byte does not end it
			case raw[i] == raw[0]:
				return found{Range: task.Range{File: in.File, Start: in.Start + 1, End: in.Start + i}, quote: raw[:1]}
			}
		}
	}
	if i := strings.Index(raw, " #"); i >= 0 {
		raw = raw[:i]
	}
	in.End = in.Start + len(strings.TrimRight(raw, " \t"))
	return found{Range: in}
}

func (d *doc) str(key string) string {
	switch v := d.front[key].(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	default:
		return fmt.Sprint(v)
	}
}

// frontTitle returns the place of the title in the front matter; the zero Range: it is not there, or takes several
// lines.
func (d *doc) frontTitle() task.Range {
	at := value(d.text[:d.begin], "title", d.index)
	if at.line == 0 || at.End == at.Start || strings.ContainsAny(d.text[at.Start:at.Start+1], "|>") {
		return task.Range{}
	}
	return task.Range{File: d.index, Start: at.Start - len(at.quote), End: at.End + len(at.quote)}
}

// list returns a sequence, or one value, of the front matter.
func (d *doc) list(key string) []string {
	var all []string
	switch v := d.front[key].(type) {
	case []any:
		for _, one := range v {
			all = append(all, fmt.Sprint(one))
		}
	case string:
		if v != "" {
			all = append(all, v)
		}
	}
	return all
}

// section returns the lines below a heading, those of deeper headings too.
func (d *doc) section(titles ...string) []boxes.MarkdownLine {
	for i, p := range d.parts {
		for _, title := range titles {
			if p.title != title {
				continue
			}
			lines := p.lines
			for _, below := range d.parts[i+1:] {
				if below.level <= p.level {
					break
				}
				lines = append(lines, below.lines...)
			}
			return lines
		}
	}
	return nil
}

// paragraph returns the text of lines, without blank lines around it.
func paragraph(lines []boxes.MarkdownLine) string {
	texts := termtext.Each(lines, func(l boxes.MarkdownLine) string { return strings.TrimRight(l.Text, " \t") })
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// boxWords are the words of a criterion's box. The map is never changed.
var boxWords = sync.OnceValue(func() map[task.State]string {
	return map[task.State]string{task.Open: " ", task.Done: "x"}
})

// items returns the list items in lines, without their markers and boxes; boxes are the places
// of those that have one.
func (d *doc) items(lines []boxes.MarkdownLine) (texts []string, places []task.Place) {
	for _, l := range lines {
		at := boxes.Blank(l.Text)
		n := boxes.MarkerLen(l.Text[at:])
		if n == 0 {
			if text := strings.TrimSpace(l.Text); text != "" && len(texts) > 0 {
				texts[len(texts)-1] += "\n" + text
			}
			continue
		}
		text := strings.TrimSpace(l.Text[at+n:])
		if mark := at + n + boxes.Blank(l.Text[at+n:]); len(text) > 3 && text[0] == '[' && text[2] == ']' &&
			strings.IndexByte(" xX", text[1]) >= 0 {
			r := task.Range{File: d.index, Start: l.Start + mark + 1, End: l.Start + mark + 2}
			places = append(places, task.Place{Range: r, Final: true, Words: boxWords()})
			text = strings.TrimSpace(text[3:])
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts, places
}

var storyTitle = lazy.Regexp(`(?i)^(?:user )?story\s+[\w.-]+\s*[:–—-]\s*`)

// title returns the heading without "Story 1.2:"; fallback if there is none.
func (d *doc) title(fallback string) string {
	title := strings.TrimSpace(storyTitle().ReplaceAllString(d.heading, ""))
	if title == "" {
		return fallback
	}
	return title
}
