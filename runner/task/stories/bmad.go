package stories

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ralph/logs/lazy"
	"ralph/runner/task"
)

var sprintKey = lazy.Regexp(`^\s+["']?([\p{L}\p{N}_.-]+)["']?\s*:(?:\s|$)`)

var storyKey = lazy.Regexp(`^\d+-\d+[\w.]*-[\p{L}\p{N}_.-]+$`)

// Sprint reads the sprint-status.yaml of BMAD version 6, with the story files beside it.
func Sprint(in task.Input) (task.Parsed, error) {
	p := task.Parsed{List: task.List{Marking: "Set the story's status to `done` in `%s` and in `sprint-status.yaml`"}}
	words := task.Vocabulary(map[task.State]string{task.Open: "ready-for-dev", task.Active: "in-progress",
		task.Review: "review", task.Done: "done", task.Blocked: "|backlog|drafted"})
	docs := map[string]*story{}
	key := func(name string) string { return strings.TrimSuffix(path.Base(name), ".md") }
	for i, s := range readAll(in.Files, 1, words, func(d *doc) (task.Task, task.Spot) { return d.story(key(d.Name)) }) {
		switch {
		case i == 0: // the plan itself
		case s.err != nil:
			return p, s.err
		default:
			docs[key(in.Files[i].Name)] = &s
		}
	}
	s := sprint{Parsed: p, text: string(in.Files[0].Data), words: words,
		epics: map[string]task.Range{}, stamps: map[task.State]string{}}
	s.Words = s.words.Write
	likely := min(strings.Count(s.text, ":"), 50_000) // nearly every line is a story
	s.Tasks, s.Spots, s.seen = make([]task.Task, 0, likely), make([]task.Spot, 0, likely), make(map[string]int, likely)
	s.frame()
	err := s.stories(docs)
	return s.Parsed, err
}

// stories reads the lines of development_status. It reads them one by one, because it needs their
// places in the file to change one of them and nothing else.
func (s *sprint) stories(docs map[string]*story) error {
	start, number, inside, found := 0, 0, false, false
	var first, value struct{ line, indent int } // value: the previous line, if it has a value
	for raw := range strings.Lines(s.text) {
		number++
		line := strings.TrimRight(raw, "\r\n")
		content := strings.TrimSpace(line)
		switch {
		case content == "" || content[0] == '#':
		case line[0] != ' ' && line[0] != '\t':
			if inside = strings.HasPrefix(line, "development_status:"); inside {
				found = true
				if rest := strings.TrimSpace(strings.TrimPrefix(line, "development_status:")); rest != "" &&
					rest[0] != '#' {
					return fmt.Errorf("line %d: must be %q with a line for each story below it, found %.40q", number,
						"development_status:", line)
				}
			}
		case inside:
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if line[indent] == '\t' {
				return fmt.Errorf("line %d: must be indented with spaces, found %.40q", number, content)
			}
			if first.line == 0 {
				first.line, first.indent = number, indent
			}
			like := 0
			if indent < first.indent {
				like = first.line
			} else if value.line > 0 && indent > value.indent {
				like = value.line
			}
			if like > 0 {
				return fmt.Errorf("line %d: must be indented like line %d, found %.40q", number, like, content)
			}
			m := sprintKey().FindStringSubmatchIndex(line)
			if m == nil {
				return fmt.Errorf("line %d: must be \"KEY: status\", found %.40q", number, content)
			}
			value.line, value.indent = number, indent
			if rest := strings.TrimSpace(line[m[1]:]); rest == "" || rest[0] == '#' {
				value.line = 0 // its value may be below it
			}
			if key := line[m[2]:m[3]]; storyKey().MatchString(key) {
				at := scalar(s.text, task.Range{Start: start + m[1], End: start + len(line)})
				if err := s.story(key, at.Range, number, docs[key]); err != nil {
					return err
				}
			}
		}
		start += len(raw)
	}
	if !found {
		return fmt.Errorf("line 1: %q is missing", "development_status")
	}
	return nil
}

// sprint collects the stories of a status file.
type sprint struct {
	task.Parsed
	text  string
	words task.Words
	seen  map[string]int
	epics map[string]task.Range // that have not started
	// changed is where the file says when it was changed; End 0: nowhere.
	changed task.Range
	stamps  map[task.State]string
}

