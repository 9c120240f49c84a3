package monitor

// This file is the monitor's page of what an iteration or a task changed: files and
// hunks of a patch. It says which verb of ralph a key asks for, and runs nothing itself.

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"ralph/logs/termtext"
)

// changesSubject is whose changes are shown.
type changesSubject struct {
	Arg    string // of the verbs: the number of an iteration, or the id of a task
	Name   string // "iteration 6", "task T4"
	Run    string // its id; empty: the latest
	Living bool   // a runner works here, so nothing can be undone
}

// changesPage is the page of changes. It is not safe for concurrent use.
type changesPage struct {
	changesSubject
	asks     bool // sure waits for an answer
	sure     sure
	files    []file
	folded   map[int]bool
	selected int // file
	top      int // first row on the screen
	left     int // width of the list of files; 0 if there is none
	height   int // rows, at the latest draw
	ready    bool
	why      string // there is nothing to show, or not all of it
}

// file is one file of a patch; only a heading: the iteration that changed the next ones.
type file struct {
	heading        string
	name           string
	added, deleted int64
	rows           []row
}

// row is a line of a hunk, or its head.
type row struct {
	kind kind
	text string
}

type kind int

const (
	changesContext kind = iota
	added
	deleted
	hunk
	remark
)

// maxRows bounds what is kept of a patch.
const maxRows = 50_000

// newChangesPage returns a page that waits for its patch.
func newChangesPage(s changesSubject) *changesPage {
	return &changesPage{changesSubject: s, folded: map[int]bool{}}
}

// Verb prints the patch.
func (p *changesPage) Verb() []string { return p.verb("diff") }

func (p *changesPage) verb(name string, flags ...string) []string {
	verb := append([]string{name}, flags...)
	if p.Run != "" {
		verb = append(verb, "--run="+p.Run)
	}
	return append(verb, "--", p.Arg)
}

// Fail shows why there is no patch.
func (p *changesPage) Fail(why string) { p.why, p.ready = termtext.Line(why), true }

// heading is what ralph prints above the patch of each iteration of a task.
var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^iteration \d+: .*$`) })

// Load reads a patch, or several with headings. Of a broken patch, it shows what it can read.
func (p *changesPage) Load(text string) {
	p.ready, p.files, p.why = true, nil, ""
	at := heading().FindAllStringIndex(text, -1)
	if len(at) == 0 {
		p.read("", text)
	}
	for i, from := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		p.read(termtext.Line(text[from[0]:from[1]]), text[from[1]:end])
	}
	if len(p.files) == 0 && p.why == "" {
		p.why = p.Name + " changed no file"
	}
}

func (p *changesPage) read(heading, text string) {
	all, _, err := gitdiff.Parse(strings.NewReader(text))
	for i, f := range all {
		one := read(f)
		if i == 0 {
			one.heading = heading
		}
		p.files = append(p.files, one)
	}
	if err != nil {
		p.why = "the rest of the patch cannot be read: " + termtext.Line(err.Error())
	}
}

func read(f *gitdiff.File) file {
	one := file{name: nameOf(f)}
	say := func(format string, args ...any) {
		one.rows = append(one.rows, row{remark, fmt.Sprintf(format, args...)})
	}
	if f.IsBinary {
		say("a binary file")
	}
	if f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode {
		say("mode %o, was %o", f.NewMode, f.OldMode)
	}
	for _, part := range f.TextFragments {
		one.added, one.deleted = one.added+part.LinesAdded, one.deleted+part.LinesDeleted
		one.rows = append(one.rows, row{hunk, termtext.Line(part.Header())})
		for _, l := range part.Lines {
			if len(one.rows) >= maxRows {
				say("more lines: ralph diff shows them")
				return one
			}
			one.rows = append(one.rows, row{kindOf(l.Op), lineOf(l.Line)})
		}
	}
	return one
}

func kindOf(op gitdiff.LineOp) kind {
	switch op {
	case gitdiff.OpAdd:
		return added
	case gitdiff.OpDelete:
		return deleted
	}
	return changesContext
}

// lineOf is a line of a file, safe to print, with tabs as spaces.
func lineOf(text string) string {
	clean := termtext.Clean(strings.TrimRight(text, "\r\n"))
	return strings.NewReplacer("\t", "    ", "\n", " ").Replace(clean)
}

func nameOf(f *gitdiff.File) string {
	switch name, old := termtext.Line(f.NewName), termtext.Line(f.OldName); {
	case f.IsDelete:
		return old + " (deleted)"
	case f.IsNew:
		return name + " (new)"
	case old != name && old != "":
		return old + " → " + name
	default:
		return name
	}
}

// changesPlace is one row of the page: a heading, a file, or a row of it.
type changesPlace struct{ file, row int }

const (
	isHeading = -2
	isFile    = -1
)

// places lists all rows.
func (p *changesPage) places() []changesPlace {
	var all []changesPlace
	for i, f := range p.files {
		if f.heading != "" {
			all = append(all, changesPlace{i, isHeading})
		}
		all = append(all, changesPlace{i, isFile})
		for j := range f.rows {
			if p.folded[i] {
				break
			}
			all = append(all, changesPlace{i, j})
		}
	}
	return all
}

// Scroll moves by rows; the file at the top becomes the selected one.
func (p *changesPage) Scroll(by int) {
	all := p.places()
	if len(all) == 0 {
		return
	}
	p.top = max(min(p.top+by, len(all)-p.height), 0)
	p.selected = all[p.top].file
}

// Click selects the file at a row. In the list beside the hunks it also shows it.
func (p *changesPage) Click(x, y int) {
	if p.why != "" {
		y--
	}
	if x < p.left {
		if at := p.firstFile(p.height) + y; y >= 0 && at < len(p.files) {
			p.selected = at
			p.show()
		}
		return
	}
	if all := p.places(); y >= 0 && p.top+y < len(all) {
		p.selected = all[p.top+y].file
	}
}

// step selects the next file, or the one before.
func (p *changesPage) step(by int) {
	p.selected = min(max(p.selected+by, 0), max(len(p.files)-1, 0))
	p.show()
}

// show moves the selected file to the top, as far as there are rows.
func (p *changesPage) show() {
	all := p.places()
	for y, at := range all {
		if at.file == p.selected {
			p.top = max(min(y, len(all)-p.height), 0)
			return
		}
	}
}
