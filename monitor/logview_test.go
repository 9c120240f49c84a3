package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ralph/state"
)

func numbered(from, n int, text string) []line {
	var all []line
	for i := range n {
		all = append(all, line{at: noon.Add(time.Duration(from+i) * time.Second), text: fmt.Sprintf("%d %s", from+i, text)})
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
		text := strings.ReplaceAll(clean(rapid.String().Draw(t, "text")), "\n", " ")
		width := rapid.IntRange(2, 40).Draw(t, "width")
		start := 0
		for _, end := range rows(text, width) {
			if end < start || textWidth(text[start:end]) > width {
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
	at := v.at(v.top.line).text
	for i := range 50 {
		v.append(numbered(1000+i*1000, 1000, strings.Repeat("x", 60)))
		v.layOut(80, 20)
		if got := v.at(v.top.line).text; got != at {
			t.Fatalf("after %d lines the view moved from %q to %q", i*1000, at, got)
		}
	}
	if v.follow {
		t.Error("it follows again by itself")
	}
	v.toEnd()
	if v.layOut(80, 20); v.at(v.lastTop().line).text != v.at(v.top.line).text || v.bytes > ringFollow {
		t.Errorf("at the end the log holds %d bytes and shows %q", v.bytes, v.at(v.top.line).text)
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
		v.query = "x"
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
	v.append([]line{{text: "Alpha"}, {text: "beta"}, {text: "ALPHA two"}, {text: "gamma"}})
	v.layOut(20, 2)
	found := func(query string, direction int) string {
		v.query = query
		if !v.search(direction) {
			return "none"
		}
		return v.at(v.found.line).text
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
	v.append([]line{{text: strings.Repeat("word ", 400) + "needle"}, {text: "end"}})
	v.layOut(40, 5)
	v.query = "needle"
	if !v.search(-1) {
		t.Fatal("nothing found")
	}
	if v.found.row < 40 || v.found.before(v.top) || v.move(v.top, 4).before(v.found) {
		t.Errorf("the match is at %v, the screen begins at %v", v.found, v.top)
	}
}

func TestLogLines_everyKind_isShownAsWhatItIs(t *testing.T) {
	tool := &state.Tool{ID: "1", Name: "Bash", Arg: "ls"}
	sub := &state.Tool{ID: "2", Name: "Grep", Arg: "x", Parent: "1"}
	end := &state.End{Action: "stop", Rule: "complete", Reason: "all done", Outcome: "completed-turn", Files: 1, Exit: 3, Duration: time.Minute}
	for _, c := range []struct {
		e     state.Event
		role  role
		first string
		lines int
	}{
		{state.Event{Kind: state.KindText, Text: "\n\none\ntwo\n"}, roleText, "one", 2},
		{state.Event{Kind: state.KindText, Text: "  "}, 0, "", 0},
		{state.Event{Kind: state.KindTool, Tool: tool}, roleTool, "Bash ls", 1},
		{state.Event{Kind: state.KindTool, Tool: sub}, roleTool, "Grep x", 1},
		{state.Event{Kind: state.KindToolResult, Tool: tool, Text: strings.Repeat("x\n", 50)}, roleAnswer, "x", maxAnswer + 1},
		{state.Event{Kind: state.KindToolResult, Tool: tool, Error: true}, roleError, "the tool failed", 1},
		{state.Event{Kind: state.KindDenied, Tool: tool, Text: "no"}, roleError, "denied: Bash ls: no", 1},
		{state.Event{Kind: state.KindError, Codes: []string{"429"}}, roleError, "429", 1},
		{state.Event{Kind: state.KindLimit, Limit: &state.Limit{Kind: "five_hour"}}, 0, "", 0},
		{state.Event{Kind: state.KindLimit, Limit: &state.Limit{Kind: "seven_day_opus", Rejected: true}}, roleError, "7-day opus usage limit reached", 1},
		{state.Event{Kind: state.KindRetry, Text: "in 2 s", Codes: []string{"529"}}, roleNote, "retry: in 2 s: 529", 1},
		{state.Event{Kind: state.KindUsage, Usage: &state.Usage{InputTokens: 1}}, 0, "", 0},
		{state.Event{Kind: state.KindResult, Text: "done"}, roleResult, "done", 1},
		{state.Event{Kind: state.KindResult, Error: true, Text: "failed"}, roleError, "failed", 1},
		{state.Event{Kind: state.KindGate, Text: "test: passed"}, roleGood, "check test: passed", 1},
		{state.Event{Kind: state.KindGate, Text: "test: failed\nwhy", Error: true}, roleError, "check test: failed", 2},
		{state.Event{Kind: state.KindDecision, End: end}, roleNote, "stop, complete: all done", 1},
		{state.Event{Kind: state.KindIterationStart, Iteration: 3, Text: "a\nb"}, roleBorder, "iteration 3 · a b", 1},
		{state.Event{Kind: state.KindIterationEnd, Iteration: 3, End: end}, roleNote, "iteration 3 ended · completed-turn · 1 file changed · 1m 00s", 1},
		{state.Event{Kind: state.KindRunEnd, End: end}, roleBorder, "run ended, exit 3 · complete: all done", 1},
		{state.Event{Kind: state.KindRunStart, Run: "r", Text: "run r: agent claude"}, roleBorder, "run r: agent claude", 1},
		{state.Event{Kind: state.KindDecision, Text: "paused; go on with: ralph resume", End: &state.End{Action: "wait", Rule: "paused"}}, roleNote, "paused; go on with: ralph resume", 1},
		{state.Event{Kind: state.KindDecision, Error: true, Text: "audit: a tick", End: &state.End{Rule: "audit"}}, roleError, "audit: a tick", 1},
		{state.Event{Kind: state.KindDecision, Text: "test: flaky", End: &state.End{Rule: "checks"}}, roleFinding, "checks: test: flaky", 1},
		{state.Event{Kind: state.KindDecision, Text: "two lines\nof it", End: &state.End{Rule: "feedback"}}, roleTold, "told the agent: two lines", 2},
		{state.Event{Kind: "unknown", Text: "x"}, 0, "", 0},
	} {
		c.e.Time = noon
		got := logLines(c.e)
		if len(got) != c.lines || c.lines > 0 && (got[0].text != c.first || got[0].role != c.role || !got[0].at.Equal(noon)) {
			t.Errorf("%s %q gives %+v, want %d lines, role %d, %q", c.e.Kind, c.e.Text, got, c.lines, c.role, c.first)
		}
	}
	if got := clip(strings.Repeat("é", 5000)); textWidth(got) > maxLine+30 || !strings.HasSuffix(got, "… 904 characters more") && !strings.Contains(got, "904 characters") {
		t.Errorf("a long line ends in %q", got[len(got)-40:])
	}
}

func TestLogger_finalMessageThatRepeatsTheText_isShownOnce(t *testing.T) {
	var l logger
	say := func(kind state.Kind, text string) string {
		lines := l.lines(state.Event{Kind: kind, Text: text})
		return lines[0].text
	}
	say(state.KindText, "all done\n")
	if got := say(state.KindResult, "all done"); got != "final message, as above" {
		t.Errorf("the repeated message reads %q", got)
	}
	if got := say(state.KindResult, "something else"); got != "something else" {
		t.Errorf("another message reads %q", got)
	}
}
