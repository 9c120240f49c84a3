package monitor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
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
	rows     []changesRow // of the files, as far as they are not folded
	selected int          // file
	top      int          // first row on the screen
	left     int          // width of the list of files; 0 if there is none
	height   int          // rows, at the latest draw
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
	p := &changesPage{u: u, of: of, name: name, run: u.runID()}
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
			p.fold(func(i int, f *file) bool { return f.folded != (i == p.selected) })
		}},
		{"z", "", "fold all files, or unfold them", func() {
			open := slices.ContainsFunc(p.files, func(f file) bool { return !f.folded })
			p.fold(func(int, *file) bool { return open })
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

// file is one file of a patch.
type file struct {
	heading        string // of the iteration that changed this and the next files
	name           string
	added, deleted int64
	folded         bool
	rows           []changesRow
}

// changesRow is one row of the page.
type changesRow struct {
	file int
	mark byte // '+', '-', ' ', '@' above a hunk, '!' for a remark, '#' for a heading; 0: it names the file
	text string
}

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
	p.fold(func(int, *file) bool { return false })
}

// fold says which files are folded, and lays the rows out anew.
func (p *changesPage) fold(folded func(i int, f *file) bool) {
	p.rows = nil
	for i := range p.files {
		f := &p.files[i]
		f.folded = folded(i, f)
		if f.heading != "" {
			p.rows = append(p.rows, changesRow{i, '#', f.heading})
		}
		p.rows = append(p.rows, changesRow{file: i})
		for _, r := range f.rows {
			if !f.folded {
				p.rows = append(p.rows, changesRow{i, r.mark, r.text})
			}
		}
	}
	p.show()
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
		one.rows = append(one.rows, changesRow{mark: '!', text: fmt.Sprintf(format, args...)})
	}
	if f.IsBinary {
		say("a binary file")
	}
	if f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode {
		say("mode %o, was %o", f.NewMode, f.OldMode)
	}
	for _, part := range f.TextFragments {
		one.added, one.deleted = one.added+part.LinesAdded, one.deleted+part.LinesDeleted
		one.rows = append(one.rows, changesRow{mark: '@', text: termtext.Line(part.Header())})
		for _, l := range part.Lines {
			if len(one.rows) >= maxRows {
				say("more lines: ralph diff shows them")
				return one
			}
			mark := l.Op.String()
			one.rows = append(one.rows, changesRow{mark: mark[0], text: mark + lineOf(l.Line)})
		}
	}
	return one
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

// Scroll moves by rows; the file at the top becomes the selected one.
func (p *changesPage) Scroll(by int) {
	if p.top = max(min(p.top+by, len(p.rows)-p.height), 0); len(p.rows) > 0 {
		p.selected = p.rows[min(p.top, len(p.rows)-1)].file // it has no rows to draw on in a very small terminal
	}
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
	if y >= 0 && p.top+y < len(p.rows) {
		p.selected = p.rows[p.top+y].file
	}
}

// step selects the next file, or the one before.
func (p *changesPage) step(by int) {
	p.selected = min(max(p.selected+by, 0), max(len(p.files)-1, 0))
	p.show()
}

// show moves the selected file to the top, as far as there are rows.
func (p *changesPage) show() {
	y := slices.IndexFunc(p.rows, func(r changesRow) bool { return r.file == p.selected })
	p.top = max(min(y, len(p.rows)-p.height), 0)
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
	p.top = max(min(p.top, len(p.rows)-c.H), 0)
	for y := 0; y < c.H && p.top+y < len(p.rows); y++ {
		p.drawRow(c.Rows(y, 1), p.rows[p.top+y])
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

func (p *changesPage) drawRow(c canvas.Canvas, r changesRow) {
	style := plain
	switch r.mark {
	case 0:
		fold := "▾ "
		if p.files[r.file].folded {
			fold = "▸ "
		}
		p.drawFile(c, r.file, fold)
		return
	case '#':
		style = c.Tone(summary.Busy).Bold(true)
	case '+':
		style = c.Tone(summary.Good)
	case '-':
		style = c.Tone(summary.Bad).Bold(false)
	case '@':
		style = c.Tone(summary.Busy)
	case '!':
		style = c.Dim()
	}
	c.Text(1, 0, style, termtext.Fit(r.text, c.W-2))
}
