package canvas

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/state/view/summary"
)

// Theme has the color of each tone, and of dim text. The zero value has no colors: words, marks and bold text carry
// the same information.
type Theme [dim + 1]tcell.Color

const dim = summary.Bad + 1

// themes are the colors of good, busy, warn, bad and dim, for at least 256 colors. The terminal's own colors are
// readable on its background; it makes text dim itself.
func themes() map[string]Theme {
	hex := tcell.NewHexColor
	return map[string]Theme{
		"none":     {},
		"terminal": {0, tcell.ColorGreen, tcell.ColorTeal, tcell.ColorOlive, tcell.ColorMaroon},
		"dark":     {0, hex(0x7ee787), hex(0x79c0ff), hex(0xe3b341), hex(0xff9b93), hex(0x9ea7b3)}, // at least 7:1 on black
		"light":    {0, hex(0x116329), hex(0x0550ae), hex(0x7d4e00), hex(0xa40e26), hex(0x59636e)}, // at least 5:1 on white
	}
}

// Themes are the names that ThemeOf knows.
func Themes() []string { return []string{"auto", "terminal", "dark", "light", "none"} }

// ThemeVariable is the environment variable that names the theme.
const ThemeVariable = "RALPH_THEME"

// CheckTheme returns an error for an unknown name. The empty name is allowed.
func CheckTheme(name string) error {
	if name == "" || slices.Contains(Themes(), name) {
		return nil
	}
	return fmt.Errorf("theme %q is not known; it is one of %s", name, strings.Join(Themes(), ", "))
}

// ThemeOf returns the theme for a terminal with depth colors. An empty name means RALPH_THEME, or else auto.
// auto is none with NO_COLOR set. It is dark or light on a terminal with at least 256 colors that reports its
// background in COLORFGBG. Everywhere else it uses the terminal's own 16 colors, which are readable there.
func ThemeOf(name string, depth int) Theme {
	name = cmp.Or(name, os.Getenv(ThemeVariable), "auto")
	if name == "auto" {
		name = "terminal"
		if back := background(os.Getenv("COLORFGBG")); back != "" && depth >= 256 {
			name = back
		}
		if os.Getenv("NO_COLOR") != "" || depth < 8 {
			name = "none"
		}
	}
	if depth < 256 && name != "none" {
		name = "terminal"
	}
	return themes()[name]
}

// background reads COLORFGBG, which ends with the number of the background's color.
func background(value string) string {
	switch value[strings.LastIndexByte(value, ';')+1:] {
	case "":
		return ""
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return "light"
	}
	return "dark"
}

// Dim is the style of less important text.
func (c Canvas) Dim() tcell.Style {
	return tcell.StyleDefault.Foreground(c.Theme[dim]).Dim(c.Theme[dim] == tcell.ColorDefault)
}

// Tone returns the style of a tone.
func (c Canvas) Tone(t summary.Tone) tcell.Style {
	return tcell.StyleDefault.Foreground(c.Theme[t]).Bold(t == summary.Bad || t == summary.Warn)
}
