package canvas

import (
	"os"

	"github.com/gdamore/tcell/v2"

	"ralph/state/view/summary"
)

// Theme has the color of each tone. The zero value has no colors: words, marks and bold text carry the same
// information.
type Theme [summary.Bad + 1]tcell.Color

// ThemeOf returns the theme for a terminal with depth colors: none with NO_COLOR set, else the terminal's own colors,
// which are readable on its background.
func ThemeOf(depth int) Theme {
	if os.Getenv("NO_COLOR") != "" || depth < 8 {
		return Theme{}
	}
	return Theme{0, tcell.ColorGreen, tcell.ColorTeal, tcell.ColorOlive, tcell.ColorMaroon}
}

// Dim is the style of less important text.
func (c Canvas) Dim() tcell.Style { return tcell.StyleDefault.Dim(true) }

// Tone returns the style of a tone.
func (c Canvas) Tone(t summary.Tone) tcell.Style {
	return tcell.StyleDefault.Foreground(c.Theme[t]).Bold(t == summary.Bad || t == summary.Warn)
}
