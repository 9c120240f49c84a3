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
	maxOfOne = 30_000    // bytes, of one iteration
	maxFound = 8_000     // with a finding
	maxPatch = 1_500_000 // of all
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
<body class="report">
<main>
<p class="soft">%s</p>
<h1 class="%s">%s</h1>
`, r.about(), r.good(), r.Result)
	p.some("<p>Why: %s</p>\n", r.Why)
	p.some("<p class=\"soft\">%s</p>\n", r.ended())
	advice, commands := r.toType()
	p.put("<h2>What to type</h2>\n")
	p.some("<p>%s</p>\n", advice)
	for _, c := range commands {
		p.put("<pre class=\"copy\">%s</pre>\n", c)
	}
	for _, s := range r.sections() {
		p.put("<h2 id=\"%s\">%s</h2>\n", strings.ReplaceAll(strings.ToLower(s.Title), " ", "-"), s.Title)
		p.put("<ul>")
		for n, i := range s.Items {
			if n == unfolded {
				p.put("</ul><details><summary>%s more</summary><ul>", strconv.Itoa(len(s.Items)-n))
			}
			r.item(p, i)
		}
		if p.put("</ul>\n"); len(s.Items) > unfolded {
			p.put("</details>\n")
		}
	}
	r.diffs(p)
	p.put("</main>\n</body>\n</html>\n")
	return p.Bytes()
}

func (r *Report) item(p *page, i item) {
	p.some("<li>%s", i.Text)
	p.some(`: <span class="soft">%s</span>`, i.Note)
	p.some(`<br><span class="soft">%s</span>`, i.Below)
	for _, n := range i.Diffs {
		switch diff := r.changes[n].Diff; {
		case diff == "":
		case i.Open:
			patch, _ := Patch(diff, maxFound)
			p.put(`<details><summary>diff %s</summary>`, strconv.Itoa(n))
			p.WriteString(patch + "</details>")
		default:
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
		p.put(`<svg class="wide key" height="6" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="%s" width="%s" height="1"/></svg>`,
			string(i.Use.Part), fmt.Sprintf("%.2f", i.Use.Percent))
	}
	p.put("</li>\n")
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
			p.put("<div class=\"changes\"><h2>What changed</h2>\n")
		}
		p.put(`<section id="i%[1]s"><h3>Iteration %[1]s`, strconv.Itoa(n))
		p.some(": %s", titles[n])
		p.put("</h3>\n")
		p.some("<p class=\"soft\">commit %s</p>\n", short(change.Commit))
		patch, more := Patch(change.Diff, min(left, maxOfOne))
		p.WriteString(patch)
		if left -= len(patch); more > 0 {
			p.put("<p class=\"soft\">%s more lines: <code class=\"copy\">ralph diff %s --run %s</code></p>\n", strconv.Itoa(more),
				strconv.Itoa(n), r.Run)
		}
		p.put("</section>\n")
	}
	if left < maxPatch {
		p.put("</div>\n")
	}
}

const unfolded = 12 // rows of a list

// opened is how many lines of a patch are not folded.
const opened = 150

// Patch is a diff as HTML, a part for each file. more is how many lines did not fit into room bytes.
func Patch(diff string, room int) (html string, more int) {
	type file struct {
		name     string
		add, del int
		lines    page
	}
	all, head := []*file{}, true
	for text := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		tone, text := view.PatchLine(text)
		begins := strings.HasPrefix(text, "diff --git ")
		if begins || len(all) == 0 {
			all, head = append(all, &file{name: "changes"}), begins
		}
		f := all[len(all)-1]
		switch head = head && tone != "at"; {
		case begins:
			if _, name, found := strings.Cut(text, " b/"); found {
				f.name = name
			}
			continue
		case head && (tone == "file" || strings.HasPrefix(text, "index ")):
			continue
		case tone == "file": // a line that was added or removed may look like one of the head
			tone = map[bool]string{true: "add", false: "del"}[text[0] == '+']
		}
		if tone == "add" {
			f.add++
		} else if tone == "del" {
			f.del++
		}
		before := f.lines.Len()
		if f.lines.put(`<span class="%s">%s</span>`, tone, text); f.lines.Len()-before > room {
			f.lines.Truncate(before)
			more++
			room = 0 // what comes after a gap would mislead
			continue
		}
		room -= f.lines.Len() - before
	}
	p, shown := &page{}, 0
	for _, f := range all {
		p.WriteString("<details")
		if shown += f.add + f.del; shown <= opened {
			p.WriteString(" open")
		}
		p.put(`><summary><code>%s</code> <span class="good">+%s</span> <span class="bad">−%s</span></summary>`, f.name,
			strconv.Itoa(f.add), strconv.Itoa(f.del))
		if f.lines.Len() > 0 {
			p.put(`<pre class="patch" tabindex="0" aria-label="changes of %s">`, f.name)
			p.Write(f.lines.Bytes())
			p.WriteString("</pre>")
		}
		p.WriteString("</details>\n")
	}
	return p.String(), more
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
