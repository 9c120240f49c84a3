package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ralph/logs/lazy"
	"ralph/state"
	"ralph/state/view"
)

//go:embed page.css
var pageStyle string

// Bounds of the patches in a page.
const (
	maxLines = 400       // of one iteration
	maxPatch = 1_500_000 // bytes, of all
)

// Style is the style sheet of the page: its colours and the parts that other pages share.
func Style() string { return pageStyle }

// page is HTML under construction. Package html/template would write it too, but it calls
// methods by name: then the linker keeps every method of every type, and ralph is 2 MB larger.
type page struct{ bytes.Buffer }

// put writes HTML with texts in it, which may be anything: in an element, or in an attribute
// between quotes.
func (p *page) put(frame string, texts ...string) {
	var all []any
	for _, text := range texts {
		all = append(all, html.EscapeString(text))
	}
	fmt.Fprintf(p, frame, all...)
}

// some writes HTML with a text in an element, unless there is none.
func (p *page) some(frame, text string) {
	if text != "" {
		fmt.Fprintf(p, frame, WithCode(text))
	}
}

var backticks = lazy.Regexp("`([^`\n]+)`")

// WithCode returns a text as HTML for an element, with what is between backticks as code.
func WithCode(text string) string {
	return backticks().ReplaceAllString(html.EscapeString(text), "<code>$1</code>")
}

// HTML is the page as one file that loads nothing and runs nothing.
func (r *Report) HTML() []byte {
	p, sum := &page{}, sha256.Sum256([]byte(pageStyle))
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s: %s</title>
<style>`, policy, r.Status, r.Project)
	p.WriteString(pageStyle)
	p.put(`</style>
</head>
<body>
<p class="soft">%s</p>
<h1 class="%s">%s</h1>
`, r.about(), r.good(), r.Result)
	p.some("<p>Why: %s</p>\n", r.Why)
	p.some("<p class=\"soft\">%s</p>\n", r.ended())
	advice, commands := r.toType()
	p.put("<h2>What to type</h2>\n")
	p.some("<p>%s</p>\n", advice)
	p.put("<pre>%s\n</pre>\n", strings.Join(commands, "\n"))
	for _, s := range r.sections() {
		p.put("<h2>%s</h2>\n", s.Title)
		if s.Items[0].Use.Part != "" {
			r.strip(p)
		}
		p.put("<ul>")
		for _, i := range s.Items {
			r.item(p, i)
		}
		p.put("</ul>\n")
	}
	r.diffs(p)
	p.put("</body>\n</html>\n")
	return p.Bytes()
}

func (r *Report) item(p *page, i item) {
	p.some("<li>%s", i.Text)
	p.some(`: <span class="soft">%s</span>`, i.Note)
	p.some(`<br><span class="soft">%s</span>`, i.Below)
	for _, n := range i.Diffs {
		if r.changes[n].Diff != "" {
			p.put(` <a class="soft" href="#i%[1]s">diff %[1]s</a>`, strconv.Itoa(n))
		}
	}
	if len(i.Parts) > 0 {
		p.put("<ul>")
		for _, text := range i.Parts {
			p.some("<li>%s</li>\n", text)
		}
		p.put("</ul>")
	}
	if i.Use.Part != "" {
		p.put(`<svg class="key" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="%s" width="%s" height="1"/></svg>`,
			string(i.Use.Part), fmt.Sprintf("%.2f", i.Use.Percent))
	}
	p.put("</li>\n")
}

// strip draws the timeline.
func (r *Report) strip(p *page) {
	p.put(`<svg class="strip" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="timeline of the run">` + "\n")
	for _, b := range r.Bars() {
		p.put(`<rect class="%s" x="%s" y="0" width="%s" height="10"><title>%s</title></rect>`+"\n", b.Part, b.X, b.W, b.Title)
	}
	p.put("</svg>\n")
}

// Bar is a span of the picture, in thousandths of its width.
type Bar struct {
	Part, Title string
	X, W        string
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
		took := s.To.Sub(s.From).Seconds()
		all = append(all, Bar{Part: string(s.Part), Title: title + ": " + view.Took(took),
			X: fmt.Sprintf("%.2f", 1000*s.From.Sub(first).Seconds()/whole), W: fmt.Sprintf("%.2f", 1000*took/whole)})
	}
	return all
}

// diffs writes what the iterations changed, within bounds.
func (r *Report) diffs(p *page) {
	titles := map[int]string{}
	for _, t := range r.Tasks {
		for _, n := range t.Iterations {
			titles[n] = t.Title
		}
	}
	left := maxPatch
	for _, n := range slices.Sorted(maps.Keys(r.changes)) {
		change := r.changes[n]
		if change.Diff == "" {
			continue
		}
		if left == maxPatch {
			p.put("<h2>What changed</h2>\n")
		}
		p.put(`<section id="i%[1]s"><h3>Iteration %[1]s`, strconv.Itoa(n))
		p.some(": %s", titles[n])
		p.put("</h3>\n")
		p.some("<p class=\"soft\">commit %s</p>\n", short(change.Commit))
		p.put(`<pre class="patch">`)
		more := 0
		for i, text := range strings.Split(strings.TrimSuffix(change.Diff, "\n"), "\n") {
			tone, text := view.PatchLine(text)
			if left -= len(text) + 1; i >= maxLines || left < 0 {
				more++
				continue
			}
			p.put(`<span class="%s">%s</span>`, tone, text)
		}
		p.put("</pre>\n")
		if more > 0 {
			p.put("<p class=\"soft\">%s more lines: <code>ralph diff %s --run %s</code></p>\n", strconv.Itoa(more),
				strconv.Itoa(n), r.Run)
		}
		p.put("</section>\n")
	}
}

// good tells which color the result has.
func (r *Report) good() string {
	switch {
	case r.Completed() && r.undone == "":
		return "good"
	case r.Running(), r.Completed(), r.Status == state.StatusReview:
		return "look"
	}
	return "bad"
}
