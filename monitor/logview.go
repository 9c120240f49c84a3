package monitor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
)

// logView is a log with its position, search and display modes. It does no I/O. The
// cost of a call depends on the visible lines, not on the length of the log.
type logView struct {
	ring
	follow bool
	wrap   bool
	bare   bool // without times and marks
	top    place
	width  int // of the text, at the latest draw
	height int
	query  string
	match  func(text string) (start, end int)
	hits   []int // numbers of the lines that match, ascending
	seek   bool  // no match yet, and older lines are being loaded
	found  place // the current match; its line is -1 without one
	marks  bool  // there is a cursor
	mark   int   // the number of its line
	// needOlder asks for lines before the first one; noOlder: there are none.
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
	if !v.follow || v.query != "" {
		limit = ringBack
	}
	v.hits = append(v.hits, v.matching(lines, v.end())...)
	v.keep(lines, limit)
}

// keep adds lines. What it drops can be loaded again.
func (v *logView) keep(lines []view.Line, limit int) {
	first := v.first
	if v.add(lines, limit); v.first == first {
		return
	}
	v.noOlder = false
	n, _ := slices.BinarySearch(v.hits, v.first)
	v.hits = v.hits[n:]
}

// clear drops the lines.
func (v *logView) clear() {
	v.ring.clear()
	v.hits, v.noOlder = nil, false
}

// replace replaces all lines and keeps the place.
func (v *logView) replace(all []view.Line) {
	if slices.Equal(all, v.lines) {
		return
	}
	at, mark := v.top.line-v.first, v.mark-v.first
	v.clear()
	v.noOlder, v.found.line = true, -1
	v.hits = v.matching(all, v.end())
	v.keep(all, ringBack)
	v.top.line, v.mark = v.first+at, v.first+mark
}

// matching returns the numbers of the lines that match, the first of which is number from.
func (v *logView) matching(lines []view.Line, from int) (hits []int) {
	for i := range lines {
		if v.query == "" {
			break
		}
		if start, _ := v.match(lines[i].Text); start >= 0 {
			hits = append(hits, from+i)
		}
	}
	return hits
}

// setQuery begins a search. An empty query ends it.
func (v *logView) setQuery(query string) {
	v.query, v.match, v.found.line, v.seek = query, matcher(query), -1, false
	v.hits = v.matching(v.lines, v.first)
}

// progress is the number of the current match and of all, "3/17"; empty without a search.
func (v *logView) progress() string {
	if v.query == "" {
		return ""
	}
	at, ok := slices.BinarySearch(v.hits, v.found.line)
	if ok {
		at++
	} else {
		at = 0
	}
	more := ""
	if !v.noOlder {
		more = "…" // still loading
	}
	return fmt.Sprintf("%d/%d%s", at, len(v.hits), more)
}

// rows wraps text and returns the byte offset of the end of each row. A row breaks
// after a space if there is one in its second half.
func rows(text string, width int) []int {
	if len(text) <= width {
		return []int{len(text)}
	}
	var ends []int
	start, cells, space := 0, 0, -1
	for i, r := range text {
		w := canvas.CellWidth(r)
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

// move moves p by rows, up for a negative number. It stops at the ends.
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

// clamp moves a place whose line is gone to the nearest line that exists.
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

// layOut sets the size of the text and adjusts the first row.
func (v *logView) layOut(width, height int) {
	v.width, v.height = max(width, 1), max(height, 1)
	last := v.lastTop()
	if v.top = v.clamp(v.top); v.follow || last.before(v.top) {
		v.top = last
	}
}

// scroll moves by rows. At the end it follows again; near the beginning it asks for
// older lines.
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

// marked is the number of the line under the cursor: the last one while the log follows its end.
func (v *logView) marked() int {
	if v.follow {
		return v.end() - 1
	}
	return min(max(v.mark, v.first), v.end()-1)
}

// markLine moves the cursor to a line, and scrolls as little as that takes.
func (v *logView) markLine(n int) {
	if len(v.lines) == 0 {
		return
	}
	v.follow = n >= v.end()-1
	v.mark = min(max(n, v.first), v.end()-1)
	if at := (place{v.mark, 0}); at.before(v.top) {
		v.top = at
	}
	if last := v.move(place{v.mark, v.rowsOf(v.mark) - 1}, 1-v.height); v.top.before(last) {
		v.top = last
	}
}

func (v *logView) toEnd() {
	v.follow, v.top = true, v.lastTop()
	v.append(nil)
}

func (v *logView) toStart() {
	v.follow, v.top = false, place{v.first, 0}
	v.needOlder = true
}

// prepend adds older lines. No lines means that there are none.
func (v *logView) prepend(older []view.Line) {
	v.needOlder = false
	if len(older) == 0 || !v.addOlder(older) {
		v.noOlder = true
		return
	}
	v.hits = append(v.matching(older, v.first), v.hits...)
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

// times are the times of the lines in memory.
func (v *logView) times() map[int64]bool {
	all := map[int64]bool{}
	for i := range v.lines {
		if at := v.lines[i].At; !at.IsZero() {
			all[at.UnixNano()] = true
		}
	}
	return all
}

// matcher finds the query in a line. It ignores case unless the query has a capital.
// Without a match, start is -1.
func matcher(query string) func(text string) (start, end int) {
	if query == "" {
		return func(string) (int, int) { return -1, -1 }
	}
	pattern := regexp.QuoteMeta(query)
	if !strings.ContainsFunc(query, unicode.IsUpper) {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	return func(text string) (int, int) {
		if at := re.FindStringIndex(text); at != nil {
			return at[0], at[1]
		}
		return -1, -1
	}
}

// search moves to the next matching line, towards older ones for a negative
// direction. It wraps around and reports whether there is a match.
func (v *logView) search(direction int) bool {
	n := len(v.hits)
	if n == 0 {
		return false
	}
	from := v.found.line
	if from < v.first || from >= v.end() {
		from = v.clamp(v.move(v.top, v.height-1)).line
		if direction < 0 {
			from++
		}
	}
	i, exact := slices.BinarySearch(v.hits, from)
	switch {
	case direction < 0:
		i--
	case exact:
		i++
	}
	at := v.hits[(i+n)%n]
	start, _ := v.match(v.at(at).Text)
	v.found = place{at, 0}
	for _, end := range rows(v.at(at).Text, v.width) {
		if start < end || !v.wrap {
			break
		}
		v.found.row++
	}
	v.follow = false
	v.top = v.move(v.found, -v.height/3)
	if last := v.lastTop(); last.before(v.top) {
		v.top = last
	}
	return true
}
