package report

import (
	"strings"
	"testing"
)

func TestPages_lessonsOfTheRun_areNamed(t *testing.T) {
	n := newNight()
	for _, learned := range [][]string{nil, {"Dates are <b> in\nUTC"}} {
		r := n.f.Build(Source{Project: "/p", Now: n.at, Learned: learned})
		html, err := r.HTML()
		if err != nil {
			t.Fatal(err)
		}
		for page, want := range map[string]string{r.Text(): "## What was learned\n\n- Dates are <b> in UTC\n", string(html): "<h2>What was learned</h2>\n<ul><li>Dates are &lt;b&gt; in UTC</li>"} {
			if strings.Contains(page, want) != (learned != nil) || learned == nil && strings.Contains(page, "learned") {
				t.Errorf("%v: want %q in\n%s", learned, want, page)
			}
		}
	}
}
