package best_test

import (
	"slices"
	"testing"

	"ralph/runner/crew/best"
)

func TestPick_checksDecideBeforeLines_andTheFirstOfEquals(t *testing.T) {
	type c = best.Candidate
	type o = best.Opinion
	for name, test := range map[string]struct {
		all  []c
		want int
	}{
		"one green":                       {[]c{{Whole: true, Lines: 1}, {Green: true, Whole: true, Lines: 900}}, 1},
		"fewer lines":                     {[]c{{Green: true, Lines: 5}, {Green: true, Lines: 3}, {Green: true, Lines: 4}}, 1},
		"equals":                          {[]c{{Green: true, Lines: 3}, {Green: true, Lines: 3}}, 0},
		"equals that judges know":         {[]c{{Green: true, Lines: 3, Opinion: o{Score: 70}}, {Green: true, Lines: 3, Opinion: o{Score: 71}}, {Green: true, Lines: 4, Opinion: o{Score: 99}}}, 1},
		"refused, with a higher score":    {[]c{{Green: true, Lines: 3, Opinion: o{Refused: true, Score: 99}}, {Green: true, Lines: 3, Opinion: o{Score: 71}}}, 1},
		"red with the fewest lines":       {[]c{{Lines: 0, Whole: true}, {Green: true, Whole: true, Lines: 7}}, 1},
		"all red: work before none":       {[]c{{Whole: true}, {Lines: 4}}, 1},
		"all red: whole before cut off":   {[]c{{Lines: 4}, {Lines: 9, Whole: true}}, 1},
		"all red: the first of equals":    {[]c{{Lines: 9, Whole: true}, {Lines: 4, Whole: true}}, 0},
		"nothing at all: the first of it": {[]c{{}, {}}, 0},
	} {
		if got := best.Pick(test.all); got != test.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

func TestMost_boundsHold_andOneAlwaysStarts(t *testing.T) {
	for _, test := range []struct{ wanted, iterations, calls, want int }{
		{3, -1, 100, 3}, {3, 2, 100, 2}, {3, 5, 1, 1}, {3, 0, 0, 1}, {0, -1, 9, 1},
	} {
		if got := best.Most(test.wanted, test.iterations, test.calls); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestTied_onlyGreenOnesWithTheFewestLines(t *testing.T) {
	type c = best.Candidate
	for name, test := range map[string]struct {
		all  []c
		want []int
	}{
		"two of three":  {[]c{{Green: true, Lines: 3}, {Green: true, Lines: 4}, {Green: true, Lines: 3}}, []int{0, 2}},
		"one leads":     {[]c{{Green: true, Lines: 3}, {Green: true, Lines: 4}}, nil},
		"red ones":      {[]c{{Lines: 3, Whole: true}, {Lines: 3, Whole: true}}, nil},
		"one is not so": {[]c{{Green: true, Lines: 3}, {Lines: 3}}, nil},
	} {
		if got := best.Tied(test.all); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
