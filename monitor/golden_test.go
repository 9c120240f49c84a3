package monitor

import (
	"fmt"
	"strings"
	"testing"

	"ralph/internal/sample"
	"ralph/state/view/summary"
)

var sizes = [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 50}}

func TestScreen_everyStateAtEverySize_looksAsAgreed(t *testing.T) {
	for name, make := range sample.States(noon) {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s at %dx%d", name, size[0], size[1]), func(t *testing.T) {
				s, events := make()
				u := still(t, s, events)
				screen := simulate(t, size[0], size[1])
				u.drawOn(screen)
				got := text(screen)
				if state, _, _ := summary.Word(s.State); !strings.Contains(got, state) {
					t.Errorf("the state is not in words:\n%s", got)
				}
				golden(t, fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1]), got)
			})
		}
	}
}
