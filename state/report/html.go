package report

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ralph/state/view"
)

//go:embed page.css
var pageStyle string

// Bounds of the patches in a page.
const (
	maxLines = 400       // of one iteration
	maxPatch = 1_500_000 // bytes, of all
)

// pageData is what the page shows.
type pageData struct {
	*Report
	Policy, Tone, When, Ended string
	Kinds                     []tasksOf
	Bars                      []Bar
	Total                     string
	Diffs                     []diff
	has                       map[int]bool
}

// tasksOf is a section of tasks.
type tasksOf struct {
	Title string
	Tasks []Task
}

// Bar is a span of the picture, in thousandths of its width.
type Bar struct {
	Part, Title string
	X, W        string
}

// diff is what one iteration changed.
type diff struct {
	Number int
	Title  string
	Commit string
	Lines  []diffLine
	More   int // lines that are left out
}

// diffLine is a row of a patch. Tone is add, del, at, file or empty.
type diffLine struct{ Tone, Text string }

// Style is the style sheet of the page: its colours and the parts that other pages share.
func Style() string { return pageStyle }

// HTML is the page as one file that loads nothing and runs nothing.
func (r *Report) HTML() ([]byte, error) {
	sum := sha256.Sum256([]byte(pageStyle))
	d := pageData{Report: r, Tone: r.good(), When: r.when(), Ended: r.ended(),
		Total: view.Took(r.Time[total]),
		Policy: "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'",
		Bars: r.Bars()}
	for _, kind := range kinds() {
		if tasks := r.In(kind.State); len(tasks) > 0 {
			d.Kinds = append(d.Kinds, tasksOf{kind.Title, tasks})
		}
	}
	d.Diffs, d.has = r.diffs(), map[int]bool{}
	for _, x := range d.Diffs {
		d.has[x.Number] = true
	}
	return d.page(), nil
}

// Width is a percentage for a bar of ten units.
func (u Use) Width() string { return fmt.Sprintf("%.2f", u.Percent) }

// Percent100 is the percentage in words.
func (u Use) Percent100() string {
	if u.Percent < 1 {
		return "under 1 %"
	}
	return fmt.Sprintf("%.0f %%", u.Percent)
}

// Bars is the timeline as a picture.
func (r *Report) Bars() []Bar {
	if len(r.Timeline) == 0 {
		return nil
	}
	first, end := r.Timeline[0].From, r.Timeline[len(r.Timeline)-1].To
	whole := end.Sub(first).Seconds()
	var all []Bar
	for _, s := range r.Timeline {
		title := string(s.Part)
		if s.Iteration > 0 {
			title = fmt.Sprintf("iteration %d, %s", s.Iteration, s.Part)
		}
		all = append(all, Bar{Part: string(s.Part), Title: title + ": " + view.Took(s.To.Sub(s.From).Seconds()),
			X: fmt.Sprintf("%.2f", 1000*s.From.Sub(first).Seconds()/whole), W: fmt.Sprintf("%.2f",
				1000*s.To.Sub(s.From).Seconds()/whole)})
	}
	return all
}

// diffs are the patches, within bounds.
func (r *Report) diffs() []diff {
	titles := map[int]string{}
	for _, t := range r.Tasks {
		for _, n := range t.Iterations {
			titles[n] = t.Title
		}
	}
	var all []diff
	left := maxPatch
	for _, n := range slices.Sorted(maps.Keys(r.changes)) {
		change := r.changes[n]
		if change.Diff == "" {
			continue
		}
		x := diff{Number: n, Title: titles[n], Commit: short(change.Commit)}
		for i, text := range strings.Split(strings.TrimSuffix(change.Diff, "\n"), "\n") {
			tone, text := view.PatchLine(text)
			if i >= maxLines || left < len(text) {
				x.More++
				continue
			}
			left -= len(text)
			x.Lines = append(x.Lines, diffLine{tone, text})
		}
		all = append(all, x)
	}
	return all
}
