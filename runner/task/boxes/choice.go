package boxes

import (
	"strings"

	"ralph/logs/lazy"
	"ralph/runner/task"
)

var choiceComment = lazy.Regexp(`<!--\s*ralph:\s*((?:(?:agent|provider|model)=[^\s=]+\s*)+)-->`)

// ignored finds front matter that seems to choose an agent.
var ignored = lazy.Regexp(`\A---\r?\n(?:(?:[^-\n].*)?\n)*?(agent|model|provider)[ \t]*:`)

// ignoredChoice returns warnings for a plan.
func ignoredChoice(plan string) []string {
	if m := ignored().FindStringSubmatch(plan); m != nil {
		return []string{m[1] + " in its front matter is ignored: write <!-- ralph: agent=NAME model=NAME --> on a line of its own"}
	}
	return nil
}

// choiceIn reads `<!-- ralph: agent=codex model=gpt-5 -->` in a line of a checkbox plan;
// provider means agent. In the line of a box or below it, it applies to that task, elsewhere to the whole plan.
func choiceIn(text string) (c task.Choice, ok bool) {
	if !strings.Contains(text, "<!--") {
		return c, false
	}
	m := choiceComment().FindStringSubmatch(text)
	if m == nil {
		return c, false
	}
	for _, word := range strings.Fields(m[1]) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "model":
			c.Model = value
		default:
			c.Agent = value
		}
	}
	return c, true
}

// choose applies the choice in a line to the box that contains the line.
func (s *scanner) choose(c task.Choice, line, indent int) {
	if n := len(s.items); n > 0 && s.items[n-1].task >= 0 {
		t := &s.tasks[s.items[n-1].task]
		if t.Line == line || indent > s.items[n-1].indent {
			t.Choice = c.Or(t.Choice)
			return
		}
	}
	s.choice = c.Or(s.choice)
}
