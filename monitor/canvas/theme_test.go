package canvas

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"ralph/state/view/summary"
)

func TestThemeOf_noColorOrAPoorTerminal_hasNoColors(t *testing.T) {
	for _, c := range []struct {
		noColor string
		depth   int
		want    tcell.Color
	}{
		{"", 1 << 24, tcell.ColorGreen},
		{"", 16, tcell.ColorGreen},
		{"1", 256, tcell.ColorDefault},
		{"", 0, tcell.ColorDefault},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		if got, _, _ := (Canvas{Theme: ThemeOf(c.depth)}).Tone(summary.Good).Decompose(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