// story adds the story of a line.
func (s *sprint) story(key string, at task.Range, line int, d *story) error {
	if strings.HasSuffix(key, "-retrospective") {
		return nil
	}
	if first := s.seen[key]; first > 0 {
		return fmt.Errorf("line %d: %q is also in line %d: each must be unique", line, key, first)
	}
	s.seen[key] = line
	parts := strings.SplitN(key, "-", 3)
	t := task.Task{ID: key, Title: strings.ReplaceAll(parts[2], "-", " "), Line: line, Category: "epic-" + parts[0]}
	spot := task.Spot{}
	if d != nil {
		title := t.Title
		if t, spot = d.Task, d.spot; t.Title == key { // the file has none
			t.Title = title
		}
		t.Line, t.Category = line, "epic-"+parts[0]
	}
	if word := s.text[at.Start:at.End]; !s.words.Apply(&t, word) {
		s.Warnings = append(s.Warnings, s.words.Unknown(fmt.Sprintf("sprint-status.yaml line %d (%s)", line, key), word))
	}
	spot.Word = at
	spot.States = append(spot.States, task.Place{Range: at, Words: s.words.Write})
	if d != nil && d.status.fault == "" {
		spot.States = append(spot.States, d.status.places...)
	}
	if at, waits := s.epics[parts[0]]; waits { // an epic starts with its first story
		begun := map[task.State]string{task.Active: "in-progress", task.Review: "in-progress", task.Done: "in-progress"}
		spot.States = append(spot.States, task.Place{Range: at, Words: begun})
	}
	if s.changed.End > 0 {
		spot.States = append(spot.States, task.Place{Range: s.changed, Words: s.stamps})
	}
	s.Tasks, s.Spots = append(s.Tasks, t), append(s.Spots, spot)
	return nil
}

var epicKey = lazy.Regexp(`^\s+epic-(\d+)\s*:[ \t]*(backlog|contexted)\b`)

// frame finds the places that do not belong to a single story.
func (s *sprint) frame() {
	start := 0
	for line := range strings.Lines(s.text) {
		if strings.Contains(line, "epic-") { // the expression is slow for 20,000 lines
			if m := epicKey().FindStringSubmatchIndex(line); m != nil {
				s.epics[line[m[2]:m[3]]] = task.Range{Start: start + m[4], End: start + m[5]}
			}
		}
		start += len(line)
	}
	s.changed = value(s.text, "last_updated", 0).Range
	now := task.Today
	was := s.text[s.changed.Start:s.changed.End]
	for _, layout := range []string{time.RFC3339, "01-02-2006 15:04", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if _, err := time.Parse(layout, was); err == nil {
			now = task.Time(layout) // BMAD's tools refuse a file with a different layout
		}
	}
	for state := range s.words.Write {
		s.stamps[state] = now
	}
}

// StoryFolders returns the patterns of the story files of a sprint-status.yaml, relative to its
// folder.
func StoryFolders(data []byte) []string {
	patterns := []string{"[0-9]*-[0-9]*-*.md", "stories/[0-9]*-[0-9]*-*.md"}
	at := value(string(data), "story_location", 0)
	if at.line == 0 {
		return patterns
	}
	location := strings.Trim(strings.TrimPrefix(string(data[at.Start:at.End]), "{project-root}"), "/")
	if strings.ContainsAny(location, "*?[{\\") || slices.Contains(strings.Split(location, "/"), "..") {
		return patterns
	}
	for up := ""; len(up) <= 4*3; up += "../" {
		patterns = append(patterns, up+location+"/[0-9]*-[0-9]*-*.md")
	}
	return patterns
}

// Spec reads a spec of BMAD version 6.11: one file, with its status in front matter.
func Spec(in task.Input) (task.Parsed, error) {
	p := task.Parsed{List: task.List{Marking: "Set `status: done` in the front matter of `%s`"}}
	d, err := read(0, in.Files[0])
	if err != nil {
		return p, err
	}
	words := task.Vocabulary(map[task.State]string{task.Open: "ready-for-dev", task.Active: "in-progress",
		task.Review: "in-review", task.Done: "done", task.Blocked: "blocked|draft"})
	p.Words = words.Write
	id := strings.TrimSuffix(path.Base(d.Name), ".md")
	t, spot := d.story(id)
	t.File, spot.Title = "", d.frontTitle()
	if title := d.str("title"); title != "" {
		t.Title = title
	}
	if _, rest, ok := strings.Cut(d.text, "<intent-contract>"); ok {
		contract, _, _ := strings.Cut(rest, "</intent-contract>")
		t.Description = strings.TrimSpace(strings.ReplaceAll(contract, "\r", ""))
	}
	s := d.status(words)
	s.apply(&t, &spot)
	if s.fault != "" {
		p.Warnings = append(p.Warnings, s.fault)
	}
	p.Tasks, p.Spots = []task.Task{t}, []task.Spot{spot}
	return p, nil
}

// IsSpec reports whether a file is such a spec.
func IsSpec(data []byte) bool {
	if !bytes.Contains(data, []byte("<intent-contract>")) {
		return false // nearly always; this avoids a copy
	}
	text := string(data)
	block, ok := frontMatter(text)
	if !ok {
		return false
	}
	return value(text[:block], "status", 0).line > 0
}
