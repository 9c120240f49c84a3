package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// Text is the page for a terminal.
func (r *Report) Text() string { return r.page(func(s string) string { return s }) }

// Markdown is the page as Markdown, in which the texts of others mean nothing.
func (r *Report) Markdown() string { return r.page(escape) }

// escape makes text literal in Markdown. Some viewers do not know a backslash before HTML, so that is written as
// entities.
func escape(s string) string {
	var b strings.Builder
	for _, c := range s {
		if entity := map[rune]string{'<': "&lt;", '>': "&gt;", '&': "&amp;"}[c]; entity != "" {
			b.WriteString(entity)
			continue
		}
		if strings.ContainsRune("\\`*_[]#|!~@$", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (r *Report) page(esc func(string) string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	list := func(title string, texts []string) {
		if len(texts) > 0 {
			say("\n## %s\n", title)
		}
		for _, text := range texts {
			say("- %s", esc(text))
		}
	}
	say("# %s", esc(r.Result))
	say("\n%s", esc(view.Join(" · ", r.Project, "run "+r.Run, r.Agent, r.when())))
	if r.Why != "" {
		say("\nWhy: %s%s", esc(r.Why), view.Prefix(" · ", esc(r.ended())))
	}
	for _, kind := range kinds() {
		var texts []string
		for _, t := range r.In(kind.State) {
			texts = append(texts, view.Join(": ", t.Title, t.Verdict)+"\n  "+t.Proof())
		}
		list(kind.Title, texts)
	}
	b.WriteString(esc(view.Prefix("\nNot begun: ", r.NotBegun.Line())))
	var findings, used, money []string
	for _, f := range r.Findings {
		findings = append(findings, view.Join("; ", f.Text, view.Prefix("show: ", f.Show), view.Prefix("accept: ", f.Accept)))
	}
	list("Findings", findings)
	list("Questions", r.Questions)
	for _, u := range r.Uses() {
		used = append(used, fmt.Sprintf("%s: %s (%.0f %%): %s", u.Part, view.Took(u.Seconds), u.Percent, u.Meaning))
	}
	list("Where the time went", append(used, "together: "+view.Took(r.Time[total])))
	for _, by := range r.Shares() {
		text := "by " + by.By + ":"
		for _, s := range by.Shares {
			text += "\n  - " + s.Name + ": " + s.Spent()
		}
		money = append(money, text)
	}
	if r.Cost.Tokens > 0 || r.Cost.USD > 0 {
		list("Where the money went", money)
	}
	list("What was learned", r.Learned)
	say("\n## What to type\n")
	advice, commands := r.toType()
	if advice != "" {
		say("%s\n", esc(advice))
	}
	for _, c := range commands {
		say("    %s", c)
	}
	return b.String()
}

// kinds are the sections of tasks.
func kinds() []struct{ State, Title string } {
	return []struct{ State, Title string }{{TaskDone, "Done"}, {TaskAside, "Put aside"}, {TaskOpen, "Not done"}}
}

// In are the tasks in a state.
func (r *Report) In(kind string) []Task {
	return slices.DeleteFunc(slices.Clone(r.Tasks), func(t Task) bool { return t.State != kind })
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
		view.Took(t.Seconds), view.Dollars(t.USD))
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
	Seconds, Percent float64
}

// Uses are those that took any time.
func (r *Report) Uses() []Use {
	var all []Use
	for _, row := range parts() {
		if s := r.Time[row.Part]; s > 0 {
			all = append(all, Use{row, s, 100 * s / r.Time[total]})
		}
	}
	return all
}

// Took says how long the use took.
func (u Use) Took() string { return view.Took(u.Seconds) }

// By is one way to split the cost.
type By struct {
	By     string
	Shares []Share
}

// Shares are the ways to split the cost, each with its largest shares.
func (r *Report) Shares() []By {
	return []By{{"task", r.Cost.Task}, {"role", r.Cost.Role}, {"model", r.Cost.Model}}
}

// Spent is the share in words: an agent may report no cost, or not even tokens.
func (s Share) Spent() string {
	tokens := ""
	if s.Tokens > 0 {
		tokens = termtext.Count(int(s.Tokens), "token")
	}
	return cmp.Or(view.Join(" · ", view.Dollars(s.USD), tokens), "-")
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
