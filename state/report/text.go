package report

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs"
	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// section is a part of the page: a title and a list.
type section struct {
	Title string
	Items []item
}

// item is a row of a section.
type item struct {
	Text  string
	Note  string   // after the text, less important
	Below string   // a line of its own, less important
	Parts []string // a list inside
	Diffs []int    // iterations whose changes belong to it
	Open  bool     // the changes stand with it
	Use   Use      // of the time, for a bar; zero: none
}

// sections are the lists of the page, in its order. Those without rows are left out.
func (r *Report) sections() []section {
	all := []section{{Title: "Done"}, {Title: "Put aside"}, {Title: "Not done"}, {Title: "Findings"}, {Title: "Questions"},
		{Title: "Where the time went"}, {Title: "Where the money went"}, {Title: "What was learned"}}
	add := func(title string, i item) {
		n := slices.IndexFunc(all, func(s section) bool { return s.Title == title })
		all[n].Items = append(all[n].Items, i)
	}
	for _, t := range r.Tasks {
		title := map[string]string{TaskDone: "Done", TaskAside: "Put aside"}[t.State]
		add(cmp.Or(title, "Not done"), item{Text: t.Title, Note: t.Verdict, Below: t.Proof(), Diffs: t.Iterations, Parts: t.evidence()})
	}
	if left := r.NotBegun.Brief(); left != "" {
		add("Not done", item{Text: "Not begun", Note: left})
	}
	for _, f := range r.Findings {
		text := f.Text
		if f.N > 0 {
			text = fmt.Sprintf("%d. %s", f.N, text)
		}
		add("Findings", item{Text: text, Diffs: []int{f.Iteration}, Open: true,
			Below: view.Join(" · ", view.Prefix("show: ", f.Show), view.Prefix("accept: ", f.Accept))})
	}
	for _, text := range r.Questions {
		add("Questions", item{Text: text})
	}
	for _, u := range r.Uses() {
		add("Where the time went", item{Text: u.Text, Note: u.Meaning, Use: u})
	}
	add("Where the time went", item{Text: "together: " + view.Took(r.Time[total])})
	for n, shares := range [][]Share{r.Cost.Task, r.Cost.Role, r.Cost.Model} {
		i := item{Text: "by " + []string{"task", "role", "model"}[n] + ":"}
		for _, s := range shares {
			i.Parts = append(i.Parts, s.Name+": "+s.spent())
		}
		if r.Cost.Tokens > 0 || r.Cost.USD > 0 {
			add("Where the money went", i)
		}
	}
	if cut := (state.Usage{EstimatedUSD: r.Cost.Estimated, UnpricedCalls: r.Cost.Unpriced}).CutOff(); cut != "" {
		add("Where the money went", item{Text: cut})
	}
	for _, text := range r.Learned {
		add("What was learned", item{Text: text})
	}
	return slices.DeleteFunc(all, func(s section) bool { return len(s.Items) == 0 })
}

// Text is the page for a terminal.
func (r *Report) Text() string { return r.page(func(s string) string { return s }, "") }

// Markdown is the page as Markdown, in which the texts of others mean nothing.
func (r *Report) Markdown() string { return r.page(escape, r.table(escape)) }

// Pull is the page for a pull request: without what only its owner needs, and in which the texts of others notify nobody and
// close nothing. It has at most so many bytes. The title names the tasks.
func (r *Report) Pull(most int) (title, body string) {
	inert := strings.NewReplacer(`\@`, "@<!-- -->", `\#`, "#<!-- -->", "://", ":<!-- -->//", "GH-", "GH<!-- -->-").Replace
	esc := func(s string) string { return inert(escape(logs.Redact(s))) } // escaped, a secret has another shape
	but := []string{next, "Where the time went", "What was learned"}
	if body = r.page(esc, r.table(esc), but...); len(body) > most {
		body = r.page(esc, r.table(esc), append(but, "Done")...) // the table names them
	}
	if rest := "\n(the rest: ralph report)\n"; len(body) > most {
		body = body[:most-len(rest)]
		body = body[:strings.LastIndexByte(body, '\n')+1] + rest
	}
	title = "Work of ralph"
	if len(r.Tasks) > 0 {
		title = termtext.Fit(link().ReplaceAllString(r.Tasks[0].Title, ""), 60)
	}
	if more := len(r.Tasks) - 1; more > 0 {
		title += " and " + termtext.Count(more, "more task")
	}
	return title, body
}

// link matches the issue that a task is from.
var link = lazy.Regexp(`\s*\((?:gh|glab):\S+\)`)

