package canvas

import (
	"strings"

	"github.com/gdamore/tcell/v2"
)

// Meter is a gauge of w cells as text. Its parts differ in the character, not only in colour.
func Meter(part float64, w int) string {
	full := min(int(part*float64(w)+0.5), w)
	if part > 0 && full == 0 {
		full = 1
	}
	if part < 1 && full == w {
		full = w - 1
	}
	full = max(full, 0)
	return strings.Repeat("█", full) + strings.Repeat("░", max(w-full, 0))
}

// Graph fills the canvas with columns in braille, two in a cell. The highest value is top.
func (c Canvas) Graph(values []float64, top float64, style tcell.Style) {
	left, right := []rune{0x40, 0x44, 0x46, 0x47}, []rune{0x80, 0xa0, 0xb0, 0xb8}
	for i := 0; i < len(values); i += 2 {
		for y := range c.H {
			cell := rune(0)
			for j, dots := range [][]rune{left, right} {
				if i+j >= len(values) || values[i+j] <= 0 {
					continue
				}
				height := max(int(values[i+j]/top*float64(c.H*4)+0.5), 1) - (c.H-1-y)*4
				if height > 0 {
					cell |= dots[min(height, 4)-1]
				}
			}
			if cell != 0 {
				c.Text(i/2, y, style, string(0x2800+cell))
			}
		}
	}
}

// Level draws a line across the canvas at a part of its height.
func (c Canvas) Level(part float64, style tcell.Style) {
	if part > 0 {
		c.Text(0, c.H-1-min(int(part*float64(c.H)), c.H-1), style, strings.Repeat("┈", c.W))
	}
}
