package termtext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean_whatProgramsPrint_isSafeAndKeepsItsText(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text":               {"go test ./...\nok", "go test ./...\nok"},
		"tview tags":               {`[red]x[-] a[0] ["r"] m[key] // [ERROR]`, `[red]x[-] a[0] ["r"] m[key] // [ERROR]`},
		"colours":                  {"\x1b[31;1mred\x1b[0m", "red"},
		"cursor and erase":         {"a\x1b[2J\x1b[10;10Hb\x1b[?1049hc", "abc"},
		"device query":             {"\x1b[c\x1b[6n\x1b[>q!", "!"},
		"title by BEL":             {"\x1b]0;owned\x07[ERROR] after", "[ERROR] after"},
		"title by ST":              {"\x1b]2;owned\x1b\\after", "after"},
		"title by C1 ST":           {"\x1b]2;owned\u009cafter", "after"},
		"title with a check mark":  {"\x1b]2;✓ owned✓\x07after", "after"}, // its bytes include 0x9c
		"title that never ends":    {"\x1b]0;never\nnext", "0;never\nnext"},
		"title without an end":     {"\x1b]0;never", "0;never"},
		"titles without an end":    {"\x1b]0;a\x1b]0;b\n\x1b]0;c\x07d", "0;a0;b\nd"},
		"link":                     {"\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"},
		"clipboard":                {"\x1b]52;c;ZXZpbA==\x07x", "x"},
		"sixel":                    {"\x1bPq#0;2;0;0;0~\x1b\\x", "x"},
		"DCS without an end":       {"\x1bPq#0;2\nx", "q#0;2\nx"},
		"tmux passthrough":         {"\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\x", "x"},
		"APC, PM, SOS":             {"\x1b_Gf=100;AAAA\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"},
		"C1 CSI and OSC":           {"\u009b31mred\u009d0;t\x07!", "red!"},
		"other C1":                 {"a\u0085b\u0080c", "abc"},
		"charset and reset":        {"\x1b(0lqk\x1b(B\x1bc\x1b#8x\x1b=\x1b>", "lqkx"},
		"escape at the end":        {"x\x1b", "x"},
		"escape before a line":     {"x\x1b\ny", "x\ny"},
		"escape before a letter":   {"x\x1bé", "xé"},
		"CSI at the end":           {"x\x1b[", "x"},
		"CSI cut by a line":        {"x\x1b[31\ny", "x\ny"},
		"C1 at the end":            {"x\u009b", "x"},
		"bell and backspace":       {"a\ab\bc\x00d\x7f", "abcd"},
		"shift out":                {"\x0e\x0f", ""},
		"CRLF":                     {"a\r\nb\r\n", "a\nb\n"},
		"progress bar":             {"10%\r20%\r", "10%\n20%"},
		"carriage returns":         {"a\r\r\nb", "a\n\nb"},
		"tab":                      {"a\tb", "a\tb"},
		"bidi":                     {"if \u202e admin \u2066 x\u2069\u200f\u061c", "if  admin  x"},
		"zero width":               {"pass\u200bword\ufeff\u2060\u00ad\u200d", "password"},
		"tag characters":           {"a\U000e0041\U000e0042b", "ab"},
		"emoji with a joiner":      {"👩\u200d💻 ❤\ufe0f 👍🏽", "👩💻 ❤ 👍"},
		"flag":                     {"🇩🇪", "DE"},
		"invalid UTF-8":            {"a\xff\xfeb\xc3", "a��b�"},
		"8-bit C1":                 {"a\x9b31mb", "a�31mb"},
		"surrogate":                {"a\xed\xa0\x80b", "a���b"},
		"marks on marks":           {"e\u0301\u0301\u0301\u0301\u0301x", "e\u0301\u0301x"},
		"marks around zero width":  {"e\u0301\u200b\u0301\u200b\u0301x", "e\u0301\u0301x"},
		"mark without a letter":    {"\u0301x\n\u0301y", "x\ny"},
		"mark on a blank":          {"x \u0301y\u00a0\u0301", "x y "},
		"line separator":           {"a\u2028b\u2029c", "a\nb\nc"},
		"wide":                     {"漢字🙂", "漢字🙂"},
		"private use":              {"\ue0b0", "\ue0b0"},
		"no character":             {"\ufffe\U0001ffff", "��"},
		"replacement character":    {"a\ufffdb", "a\ufffdb"},
		"no-break and wide spaces": {"a\u00a0b\u3000c", "a b c"},
		"escape within escape":     {"\x1b[3\x1b[31mx", "x"},
		"escape escape":            {"\x1b\x1b[31mx", "x"},
		"OSC in a long text":       {"\x1b]0;" + strings.Repeat("y", 5000) + "\x07z", "0;" + strings.Repeat("y", 5000) + "z"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("%q became %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestLine_anyWhiteSpace_becomesOneBlank(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		" ":                     "",
		"one":                   "one",
		"one two":               "one two",
		" one":                  "one",
		"one ":                  "one",
		"one  two":              "one two",
		"one\n\ttwo\r\n":        "one two",
		"10%\r20%":              "10% 20%",
		"a\u00a0\u2003b":        "a b",
		"\x1b[1mbold\x1b[0m\a!": "bold!",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFit_tooWide_isCutWithAnEllipsis(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abcd", 1, "…"}, {"abcd", 0, ""}, {"abcd", -1, ""},
		{"漢字漢字", 8, "漢字漢字"}, {"漢字漢字", 7, "漢字漢…"}, {"漢字漢字", 6, "漢字…"}, {"ééé", 3, "ééé"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
	} {
		if got := Fit(c.in, c.width); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestWidth_countsCells(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "aः": 1, "漢字": 4, "🙂": 2, "✓ ─": 3, "a\nb": 2, "\ue0b0": 1, "�": 1, "👩💻": 4,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestWrap_breaksAtBlanksWhereItCan(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""}, {"one two three", 7, "one two|three"}, {"one two", 20, "one two"}, {"abcdefgh", 3, "abc|def|gh"},
		{"a\nb", 5, "a|b"}, {"a\n\nb", 5, "a||b"}, {"漢字漢字", 4, "漢字|漢字"}, {"漢字", 1, "漢|字"}, {"ab", 0, "a|b"}, {"ab", -3, "a|b"},
		{"a\tb", 9, "a    b"}, {"try --flag", 6, "try|--flag"},
		{"  indented", 4, "  in|dent|ed"}, {"e\u0301e\u0301", 1, "e\u0301|e\u0301"},
	} {
		if got := strings.Join(Wrap(c.in, c.width), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestClean_cleanText_isNotCopied(t *testing.T) {
	for _, s := range []string{"", "all good\n\twith tabs", "Grüße, naïve “quotes” …", "漢字 🙂 ─│ ✓", "привет", "\ufffd"} {
		if n := testing.AllocsPerRun(10, func() { _ = Clean(s) }); n != 0 {
			t.Errorf("Clean(%q) allocates", s)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = Line("one line, already clean: ✓") }); n != 0 {
		t.Error("Line allocates for a clean line")
	}
}

// failer is a test or a rapid test.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkClean fails on any character that a terminal could take for more than
// text with a place of its own.
func checkClean(t failer, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%q is not UTF-8", s)
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || bidi(r) || invisible(r) || unicode.Is(unicode.Cf, r)) {
			t.Fatalf("%q holds %U", s, r)
		}
	}
	if again := Clean(s); again != s {
		t.Fatalf("%q is cleaned once more to %q", s, again)
	}
}

// checkAll checks what must hold for any text and width.
func checkAll(t failer, in string, width int) {
	t.Helper()
	clean, line := Clean(in), Line(in)
	checkClean(t, clean)
	checkClean(t, line)
	if line != strings.Join(strings.Fields(clean), " ") {
		t.Fatalf("%q on one line is %q", in, line)
	}
	fit := Fit(line, width)
	checkClean(t, fit)
	if Width(fit) > width || Width(line) <= width && fit != line {
		t.Fatalf("%q of %d cells in %d is %q of %d cells", line, Width(line), width, fit, Width(fit))
	}
	lines := Wrap(clean, width)
	for _, l := range lines {
		checkClean(t, l)
		if Width(l) > width {
			t.Fatalf("%q wrapped at %d has the line %q of %d cells", clean, width, l, Width(l))
		}
	}
	if got, want := strings.Fields(strings.Join(lines, "")), strings.Fields(clean); strings.Join(got, "") != strings.Join(want, "") {
		t.Fatalf("%q wrapped at %d loses text: %q", clean, width, lines)
	}
}

func TestAnyPieces_areCleanAndFit(t *testing.T) {
	pieces := []string{"\x1b", "[", "]", "P", "_", "\\", "\x07", "\x9b", "\u009b", "\u009c", "\u009d", "\u202e", "\u200b", "0;", "m", "31", "\n", "\r", "\t", " ", "-", "é",
		"🙂", "text", "a longer text", "\xff", "\u0301", "\U000e0041", "漢", "🇩", "\u00a0", "\u3000", "กำ", "नी", "각"}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 20).Draw(t, "pieces"), "")
		checkAll(t, in, rapid.IntRange(2, 30).Draw(t, "width"))
	})
}

func FuzzAnyBytes_areCleanAndFit(f *testing.F) {
	f.Add("\x1b]0;x\x07[red]\u202e", uint8(3))
	f.Add("one two-three\tfour\r\n漢字", uint8(0))
	f.Fuzz(func(t *testing.T, in string, width uint8) { checkAll(t, in, int(width)+2) })
}

func BenchmarkClean(b *testing.B) {
	for name, unit := range map[string]string{
		"ascii":   "ok  \texample.com/pkg\t0.012s and some more words of a test run\n",
		"utf8":    "⏺ Grüße: “naïve” — 漢字 ✓ привет мир ─────────\n",
		"colours": "\x1b[32mok\x1b[0m  example.com/pkg \x1b[1;31mFAIL\x1b[0m and words\r\n",
		"hostile": "\x1b]0;\x1bP\u009d\x1b_",
	} {
		text := strings.Repeat(unit, 1+64<<10/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Clean(text)
			}
		})
	}
}

func TestSome_manyNames_listsTheFirst(t *testing.T) {
	for n, want := range map[int]string{1: "A", 2: "A, B", 5: "A, B, C, D, E", 7: "A, B, C, D, E and 2 more"} {
		if got := Some(strings.Split("A B C D E F G", " ")[:n], 5); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Some([]string{strings.Repeat("x", 1<<20), "B"}, 5); len(got) > 300 || !strings.HasSuffix(got, ", B") {
		t.Errorf("a name of 1 MiB fills %d bytes", len(got))
	}
}

func TestUnwrapAndFirstLine_linesAndBlanks_oneLine(t *testing.T) {
	const text = " \n a \x1b[1m b\t\nc "
	if got := Unwrap(text); got != "a \x1b[1m b c" {
		t.Errorf("Unwrap: %q", got)
	}
	if got := FirstLine(text); got != "a \x1b[1m b" {
		t.Errorf("FirstLine: %q", got)
	}
	if Unwrap(" \n") != "" || FirstLine(" \n") != "" {
		t.Error("a blank text is not empty")
	}
}