// table is a row for each task.
func (r *Report) table(escape func(string) string) (rows string) {
	for i, t := range r.Tasks {
		if i == 0 {
			rows = "\n| task | result | time | cost |\n|---|---|---|---|\n"
		}
		rows += fmt.Sprintf("| %s | %s | %s | %s |\n", escape(termtext.Fit(t.Title, 60)),
			escape(termtext.Fit(view.Join(": ", strings.Replace(t.State, TaskAside, "put aside", 1), t.Verdict), 60)), view.Took(t.Seconds), escape(view.Dollars(t.USD)))
	}
	return rows
}

// escape makes text literal in Markdown. Some viewers do not know a backslash before HTML, so that is written as
// entities.
var escape = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`,
	`[`, `\[`, `]`, `\]`, `#`, `\#`, `|`, `\|`, `!`, `\!`, `~`, `\~`, `@`, `\@`, `$`, `\$`).Replace

// next is the title of the last section.
const next = "What to type"

// page is the page with a table of the tasks, but without the sections of these titles.
func (r *Report) page(esc func(string) string, table string, but ...string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# %s", esc(r.Result))
	say("\n%s", esc(r.about()))
	if r.Why != "" {
		say("\nWhy: %s%s", esc(r.Why), view.Prefix(" · ", esc(r.ended())))
	}
	b.WriteString(table)
	for _, s := range r.sections() {
		if slices.Contains(but, s.Title) {
			continue
		}
		say("\n## %s\n", s.Title)
		for _, i := range s.Items {
			say("- %s", esc(view.Join(": ", i.Text, i.Note)))
			if i.Below != "" {
				say("  %s", esc(i.Below))
			}
			for _, text := range i.Parts {
				say("  - %s", esc(text))
			}
		}
	}
	if slices.Contains(but, next) {
		return b.String()
	}
	say("\n## %s\n", next)
	advice, commands := r.toType()
	if advice != "" {
		say("%s\n", esc(advice))
	}
	for _, c := range commands {
		say("    %s", c)
	}
	return b.String()
}

// about says what ran, and when.
func (r *Report) about() string {
	return view.Join(" · ", filepath.Base(r.Project), r.Agent, r.when())
}

// evidence is what the proof consists of, by name.
func (t Task) evidence() []string {
	var all []string
	if t.State != TaskDone {
		return nil
	}
	if t.ProofBy == state.ProofTests {
		all = append(all, "tests that failed before it pass now"+view.Prefix(": ", strings.Join(t.TurnedGreen, ", ")))
	}
	passed := slices.DeleteFunc(slices.Sorted(maps.Keys(t.Checks)), func(name string) bool { return !t.Checks[name] })
	if len(passed) > 0 {
		all = append(all, "passed: "+strings.Join(passed, ", "))
	}
	return append(all, t.Said...)
}

// Proof is where to look at the work.
func (t Task) Proof() string {
	all := t.Iterations
	if len(all) == 0 {
		all = t.Work
	}
	its, word := strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]"), "iteration "
	if len(all) > 1 {
		word = "iterations "
	}
	commits := make([]string, len(t.Commits))
	for i, c := range t.Commits {
		commits[i] = short(c)
	}
	return view.Join(" · ", word+its, view.Prefix("commit ", strings.Join(commits, ", ")),
		view.Took(t.Seconds), view.Dollars(t.USD), view.Prefix("changed existing tests: ", strings.Join(t.ChangedTests, ", ")))
}

func short(oid string) string { return oid[:min(10, len(oid))] }

// when says when the run began and ended.
func (r *Report) when() string {
	if r.StartedAt.IsZero() {
		return ""
	}
	from := r.StartedAt.Local().Format("Mon 2 Jan 2006 15:04")
	if r.EndedAt.IsZero() {
		return "since " + from
	}
	layout := "15:04"
	if r.EndedAt.Local().Format("2 Jan") != r.StartedAt.Local().Format("2 Jan") {
		layout = "Mon 15:04"
	}
	return from + " to " + r.EndedAt.Local().Format(layout)
}

func (r *Report) ended() string {
	if r.Exit < 0 {
		return ""
	}
	return state.Ended(r.Rule, r.Exit)
}

// Use is a use of time.
type Use struct {
	partRow
	Percent float64
	Text    string // "agent: 5m 10s (4 %)"
}

// Uses are those that took any time.
func (r *Report) Uses() []Use {
	var all []Use
	for _, row := range parts() {
		if s := r.Time[row.Part]; s > 0 {
			percent := 100 * s / r.Time[total]
			all = append(all, Use{row, percent, fmt.Sprintf("%s: %s (%.0f %%)", row.Part, view.Took(s), percent)})
		}
	}
	return all
}

// spent is the share in words: an agent may report no cost, or not even tokens.
func (s Share) spent() string {
	tokens := ""
	if s.Tokens > 0 {
		tokens = termtext.Count(int(s.Tokens), "token")
	}
	return cmp.Or(view.Join(" · ", view.Dollars(s.USD), tokens), "-")
}
