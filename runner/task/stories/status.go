package stories

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/runner/task/boxes"
	"ralph/state/projectfs"
)

// status is the state of a file's story, and where the file says it.
type status struct {
	state  task.State
	word   string // other than ralph's; see task.Task.Word
	line   int    // 0: the file has no state
	places []task.Place
	at     task.Range // of the word; zero for boxes
	fault  string
}

// apply gives a task the status.
func (s status) apply(t *task.Task, spot *task.Spot) {
	t.State, t.Word, t.Line = s.state, s.word, s.line
	spot.States, spot.Word = append(spot.States, s.places...), s.at
}

// status finds the state of a story: in front matter, below the heading "Status", or in a
// line "Status: word". A change of the state writes all of these places.
func (d *doc) status(words task.Words) status {
	var s status
	if at := value(d.text[:d.begin], "status", d.index); at.line > 0 {
		s.says(d, at, words)
	}
	if lines := d.section("status"); lines != nil {
		if boxes := d.choices(lines); boxes.line > 0 && s.line == 0 {
			return boxes
		}
		for _, l := range lines {
			if strings.TrimSpace(l.Text) != "" {
				s.says(d, inner(d, l, 0), words)
				break
			}
		}
	}
	for _, p := range d.parts {
		if m := labelled(strings.TrimLeft(p.line.Text, "#")); m > 0 && p.title != "status" {
			s.says(d, inner(d, p.line, m+len(p.line.Text)-len(strings.TrimLeft(p.line.Text, "#"))), words)
		}
		for _, l := range p.lines {
			if p.level > 1 {
				break
			}
			if m := labelled(l.Text); m > 0 {
				s.says(d, inner(d, l, m), words)
			}
		}
	}
	return s
}

var inline = lazy.Regexp(`(?i)^\s*(?:[-*]\s+)?(?:\*\*|__)?status(?:\*\*|__)?\s*:(?:\*\*|__)?`)

// labelled returns where the value in a line "Status: word" begins; 0: it is no such line.
func labelled(line string) int {
	const label = "status"
	start := strings.TrimLeft(line, " \t\v\f\r\n-*_")
	if len(start) < len(label) || !strings.EqualFold(start[:len(label)], label) {
		return 0 // nearly always; this avoids the regexp
	}
	if m := inline().FindStringIndex(line); m != nil {
		return m[1]
	}
	return 0
}

// inner returns the word in a line after offset from: without decoration before it.
func inner(d *doc, l boxes.MarkdownLine, from int) found {
	text := l.Text[from:]
	start := strings.IndexFunc(text, isLetter)
	if start < 0 {
		start = len(text)
	}
	end := len(strings.TrimRight(text, " \t*_`"))
	at := l.Start + from
	return found{Range: task.Range{File: d.index, Start: at + start, End: at + max(start, end)}, line: l.Number}
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xC0 && r < 0x250
}

// says adds a place that contains the state. The first one counts.
func (s *status) says(d *doc, at found, words task.Words) {
	text := d.text[at.Start:at.End]
	state, known := words.Of(text)
	if !known { // perhaps more follows: "Ready (since Monday)"
		for n := len(text) - 1; n > 0 && !known; n-- {
			if !isLetter(rune(text[n])) {
				if state, known = words.Of(strings.TrimSpace(text[:n])); known {
					at.End = at.Start + len(strings.TrimRight(text[:n], " \t"))
				}
			}
		}
	}
	if s.line == 0 {
		s.line, s.at = at.line, at.Range
		word := d.text[at.Start:at.End]
		if s.state = state; !known {
			s.state = task.Blocked
			s.fault = words.Unknown(fmt.Sprintf("%s line %d", d.Name, at.line), text)
		}
		if words.Write[state] != word || !known {
			s.word = word
		}
	} else if !known {
		return // it is other text
	}
	written := words.Write
	if at.quote == "" && at.Start < d.begin {
		written = quoted(words.Write)
	}
	s.places = append(s.places, task.Place{Range: at.Range, Words: written})
}

// quoted returns words as YAML needs them.
func quoted(words map[task.State]string) map[task.State]string {
	all := maps.Clone(words)
	for state, word := range words {
		if strings.ContainsAny(word, ":#{}[],&*!|>'\"%@`") {
			all[state] = `"` + word + `"`
		}
	}
	return all
}

// Heading spells a title for a heading.
func Heading(title string) string { return termtext.Unwrap(title) }

// Title spells a title for YAML.
func Title(title string) string {
	title = Heading(title)
	var read struct{ Title any }
	if err := projectfs.UnmarshalYAML([]byte("title: "+title), &read); err != nil || read.Title != title {
		return strconv.Quote(title)
	}
	return title
}

// boxLabels returns the names of boxes that are states, in Portuguese.
func boxLabels() map[string]task.State {
	return map[string]task.State{
		"rascunho": task.Blocked, "pronta": task.Open, "pronto": task.Open, "pendente": task.Open, "a fazer": task.Open,
		"aprovada": task.Open, "em andamento": task.Active, "em desenvolvimento": task.Active,
		"em progresso": task.Active, //nolint:misspell // Portuguese
		"em revisão":   task.Review, "revisão": task.Review, "pronta para revisão": task.Review,
		"bloqueada": task.Blocked, "bloqueado": task.Blocked, "concluída": task.Done, "concluído": task.Done,
		"concluida": task.Done,
	}
}

// choices reads the status boxes of Portuguese templates. Writing a state unticks a box with an unknown name.
func (d *doc) choices(lines []boxes.MarkdownLine) (s status) {
	labels := boxLabels()
	writable := map[task.State]bool{}
	var odd status
	for _, l := range lines {
		texts, places := d.items([]boxes.MarkdownLine{l})
		if len(places) != 1 || len(texts) != 1 {
			continue
		}
		marked := d.text[places[0].Range.Start] != ' '
		state, known := labels[strings.ToLower(strings.Trim(texts[0], " *_."))]
		if !known && !marked {
			continue
		}
		words := map[task.State]string{}
		for any := task.Open; any <= task.Dropped; any++ {
			words[any] = " "
		}
		at := places[0].Range
		s.places = append(s.places, task.Place{Range: at, Words: words})
		if !known {
			odd.line, odd.word = l.Number, texts[0]
			continue
		}
		if !writable[state] {
			words[state], writable[state] = "x", true
		}
		if s.line == 0 || marked {
			s.line = l.Number
		}
		if marked {
			s.state = state
		}
	}
	if s.line > 0 && odd.line > 0 {
		s.state, s.word, s.line = task.Blocked, odd.word, odd.line
		s.fault = fmt.Sprintf("%s line %d: unknown status %.40q; known: %s", d.Name, odd.line, odd.word,
			strings.Join(slices.Sorted(maps.Keys(labels)), ", "))
	}
	for _, p := range s.places {
		for state := range p.Words {
			if !writable[state] && state != task.Open { // open is also written if no box stands for it
				delete(p.Words, state)
			}
		}
	}
	return s
}
