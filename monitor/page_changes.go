package monitor

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// changesPage shows what an iteration or a task changed: files and hunks of a patch.
type changesPage struct {
	u        *ui
	of       string // the number of an iteration, or the id of a task
	name     string // "iteration 6", "task T4"
	run      string // its id; empty: the latest
	files    []file
	folded   map[int]bool
	selected int // file
	top      int // first row on the screen
	left     int // width of the list of files; 0 if there is none
	height   int // rows, at the latest draw
	ready    bool
	why      string // there is nothing to show, or not all of it
}

const maxDiff = 2 << 20 // bytes of a patch that are shown

// openChanges shows what an iteration changed.
func (u *ui) openChanges(n int) {
	switch i := u.indexOf(n); {
	case i < 0:
		u.say("no iteration has begun yet, so there are no changes")
	case u.model.Run.Iterations[i].Running():
		u.say("iteration %d has not ended yet; what it changes is kept then", n)
	default:
		u.showChanges(strconv.Itoa(n), fmt.Sprintf("iteration %d", n))
	}
}

// showChanges opens the page; ralph itself makes the patch, in the background.
func (u *ui) showChanges(of, name string) {
	if why := u.noRalph(); why != "" {
		u.fail("no changes: " + why)
		return
	}
	p := &changesPage{u: u, of: of, name: name, run: u.runID(), folded: map[int]bool{}}
	u.open("changes", p)
	ralph := u.ralph()
	ralph.Most = maxDiff
	u.background(func() func() {
		out, err := ralph.Output(context.Background(), p.verb("diff")...)
		return func() {
			if p.load(string(out)); err != nil {
				p.files, p.why = nil, termtext.Line(err.Error())
			}
		}
	})
}

// verb acts on what is shown.
func (p *changesPage) verb(name string, flags ...string) []string {
	verb := append([]string{name}, flags...)
	if p.run != "" {
		verb = append(verb, "--run="+p.run)
	}
	return append(verb, "--", p.of)
}

// Keys are the keys of the page.
func (p *changesPage) Keys() []binding {
	return append([]binding{
		{"] tab", "next file", "the next file", func() { p.step(1) }},
		{"[ backtab", "", "the file before", func() { p.step(-1) }},
		{"enter", "fold", "fold the file, or unfold it", func() {
			p.folded[p.selected] = !p.folded[p.selected]
			p.show()
		}},
		{"z", "", "fold all files, or unfold them", func() {
			fold := !p.folded[p.selected]
			for i := range p.files {
				p.folded[i] = fold
			}
			p.show()
		}},
		{"u", "undo", "take these changes back, as a new commit (asks first)", p.undo},
	}, moveKeys(allUp, p.Scroll, func() int { return max(p.height, 2) - 1 })...)
}

func (p *changesPage) undo() {
	switch {
	case !p.ready || len(p.files) == 0:
		p.u.say("there is nothing to undo")
	case p.u.model.Alive:
		p.u.say("a run is at work here; undo when it has ended")
	default:
		p.u.confirm("undo "+p.name+": take "+termtext.Count(p.count(), "file")+" back, as a new commit",
			func() { p.u.act(p.verb("undo", "--yes")...) })
	}
}

// count is how many files changed; a task's iterations may have changed the same ones.
func (p *changesPage) count() int {
	names := map[string]bool{}
	for _, f := range p.files {
		names[f.name] = true
	}
	return len(names)
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

// heading is what ralph prints above the patch of each iteration of a task.
var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^iteration \d+: .*$`) })

// load reads a patch, or several with headings. Of a broken patch, it shows what it can read.
func (p *changesPage) load(text string) {
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
		p.why = p.name + " changed no file"
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

const changesTwoColumns = 120 // minimum width for the list of files beside the hunks

// Draw draws the page. The cost depends on the rows on the screen.
func (p *changesPage) Draw(c canvas.Canvas) {
	right := ""
	if n := p.count(); n > 0 {
		added, deleted := p.totals()
		right = fmt.Sprintf("%s +%d -%d", termtext.Count(n, "file"), added, deleted)
	}
	c.Title(canvas.Title{Name: "Changes of " + p.name, Key: "d", Focused: true, Right: right})
	c = c.Rows(1, c.H-1)
	switch {
	case !p.ready:
		c.Text(1, 0, c.Dim(), "asking git …")
		return
	case p.why != "":
		c.Text(1, 0, c.Tone(summary.Warn), termtext.Fit(p.why, c.W-2))
		c = c.Rows(1, c.H-1)
	}
	if len(p.files) == 0 {
		return
	}
	if p.left = 0; c.W >= changesTwoColumns {
		left := min(c.W/3, 50)
		p.left = left
		p.drawFiles(c.Columns(0, left-1))
		for y := range c.H {
			c.Text(left-1, y, c.Dim(), "│")
		}
		c = c.Columns(left, c.W-left)
	}
	p.height = c.H
	all := p.places()
	p.top = max(min(p.top, len(all)-c.H), 0)
	for y := 0; y < c.H && p.top+y < len(all); y++ {
		p.drawPlace(c.Rows(y, 1), all[p.top+y])
	}
}

func (p *changesPage) totals() (added, deleted int64) {
	for _, f := range p.files {
		added, deleted = added+f.added, deleted+f.deleted
	}
	return added, deleted
}

// firstFile is the index of the first file to draw in a list of h rows.
func (p *changesPage) firstFile(h int) int { return max(0, min(p.selected-h/2, len(p.files)-h)) }

// drawFiles lists the files around the selected one.
func (p *changesPage) drawFiles(c canvas.Canvas) {
	first := p.firstFile(c.H)
	for y := 0; y < c.H && first+y < len(p.files); y++ {
		p.drawFile(c.Rows(y, 1), first+y, "")
	}
}

func (p *changesPage) drawFile(c canvas.Canvas, i int, fold string) {
	f, style, more, less := p.files[i], plain.Bold(true), c.Tone(summary.Good), c.Tone(summary.Bad)
	if i == p.selected {
		style = style.Reverse(true)
		more, less = style, style
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	}
	plus, minus := fmt.Sprintf("+%d", f.added), fmt.Sprintf(" -%d", f.deleted)
	right := c.W - 1 - len(plus) - len(minus)
	c.Text(1, 0, style, canvas.FitEnd(fold+f.name, max(right-2, 1)))
	c.Text(c.Text(right, 0, more, plus), 0, less, minus)
}

func (p *changesPage) drawPlace(c canvas.Canvas, at changesPlace) {
	f := p.files[at.file]
	switch at.row {
	case isHeading:
		c.Text(1, 0, c.Tone(summary.Busy).Bold(true), termtext.Fit(f.heading, c.W-2))
		return
	case isFile:
		fold := "▾ "
		if p.folded[at.file] {
			fold = "▸ "
		}
		p.drawFile(c, at.file, fold)
		return
	}
	r := f.rows[at.row]
	switch r.kind {
	case added:
		c.Text(1, 0, c.Tone(summary.Good), termtext.Fit("+"+r.text, c.W-2))
	case deleted:
		c.Text(1, 0, c.Tone(summary.Bad).Bold(false), termtext.Fit("-"+r.text, c.W-2))
	case hunk:
		c.Text(1, 0, c.Tone(summary.Busy), termtext.Fit(r.text, c.W-2))
	case remark:
		c.Text(1, 0, c.Dim(), termtext.Fit(r.text, c.W-2))
	default:
		c.Text(1, 0, plain, termtext.Fit(" "+r.text, c.W-2))
	}
}
