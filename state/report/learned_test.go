package report

import (
	"strings"
	"testing"
)

func TestPages_lessonsOfTheRun_areNamed(t *testing.T) {
	n := newNight()
	for _, learned := range [][]string{nil, {"Dates are <b> in\nUTC"}} {
		r := n.f.Build(Source{Project: "/p", Now: n.at, Learned: learned})
		html := r.HTML()
		for page, want := range map[string]string{r.Text(): "## What was learned\n\n- Dates are <b> in UTC\n", string(html): ">What was learned</h2>\n<ul><li>Dates are &lt;b&gt; in UTC</li>"} {
			if strings.Contains(page, want) != (learned != nil) || learned == nil && strings.Contains(page, "learned") {
				t.Errorf("%v: want %q in\n%s", learned, want, page)
			}
		}
	}
}

func TestWithCode_backticks_areCodeAndNothingElseIsMarkup(t *testing.T) {
	for text, want := range map[string]string{
		"run `go test ./...` twice": "run <code>go test ./...</code> twice",
		"`<b>` & `</code><script>`": "<code>&lt;b&gt;</code> &amp; <code>&lt;/code&gt;&lt;script&gt;</code>",
		"one ` alone":               "one ` alone",
		"not ` across\nlines `":     "not ` across\nlines `",
	} {
		if got := WithCode(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	r := &Report{Tasks: []Task{{Title: "add `<x>`", State: TaskDone}}, Findings: []Finding{{Text: "`y` is gone"}}}
	for _, want := range []string{"add <code>&lt;x&gt;</code>", "<code>y</code> is gone"} {
		if page := string(r.HTML()); !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}
