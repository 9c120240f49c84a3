package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ralph/logs/termtext"
	"ralph/state/view"
)

func numbered(from, n int, text string) []view.Line {
	var all []view.Line
	for i := range n {
		all = append(all, view.Line{At: noon.Add(time.Duration(from+i) * time.Second), Text: fmt.Sprintf("%d %s", from+i, text)})
	}
	return all
}

func TestRows_cutTextIntoRowsThatFit(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"short", 10, "short"},
		{"one two three four", 10, "one two |three four"},
		{"abcdefghijklmnop", 5, "abcde|fghij|klmno|p"},
		{"漢字漢字漢字", 5, "漢字|漢字|漢字"},
		{"a 漢字漢字", 4, "a 漢|字漢|字"},
		{"ééééé", 2, "éé|éé|é"},
		{"漢", 1, "漢"},
	} {
		var got []string
		start := 0
		for _, end := range rows(c.text, c.width) {
			got = append(got, c.text[start:end])
			start = end
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q at %d is cut to %q, want %q", c.text, c.width, strings.Join(got, "|"), c.want)
		}
	}
}

func TestRows_anyText_loseNothingAndFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(termtext.Clean(rapid.String().Draw(t, "text")), "\n", " ")
		width := rapid.IntRange(2, 40).Draw(t, "width")
		start := 0
		for _, end := range rows(text, width) {
			if end < start || termtext.Width(text[start:end]) > width {
				t.Fatalf("%q at %d has a row %q", text, width, text[start:end])
			}
			start = end
		}
		if start != len(text) {
			t.Fatalf("%q at %d ends at %d", text, width, start)
		}
	})
}

func TestMove_upAndDown_isTheSamePlace(t *testing.T) {
	v := newLogView()
	v.append(numbered(0, 50, strings.Repeat("word ", 30)))
	v.layOut(40, 10)
	start := v.top
	for _, by := range []int{1, 3, 9, 50} {
		up := v.move(start, -by)
		if back := v.move(up, by); back != start {
			t.Errorf("%d up and down goes from %v to %v", by, start, back)
		}
	}
	if p := v.move(start, -100000); p != (place{v.first, 0}) {
		t.Errorf("far up is %v", p)
	}
	if p := v.move(start, 100000); p.line != v.end()-1 {
		t.Errorf("far down is %v", p)
	}
}

func TestLogView_scrolledBack_staysWhereItIsWhileTheLogGrows(t *testing.T) {
	v := newLogView()
	v.append(numbered(0, 1000, "text"))
	v.layOut(80, 20)
	v.scroll(-300)
	v.layOut(80, 20)
	at := v.at(v.top.line).Text
	for i := range 50 {
		v.append(numbered(1000+i*1000, 1000, strings.Repeat("x", 60)))
		v.layOut(80, 20)
		if got := v.at(v.top.line).Text; got != at {
			t.Fatalf("after %d lines the view moved from %q to %q", i*1000, at, got)
		}
	}
	if v.follow {
		t.Error("it follows again by itself")
	}
	v.toEnd()
	if v.layOut(80, 20); v.at(v.lastTop().line).Text != v.at(v.top.line).Text || v.bytes > ringFollow {
		t.Errorf("at the end the log holds %d bytes and shows %q", v.bytes, v.at(v.top.line).Text)
	}
}

func TestLogView_endlessLog_staysWithinItsBound(t *testing.T) {
	v := newLogView()
	for i := range 200 {
		v.append(numbered(i*500, 500, strings.Repeat("y", 4000)))
		if i == 100 {
			v.scroll(-10)
		}
		if limit := ringBack; v.bytes > limit {
			t.Fatalf("%d bytes are held", v.bytes)
		}
	}
	v.layOut(80, 20) // its place has gone: the nearest line is shown
	if v.top.line < v.first || v.top.line >= v.end() {
		t.Errorf("top %v is outside of %d to %d", v.top, v.first, v.end())
	}
}

func TestLogView_emptyOrTiny_neverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := newLogView()
		v.setQuery("x")
		n := 0
		steps := rapid.SliceOfN(rapid.IntRange(0, 11), 1, 40).Draw(t, "steps")
		for _, s := range steps {
			switch s {
			case 0:
				v.append(numbered(n, 3, strings.Repeat("x ", n%50)))
				n += 3
			case 1:
				v.scroll(-rapid.IntRange(0, 100).Draw(t, "up"))
			case 2:
				v.scroll(rapid.IntRange(0, 100).Draw(t, "down"))
			case 3:
				v.toStart()
			case 4:
				v.toEnd()
			case 5:
				v.search(1)
			case 6:
				v.search(-1)
			case 7:
				v.wrap = !v.wrap
			case 8:
				v.clear()
			case 9:
				v.prepend(numbered(-5, 5, "old"))
			default:
				v.layOut(rapid.IntRange(-1, 60).Draw(t, "w"), rapid.IntRange(-1, 20).Draw(t, "h"))
			}
		}
		v.layOut(10, 3)
		if len(v.lines) > 0 && (v.top.line < v.first || v.top.line >= v.end()) {
			t.Fatalf("top %v is outside of %d to %d", v.top, v.first, v.end())
		}
	})
}

func TestSearch_goesRoundInBothDirectionsAndMindsCapitals(t *testing.T) {
	v := newLogView()
	v.append([]view.Line{{Text: "Alpha"}, {Text: "beta"}, {Text: "ALPHA two"}, {Text: "gamma"}})
	v.layOut(20, 2)
	found := func(query string, direction int) string {
		if v.query != query {
			v.setQuery(query)
		}
		if !v.search(direction) {
			return "none"
		}
		return v.at(v.found.line).Text
	}
	var got []string
	for range 3 {
		got = append(got, found("alpha", -1))
	}
	got = append(got, found("alpha", 1), found("ALPHA", 1), found("delta", 1))
	if want := "ALPHA two,Alpha,ALPHA two,Alpha,ALPHA two,none"; strings.Join(got, ",") != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestSearch_matchInALaterRow_isOnTheScreen(t *testing.T) {
	v := newLogView()
	v.append([]view.Line{{Text: strings.Repeat("word ", 400) + "needle"}, {Text: "end"}})
	v.layOut(40, 5)
	v.setQuery("needle")
	if !v.search(-1) {
		t.Fatal("nothing found")
	}
	if v.found.row < 40 || v.found.before(v.top) || v.move(v.top, 4).before(v.found) {
		t.Errorf("the match is at %v, the screen begins at %v", v.found, v.top)
	}
}
