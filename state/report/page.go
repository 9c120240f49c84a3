package report

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
)

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

// some writes HTML with a text in it, unless there is none.
func (p *page) some(frame, text string) {
	if text != "" {
		p.put(frame, text)
	}
}

// page is the whole page.
func (d pageData) page() []byte {
	p := &page{}
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s: %s</title>
<style>`, d.Policy, d.Status, d.Project)
	p.WriteString(pageStyle)
	p.put(`</style>
</head>
<body>
<p class="soft">%s · run %s</p>
<h1 class="%s">%s</h1>
<p class="soft">%s`, d.Project, d.Run, d.Tone, d.Result, d.When)
	p.some(" · %s", d.Agent)
	p.put("</p>\n")
	p.some("<p>Why: %s</p>", d.Why)
	p.some(`<p class="soft">%s</p>`, d.Ended)
	p.put("\n")
	p.put("<h2>What to type</h2>\n")
	advice, commands := d.toType()
	p.some("<p>%s</p>", advice)
	p.put("\n<pre>")
	for _, line := range commands {
		p.put("%s\n", line)
	}
	p.put("</pre>\n")
	d.tasks(p)
	d.open(p)
	d.time(p)
	d.money(p)
	d.list(p, "What was learned", d.Learned)
	d.changes(p)
	p.put("</body>\n</html>\n")
	return p.Bytes()
}

func (d pageData) tasks(p *page) {
	for _, kind := range d.Kinds {
		p.put("<h2>%s</h2>\n<ul>", kind.Title)
		for _, t := range kind.Tasks {
			p.put("<li>%s", t.Title)
			p.some(` <span class="soft">· %s</span>`, t.Verdict)
			p.put("\n<br><span class=\"soft\">%s</span>", t.Proof())
			for _, n := range t.Iterations {
				d.link(p, n)
			}
			p.put("</li>\n")
		}
		p.put("</ul>\n")
	}
	p.some("<p>Not begun: %s</p>\n", d.NotBegun.Brief())
}

// link leads to the diff of an iteration, if the page has it.
func (d pageData) link(p *page, n int) {
	if d.has[n] {
		p.put(` <a class="soft" href="#i%[1]s">diff %[1]s</a>`, strconv.Itoa(n))
	}
}

// open is what a person has to look at: findings and questions.
func (d pageData) open(p *page) {
	if len(d.Findings) > 0 {
		p.put("<h2>Findings</h2>\n<ul>")
		for _, f := range d.Findings {
			p.put("<li>%s", f.Text)
			d.link(p, f.Iteration)
			p.put("\n")
			p.some(`<br><span class="soft">show: <code>%s</code></span>`, f.Show)
			p.some(` <span class="soft">accept: <code>%s</code></span>`, f.Accept)
			p.put("</li>\n")
		}
		p.put("</ul>\n")
	}
	d.list(p, "Questions", d.Questions)
}

// list is a part of the page that is a list of texts; without any, it is left out.
func (d pageData) list(p *page, title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.put("<h2>%s</h2>\n<ul>", title)
	for _, text := range texts {
		p.put("<li>%s</li>\n", text)
	}
	p.put("</ul>\n")
}

func (d pageData) time(p *page) {
	p.put("<h2>Where the time went</h2>\n")
	if len(d.Bars) > 0 {
		p.put(`<svg class="strip" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="timeline of the run">` + "\n")
		for _, b := range d.Bars {
			p.put(`<rect class="%s" x="%s" y="0" width="%s" height="10"><title>%s</title></rect>`+"\n", b.Part, b.X,
				b.W, b.Title)
		}
		p.put("</svg>")
	}
	p.put("\n<table>")
	for _, u := range d.Uses() {
		p.put(`<tr><td>%s<br><span class="soft">%s</span></td>
<td class="w"><svg class="key" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">`, string(u.Part), u.Meaning)
		p.put(`<rect class="%s" x="0" y="0" width="%s" height="1"/></svg></td>
<td class="n">%s<br><span class="soft">%s</span></td></tr>
`, string(u.Part), u.Width(), u.Took(), u.Percent100())
	}
	p.put("<tr><td colspan=\"2\"><b>together</b></td><td class=\"n\"><b>%s</b></td></tr></table>\n", d.Total)
}

func (d pageData) money(p *page) {
	if d.Cost.Tokens == 0 && d.Cost.USD == 0 {
		return
	}
	p.put("<h2>Where the money went</h2>\n")
	for _, by := range d.Shares() {
		p.put("<h3>By %s</h3>\n<table>", by.By)
		for _, s := range by.Shares {
			p.put(`<tr><td>%s</td><td class="n">%s</td></tr>`, s.Name, s.Spent())
		}
		p.put("</table>\n")
	}
}

func (d pageData) changes(p *page) {
	if len(d.Diffs) == 0 {
		return
	}
	p.put("<h2>What changed</h2>\n")
	for _, x := range d.Diffs {
		p.put(`<section id="i%[1]s"><h3>Iteration %[1]s`, strconv.Itoa(x.Number))
		p.some(": %s", x.Title)
		p.put("</h3>\n")
		p.some(`<p class="soft">commit %s</p>`, x.Commit)
		p.put("\n<pre class=\"patch\">")
		for _, line := range x.Lines {
			p.put("<span")
			p.some(` class="%s"`, line.Tone)
			p.put(">%s</span>", line.Text)
		}
		p.put("</pre>\n")
		if x.More > 0 {
			p.put(`<p class="soft">%s more lines: <code>ralph diff %s --run %s</code></p>`,
				strconv.Itoa(x.More), strconv.Itoa(x.Number), d.Run)
		}
		p.put("</section>\n")
	}
}
