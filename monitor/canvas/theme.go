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

// Theme is how tones look on a terminal. The zero value has no colors: words, marks and bold text carry the
// same information.
type Theme struct {
	colors   map[summary.Tone]tcell.Color
	contrast bool // nothing is dim, and bad news stands out by more than its color
}

// Themes are the names that ThemeOf knows.
func Themes() []string { return []string{"auto", "terminal", "dark", "light", "contrast", "none"} }

// ThemeVariable is the environment variable that names the theme.
const ThemeVariable = "RALPH_THEME"

// ThemeName is a flag.
type ThemeName string

// Set refuses a name that is not known.
func (n *ThemeName) Set(name string) error {
	*n = ThemeName(name)
	return CheckTheme(name)
}

// String is the name.
func (n *ThemeName) String() string { return string(*n) }

// Type is what the help calls a value.
func (n *ThemeName) Type() string { return "name" }

// Help describes the flag.
func (n *ThemeName) Help() string {
	return "The colors, as a `NAME`: " + strings.Join(Themes(), ", ") + "; for all screens: " + ThemeVariable +
		" in the environment."
}

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
	own := map[summary.Tone]tcell.Color{summary.Good: tcell.ColorGreen, summary.Busy: tcell.ColorTeal,
		summary.Warn: tcell.ColorOlive, summary.Bad: tcell.ColorMaroon}
	exact := func(good, busy, warn, bad int32) Theme {
		if depth < 256 {
			return Theme{colors: own}
		}
		return Theme{colors: map[summary.Tone]tcell.Color{summary.Good: tcell.NewHexColor(good),
			summary.Busy: tcell.NewHexColor(busy), summary.Warn: tcell.NewHexColor(warn),
			summary.Bad: tcell.NewHexColor(bad)}}
	}
	switch name {
	case "none":
		return Theme{}
	case "dark": // at least 7:1 on black
		return exact(0x7ee787, 0x79c0ff, 0xe3b341, 0xff9b93)
	case "light": // at least 5:1 on white
		return exact(0x116329, 0x0550ae, 0x7d4e00, 0xa40e26)
	case "contrast":
		return Theme{colors: own, contrast: true}
	}
	return Theme{colors: own}
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
func (c Canvas) Dim() tcell.Style { return tcell.StyleDefault.Dim(!c.Theme.contrast) }

// Tone returns the style of a tone.
func (c Canvas) Tone(t summary.Tone) tcell.Style {
	style := tcell.StyleDefault
	switch {
	case t == summary.Bad && c.Theme.contrast:
		return style.Bold(true).Reverse(true)
	case t == summary.Warn && c.Theme.contrast:
		return style.Bold(true).Underline(true)
	case c.Theme.contrast:
		return style.Bold(t == summary.Good || t == summary.Busy)
	case t == summary.Bad || t == summary.Warn:
		style = style.Bold(true)
	}
	if color, ok := c.Theme.colors[t]; ok {
		return style.Foreground(color)
	}
	return style
}
