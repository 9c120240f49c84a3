package state

import "testing"

func TestPanelScore_isByWeight_andOnlyOfThoseWhoGaveOne(t *testing.T) {
	a, b := Verdict{Name: "A", Verdict: VerdictPass, Score: 80, Weight: 1}, Verdict{Name: "B", Verdict: VerdictFail, Score: 20, Weight: 3}
	none, unasked := Verdict{Name: "C", Verdict: VerdictNone, Weight: 1}, Verdict{Name: "D", Verdict: VerdictFail}
	for name, c := range map[string]struct {
		all             []Verdict
		score, of, line int
	}{
		"two":                   {[]Verdict{a, b}, 35, 2, 1},
		"and two who gave none": {[]Verdict{a, none, b, unasked}, 35, 2, 1},
		"one":                   {[]Verdict{a, none}, 80, 1, 0},
		"nobody":                {[]Verdict{none, unasked}, 0, 0, 0},
	} {
		score, of := PanelScore(c.all)
		if lines := VerdictLines(c.all); score != c.score || of != c.of || len(lines) != len(c.all)+c.line {
			t.Errorf("%s: %d of %d, %q", name, score, of, lines)
		}
	}
}
