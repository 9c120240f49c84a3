package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_stylesAndWideCharacters_becomeCells(t *testing.T) {
	got := parse("a\x1b[1;31mb\x1b[0m\x1b[96;7mc\x1b[m漢\x1b[41md\x1b[49;2me\n\nf\n\n")
	dim := style{dim: true}
	want := [][]cell{
		{{"a", style{}}, {"b", style{fg: basic(1), bold: true}}, {"c", style{fg: basic(14), reverse: true}}, {"漢", style{}}, {"", style{}}, {"d", style{bg: basic(1)}}, {"e", dim}},
		nil,
		{{"f", dim}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(cell{}, style{})); diff != "" {
		t.Error(diff)
	}
}

func TestDraw_textAndBlocks_areEscapedAndInPlace(t *testing.T) {
	var b strings.Builder
	draw(&b, parse(" a <b>\x1b[7m██▂"))
	got := b.String()
	for _, want := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg" width="96" height="38"`,
		`<text x="18.4" y="23.7" textLength="42.0" lengthAdjust="spacingAndGlyphs" fill="#d4d4d4">a` + "\u00a0" + `&lt;b&gt;</text>`,
		`<rect x="60.4" y="10.0" width="25.2" height="18.0" fill="#d4d4d4"/>`,
		`<rect x="68.8" y="10.0" width="8.4" height="18.0" fill="#1e1e1e" fill-opacity="1"/>`,
		`<rect x="77.2" y="23.5" width="8.4" height="4.5" fill="#1e1e1e" fill-opacity="1"/>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestWith_exactColors_areReadAsSuch(t *testing.T) {
	for codes, want := range map[string]style{
		"38;2;126;231;135": {fg: "#7ee787"}, "1;38;5;196;2": {fg: "#ff0000", bold: true, dim: true}, "48;5;232": {bg: "#080808"},
		"38;5;2": {fg: basic(2)}, "38;5": {}, "38": {}, "38;2;1": {},
	} {
		if got := (style{}).with(codes); got != want {
			t.Errorf("%q: %+v, want %+v", codes, got, want)
		}
	}
}
