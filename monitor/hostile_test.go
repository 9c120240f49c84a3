package monitor

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"ralph/state"
)

func TestClean_whatAgentsPrint_isInertAndKeepsItsText(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text":             {"go test ./...\nok", "go test ./...\nok"},
		"tview tags":             {`[red]x[-] a[0] ["r"] m[key] // [ERROR]`, `[red]x[-] a[0] ["r"] m[key] // [ERROR]`},
		"colours":                {"\x1b[31;1mred\x1b[0m", "red"},
		"cursor and erase":       {"a\x1b[2J\x1b[10;10Hb\x1b[?1049hc", "abc"},
		"device query":           {"\x1b[c\x1b[6n\x1b[>q!", "!"},
		"title by BEL":           {"\x1b]0;owned\x07[ERROR] after", "[ERROR] after"},
		"title by ST":            {"\x1b]2;owned\x1b\\after", "after"},
		"title by C1 ST":         {"\x1b]2;owned\u009cafter", "after"},
		"title that never ends":  {"\x1b]0;never\nnext", "0;never\nnext"},
		"link":                   {"\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"},
		"clipboard":              {"\x1b]52;c;ZXZpbA==\x07x", "x"},
		"sixel":                  {"\x1bPq#0;2;0;0;0~\x1b\\x", "x"},
		"tmux passthrough":       {"\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\x", "x"},
		"APC, PM, SOS":           {"\x1b_Gf=100;AAAA\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"},
		"C1 CSI and OSC":         {"\u009b31mred\u009d0;t\x07!", "red!"},
		"charset and reset":      {"\x1b(0lqk\x1b(B\x1bc\x1b#8x\x1b=\x1b>", "lqkx"},
		"escape at the end":      {"x\x1b", "x␛"},
		"escape before a line":   {"x\x1b\ny", "x\ny"},
		"CSI at the end":         {"x\x1b[", "x"},
		"CSI cut by a line":      {"x\x1b[31\ny", "x\ny"},
		"bell and backspace":     {"a\ab\bc\x00d\x7f", "a␇b␈c␀d␡"},
		"shift out":              {"\x0e\x0f", "␎␏"},
		"CRLF":                   {"a\r\nb\r\n", "a\nb\n"},
		"progress bar":           {"10%\r20%\r", "10%\n20%"},
		"tab":                    {"a\tb", "a    b"},
		"bidi":                   {"if \u202e admin \u2066 x\u2069\u200f", "if <U+202E> admin <U+2066> x<U+2069><U+200F>"},
		"zero width":             {"pass\u200bword\ufeff\u2060\u00ad\u200d", "password"},
		"tag characters":         {"a\U000e0041\U000e0042b", "ab"},
		"emoji with a joiner":    {"👩\u200d💻 ❤\ufe0f 👍🏽", "👩💻 ❤ 👍"},
		"flag":                   {"🇩🇪", "DE"},
		"invalid UTF-8":          {"a\xff\xfeb\xc3", "a��b�"},
		"marks on marks":         {"e\u0301\u0301\u0301\u0301\u0301x", "e\u0301\u0301x"},
		"mark without a letter":  {"\u0301x", "x"},
		"line separator":         {"a\u2028b\u2029c", "a\nb\nc"},
		"wide":                   {"漢字🙂", "漢字🙂"},
		"private use":            {"\ue0b0", "\ue0b0"},
		"no character":           {"\ufffe\U0001ffff", "��"},
		"no-break space":         {"a\u00a0b", "a b"},
		"escape within escape":   {"\x1b[3\x1b[31mx", "x"},
		"escape escape":          {"\x1b\x1b[31mx", "x"},
		"osc within a long text": {"\x1b]0;" + strings.Repeat("y", 5000) + "\x07z", "0;" + strings.Repeat("y", 5000) + "␇z"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clean(c.in); got != c.want {
				t.Errorf("%q became %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// harmless fails on any character that a terminal could take for more than
// text with a place of its own.
func harmless(t interface{ Fatalf(string, ...any) }, s string) {
	for _, r := range s {
		if r == '\n' {
			continue
		}
		if unicode.IsControl(r) || bidi(r) || invisible(r) || r >= 0x80 && r <= 0x9f || unicode.Is(unicode.Cf, r) {
			t.Fatalf("%q holds %U", s, r)
		}
	}
}

func TestClean_anyBytes_areHarmlessAndCleanStaysClean(t *testing.T) {
	pieces := []string{"\x1b", "[", "]", "P", "_", "\\", "\x07", "\x9b", "\u009b", "\u009d", "\u202e", "\u200b", "0;", "m", "31", "\n", "\r", "é", "🙂", "text", "\xff", "\u0301", "\U000e0041"}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 20).Draw(t, "pieces"), "")
		out := clean(in)
		harmless(t, out)
		if again := clean(out); again != out {
			t.Fatalf("%q is cleaned to %q and then to %q", in, out, again)
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b]0;x\x07[red]\u202e")
	f.Fuzz(func(t *testing.T, in string) { harmless(t, clean(in)) })
}

// Whatever field an agent's words arrive in, the cells of the screen are inert.
func TestScreen_hostileTextInEveryField_reachesNoCell(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[31m[red]\u202e\u200bX\x9b5m\r\n\x1b]52;c;eA==\x1b\\漢🙂\t\x00"
	s, events := runOf(noon)
	st := &s.Status
	for _, field := range []*string{&st.RunID, &st.LastAction, &st.ExitReason, &st.Rule, &st.Reason, &st.Agent, &st.Model, &st.SessionID, &st.Task.ID, &st.Task.Title, &st.Phase, &st.LastTool, &st.Outcome, &s.Breaker.Reason, &s.Breaker.State, &s.Dir} {
		*field = evil
	}
	s.Owner.RunID = evil
	st.Limit = &state.Limit{Kind: evil, Utilization: 0.5}
	s.Problems = []string{oneLine(evil)}
	for _, kind := range []state.Kind{state.KindRunStart, state.KindIterationStart, state.KindSession, state.KindText, state.KindTool, state.KindToolResult, state.KindUsage, state.KindDenied, state.KindLimit, state.KindRetry, state.KindError, state.KindResult, state.KindGate, state.KindDecision, state.KindIterationEnd, state.KindRunEnd, state.Kind(evil)} {
		for _, failed := range []bool{false, true} {
			events = append(events, state.Event{Time: noon, Run: evil, Iteration: 7, Kind: kind, Text: evil, Error: failed, Codes: []string{evil}, Session: evil, Model: evil,
				Tool: &state.Tool{ID: evil, Name: evil, Arg: evil, Parent: "x"}, Limit: &state.Limit{Kind: evil, Rejected: failed},
				End: &state.End{Outcome: evil, Action: evil, Rule: evil, Reason: evil}})
		}
	}
	for _, status := range []string{state.StatusRunning, state.StatusWaiting, state.StatusPaused, state.StatusHalted, evil} {
		st.Status = status
		s.settle()
		for _, size := range [][2]int{{60, 15}, {200, 50}} {
			u := still(s, events, noon)
			screen := simulate(t, size[0], size[1])
			for _, show := range []panel{panelHeader, panelPlan, panelUsage, panelBreaker, panelRounds, panelLog} {
				u.alone = show
				u.drawOn(screen)
				cells, _, _ := screen.GetContents()
				for _, c := range cells {
					harmless(t, string(c.Runes))
				}
			}
		}
		harmless(t, RenderStatus(s, 80))
	}
	var out strings.Builder
	p := plainer{o: Options{Out: &out}.filled()}
	if err := p.write(update{snap: s, events: events}); err != nil {
		t.Fatal(err)
	}
	harmless(t, out.String())
}
