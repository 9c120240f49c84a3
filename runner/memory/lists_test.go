package memory

import "testing"

func TestTakeBack(t *testing.T) {
	const h = patterns + "\n"
	for name, c := range map[string]struct {
		now, after, before string
		want               string // empty: refused
	}{
		"nothing else":                     {h + "- a\n\nlog\n", h + "- a\n\nlog\n", h + "\nlog\n", h + "\nlog\n"},
		"a person added one":               {h + "- p\n- a\n\nlog\n", h + "- a\n\nlog\n", h + "\nlog\n", h + "- p\n\nlog\n"},
		"an iteration added one":           {h + "- b\n- a\n- old\n", h + "- a\n- old\n", h + "- old\n", h + "- b\n- old\n"},
		"the first one made the list":      {h + "- p\n- a\n\nlog\n", h + "- a\n\nlog\n", "log\n", h + "- p\n\nlog\n"},
		"the agent wrote, too":             {h + "- p\n- a\n\nlog\nmore\n", h + "- a\n\nlog\nmore\n", h + "\nlog\n", h + "- p\n\nlog\n"},
		"others wrote, only a lesson goes": {h + "- a\n\nlog\nmore\n", h + "- a\n\nlog\n", h + "\nlog\n", h + "\nlog\nmore\n"},
		"a lesson comes back":              {h + "- p\n\nlog\n", h + "\nlog\n", h + "- a\n\nlog\n", h + "- p\n- a\n\nlog\n"},
		"both wrote":                       {h + "- a\n\nlog\none\ntwo\n", h + "- a\n\nlog\none\n", h + "\nlog\n", ""},
	} {
		got, ok := Revert(c.now, c.after, c.before)
		if ok != (c.want != "") || got != c.want {
			t.Errorf("%s: %t\n%s", name, ok, got)
		}
	}
}
