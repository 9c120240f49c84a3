package monitor

import (
	"strings"
	"time"
	"unicode"

	"ralph/logs/termtext"
	"ralph/state/view"
)

// logView is a place in a log: what is visible, followed, wrapped, searched.
// It does no input or output. Every call costs as much as the lines that are
// visible, whatever the log holds.
type logView struct {
	ring
	follow bool
	wrap   bool
	shift  int // cells that are scrolled off to the left; unwrapped only
	top    place
	width  int // of the text, at the latest draw
	height int
	query  string
	found  place // the current match; -1 is none
	// needOlder asks for lines before the first; noOlder says that there are none.
	needOlder, noOlder bool
}

// place is one row: a line and the row within it.
type place struct{ line, row int }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.row < q.row
}

func newLogView() *logView {
	return &logView{follow: true, wrap: true, found: place{line: -1}, width: 80, height: 10}
}

func (v *logView) append(lines []view.Line) {
	limit := ringFollow
	if !v.follow {
		limit = ringBack
	}
	v.add(lines, limit)
}

// rows cuts text into the rows that it takes: byte offsets of their ends. A
// row breaks after a space where there is one in its second half.
func rows(text string, width int) []int {
	if len(text) <= width {
		return []int{len(text)}
	}
	var ends []int
	start, cells, space := 0, 0, -1
	for i, r := range text {
		w := cellWidth(r)
		if cells+w > width && i > start {
			cut := i
			if space > start && termtext.Width(text[start:space]) > width/2 {
				cut = space
			}
			ends = append(ends, cut)
			cells = termtext.Width(text[cut:i])
			start, space = cut, -1
		}
		cells += w
		if r == ' ' {
			space = i + 1
		}
	}
	return append(ends, len(text))
}

func (v *logView) rowsOf(n int) int {
	if !v.wrap {
		return 1
	}
	return len(rows(v.at(n).Text, v.width))
}

// move goes by rows, up for a negative number, and stops at the ends.
func (v *logView) move(p place, by int) place {
	p = v.clamp(p)
	if len(v.lines) == 0 {
		return p
	}
	for by < 0 {
		if p.row > 0 {
			step := min(-by, p.row)
			p.row -= step
			by += step
			continue
		}
		if p.line == v.first {
			return p
		}
		p.line--
		p.row = v.rowsOf(p.line) - 1
		by++
	}
	for by > 0 {
		left := v.rowsOf(p.line) - 1 - p.row
		if left >= by {
			p.row += by
			return p
		}
		if p.line == v.end()-1 {
			p.row += left
			return p
		}
		by -= left + 1
		p = place{p.line + 1, 0}
	}
	return p
}

// clamp moves a place whose line has gone to the nearest one that is there.
func (v *logView) clamp(p place) place {
	switch {
	case len(v.lines) == 0 || p.line < v.first:
		return place{v.first, 0}
	case p.line >= v.end():
		return place{v.end() - 1, v.rowsOf(v.end()-1) - 1}
	}
	p.row = min(p.row, v.rowsOf(p.line)-1)
	return p
}

// lastTop is the first row of the last screen.
func (v *logView) lastTop() place {
	return v.move(place{v.end(), 0}, 1-v.height)
}

// layOut fixes the size of the text and the first row for it.
func (v *logView) layOut(width, height int) {
	v.width, v.height = max(width, 1), max(height, 1)
	last := v.lastTop()
	if v.top = v.clamp(v.top); v.follow || last.before(v.top) {
		v.top = last
	}
}

// scroll moves by rows; reaching the end follows again, reaching the beginning
// asks for older lines.
func (v *logView) scroll(by int) {
	if by < 0 {
		v.follow = false
	}
	v.top = v.move(v.top, by)
	last := v.lastTop()
	if by > 0 && !v.top.before(last) {
		v.toEnd()
	}
	v.needOlder = v.needOlder || by < 0 && v.top.line-v.first < v.height
}

func (v *logView) toEnd() {
	v.follow, v.top = true, v.lastTop()
	v.add(nil, ringFollow)
}

func (v *logView) toStart() {
	v.follow, v.top = false, place{v.first, 0}
	v.needOlder = true
}

// prepend takes older lines, or the news that there are none.
func (v *logView) prepend(older []view.Line) {
	v.needOlder = false
	if len(older) == 0 || !v.addOlder(older) {
		v.noOlder = true
	}
}

// oldest is the time of the first line that has one.
func (v *logView) oldest() (t time.Time) {
	for i := range v.lines {
		if t = v.lines[i].At; !t.IsZero() {
			return t
		}
	}
	return t
}

// matcher finds the query in a line; it minds the case only when the query
// has a capital.
func matcher(query string) func(text string) (start, end int) {
	fold := !strings.ContainsFunc(query, unicode.IsUpper)
	return func(text string) (int, int) {
		find := strings.Index
		if fold {
			find = indexFold
		}
		i := find(text, query)
		if i < 0 || query == "" {
			return -1, -1
		}
		return i, i + len(query)
	}
}

// indexFold is strings.Index without minding the case of ASCII letters, which
// keeps every offset true.
func indexFold(text, lower string) int {
	if lower == "" {
		return 0
	}
	for i := 0; i+len(lower) <= len(text); i++ {
		j := 0
		for j < len(lower) && lowerByte(text[i+j]) == lowerByte(lower[j]) {
			j++
		}
		if j == len(lower) {
			return i
		}
	}
	return -1
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// search goes to the next line with the query, older for a negative
// direction, round the end. It reports whether there is one.
func (v *logView) search(direction int) bool {
	if v.query == "" || len(v.lines) == 0 {
		return false
	}
	match := matcher(v.query)
	from := v.found.line
	if from < v.first || from >= v.end() {
		from = v.clamp(v.move(v.top, v.height-1)).line
		if direction < 0 {
			from++
		}
	}
	n := len(v.lines)
	for i := 1; i <= n; i++ {
		at := v.first + ((from-v.first+direction*i)%n+n)%n
		start, _ := match(v.at(at).Text)
		if start < 0 {
			continue
		}
		v.found = place{at, 0}
		if v.wrap {
			for _, end := range rows(v.at(at).Text, v.width) {
				if start < end {
					break
				}
				v.found.row++
			}
		} else {
			v.shift = max(termtext.Width(v.at(at).Text[:start])-v.width/2, 0)
		}
		v.follow = false
		v.top = v.move(v.found, -v.height/3)
		if last := v.lastTop(); last.before(v.top) {
			v.top = last
		}
		return true
	}
	return false
}
