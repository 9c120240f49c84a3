package canvas

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"ralph/state/view/summary"
)

func TestThemeOf_theTerminalDecidesUnlessANameDoes(t *testing.T) {
	for _, c := range []struct {
		name, variable, noColor, back string
		depth                         int
		want                          tcell.Color
	}{
		{"", "", "", "", 1 << 24, tcell.ColorGreen},
		{"", "", "", "15;0", 1 << 24, tcell.NewHexColor(0x7ee787)},
		{"", "", "", "0;default;15", 256, tcell.NewHexColor(0x116329)},
		{"", "", "", "0;15", 16, tcell.ColorGreen},
		{"", "", "1", "15;0", 256, tcell.ColorDefault},
		{"", "", "", "", 0, tcell.ColorDefault},
		{"light", "", "1", "15;0", 256, tcell.NewHexColor(0x116329)},
		{"", "light", "", "15;0", 256, tcell.NewHexColor(0x116329)},
		{"dark", "light", "", "", 16, tcell.ColorGreen},
		{"none", "", "", "", 256, tcell.ColorDefault},
	} {
		t.Setenv(ThemeVariable, c.variable)
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("COLORFGBG", c.back)
		got, _, _ := Canvas{Theme: ThemeOf(c.name, c.depth)}.Tone(summary.Good).Decompose()
		if got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if err := CheckTheme("drak"); err == nil || !strings.Contains(err.Error(), "dark, light") || CheckTheme("") != nil {
		t.Error(err)
	}
}
