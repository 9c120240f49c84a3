package task

import (
	"regexp"
	"strings"
	"sync"
)

// Choice is the agent and the model for a task. Empty fields fall back to the plan's
// choice, then to the options.
type Choice struct {
	Agent string `json:"agent,omitempty"` // name in ralph's table of agents
	Model string `json:"model,omitempty"`
}

// Or fills the empty fields of c from d. A model belongs to its agent, so c does not get
// d's model if it names another agent.
func (c Choice) Or(d Choice) Choice {
	if c.Model == "" && (c.Agent == "" || c.Agent == d.Agent) {
		c.Model = d.Model
	}
	if c.Agent == "" {
		c.Agent = d.Agent
	}
	return c
}

var choiceComment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<!--\s*ralph:\s*((?:(?:agent|model)=[^\s=]+\s*)+)-->`)
})

// choiceIn reads `<!-- ralph: agent=codex model=gpt-5 -->` in a line of a checkbox plan. In
// the line of a box or below it, it applies to that task, elsewhere to the whole plan.
func choiceIn(text string) (c Choice, ok bool) {
	m := choiceComment().FindStringSubmatch(text)
	if m == nil {
		return c, false
	}
	for _, word := range strings.Fields(m[1]) {
		name, value, _ := strings.Cut(word, "=")
		if name == "agent" {
			c.Agent = value
		} else {
			c.Model = value
		}
	}
	return c, true
}

// choose applies the choice in a line to the box that contains the line.
func (s *scanner) choose(c Choice, line, indent int) {
	if n := len(s.items); n > 0 && s.items[n-1].task >= 0 {
		t := &s.tasks[s.items[n-1].task]
		if t.Line == line || indent > s.items[n-1].indent {
			t.Choice = c.Or(t.Choice)
			return
		}
	}
	s.choice = c.Or(s.choice)
}
