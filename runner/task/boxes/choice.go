package boxes

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

var choiceComment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<!--\s*ralph:\s*((?:(?:agent|provider|model|worker)=[^\s=]+\s*)+)-->`)
})

// choiceIn reads `<!-- ralph: agent=codex model=gpt-5 -->` in a line of a checkbox plan;
// provider means agent. In the line of a box or below it, it applies to that task, elsewhere to the whole plan.
// worker=gpu,linux applies only to a task.
func choiceIn(text string) (c task.Choice, worker string, ok bool) {
	if !strings.Contains(text, "<!--") {
		return c, "", false
	}
	m := choiceComment().FindStringSubmatch(text)
	if m == nil {
		return c, "", false
	}
	for _, word := range strings.Fields(m[1]) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "model":
			c.Model = value
		case "worker":
			worker = value
		default:
			c.Agent = value
		}
	}
	return c, worker, true
}

// choose applies the choice in a line to the box that contains the line.
func (s *scanner) choose(c task.Choice, worker string, line, indent int) {
	if n := len(s.items); n > 0 && s.items[n-1].task >= 0 {
		t := &s.tasks[s.items[n-1].task]
		if t.Line == line || indent > s.items[n-1].indent {
			t.Choice, t.Worker = c.Or(t.Choice), cmp.Or(worker, t.Worker)
			return
		}
	}
	s.choice = c.Or(s.choice)
}

// maxFrontMatter limits the YAML block at the start of a Markdown plan, in bytes.
const maxFrontMatter = 16 << 10

// frontMatter reads agent, model and provider in the YAML block between two lines
// --- at the start of a Markdown plan. It ignores a block that is not YAML, which may
// be a rule and a paragraph.
func frontMatter(plan string) task.Choice {
	plan = strings.ReplaceAll(plan[:min(len(plan), maxFrontMatter)], "\r\n", "\n")
	block, begins := strings.CutPrefix(plan, "---\n")
	block, _, ends := strings.Cut(block, "\n---\n")
	var data struct {
		Agent, Model string
		Provider     any
	}
	if !begins || !ends || projectfs.UnmarshalYAML([]byte(block), &data) != nil {
		return task.Choice{}
	}
	var named task.Choice
	switch p := data.Provider.(type) {
	case string:
		named.Agent = p
	case map[string]any:
		named.Agent, _ = p["name"].(string)
		named.Model, _ = p["model"].(string)
	}
	return task.Choice{Agent: data.Agent, Model: data.Model}.Or(named)
}
