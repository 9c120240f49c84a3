package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/gate"
)

// content holds what the texts of the files depend on. They are not text/templates: that package
// calls methods by name, so the linker would keep every method, and ralph would be 2 MB larger.
type content struct {
	Answers
	project Project
	plan    string // slash path
}

// fill replaces each {{name}} with its value, in one pass.
func fill(text string, values ...string) string {
	for i := 0; i < len(values); i += 2 {
		values[i] = "{{" + values[i] + "}}"
	}
	return strings.NewReplacer(values...).Replace(text)
}

// prompt returns .ralph/PROMPT.md.
func (c content) prompt() string {
	languages, guides := "", ""
	if all := c.project.Languages(); len(all) > 0 {
		languages = " (" + strings.Join(all, ", ") + ")"
	}
	for _, guide := range c.project.Guides {
		guides += "\n- " + code(guide) + ": read it too."
	}
	tests := "If no check is listed below, ralph knows no test command: once there are tests, " +
		"write it to `.ralph/AGENT.md`."
	if checks := c.Checks(); len(checks) > 0 {
		for i, line := range checks {
			checks[i] = code(line)
		}
		tests = "Before you finish, run all of these: " + strings.Join(checks, ", ") + ".\n" +
			"   The section Checks below says what counts; never delete, skip or weaken a test to make one pass."
	}
	return fill(template("PROMPT.md"), "name", c.Name, "languages", languages, "plan", c.plan, "guides", guides,
		"tests", tests)
}

// planText returns a first plan.
func (c content) planText() string {
	first := "- [ ] Find out how to test this project, and write the command to `.ralph/AGENT.md`\n" +
		"  - if there are no tests: a first test of the most important behaviour, and a command that runs it\n"
	test := c.Test
	if i := slices.IndexFunc(c.Detected, func(row gate.Check) bool { return row.Kind == gate.KindTest }); i >= 0 {
		test = c.Detected[i].Reproduce()
	}
	if test != "" {
		first = "- [ ] Run " + code(test) + " and make it succeed\n" +
			"  - a failing test shows a bug in the code or is wrong itself: find out which, and fix that\n" +
			"  - no test is deleted, skipped or weakened\n"
	}
	tasks := "\n" + first +
		"- [ ] Check that the commands in `.ralph/AGENT.md` work, and correct that file if they do not\n" +
		"  - nothing else changes\n\nThese two suit any project. Replace them with your own tasks.\n"
	if c.project.Bare {
		tasks = "\nThere is nothing to do yet, so ralph does not start. Write your first tasks here, one box each.\n"
	}
	return fill(template("fix_plan.md"), "name", c.Name, "tasks", tasks)
}

// agent returns .ralph/AGENT.md.
func (c content) agent() string {
	var b strings.Builder
	for _, part := range c.project.Parts {
		fmt.Fprintf(&b, "\n## %s\n\n%s", part.Language, commands(part))
	}
	if len(c.project.Parts) == 0 {
		b.WriteString("\n## Commands\n\n" +
			"None yet. Once there are some, write here how to set up, build, test and run the project.\n")
	}
	if len(c.project.Subprojects) > 0 {
		b.WriteString("\n## Subprojects\n\nEach has its own commands. Run them in its folder.\n")
	}
	for _, part := range c.project.Subprojects {
		fmt.Fprintf(&b, "\n### %s (%s)\n\n%s", code(termtext.Line(part.Dir)), part.Language, commands(part))
	}
	if checks := c.Checks(); len(checks) > 0 {
		b.WriteString("\n## Before a commit\n\nRun all of these, and break none:\n")
		for _, line := range checks {
			b.WriteString("\n- " + code(line))
		}
		b.WriteString("\n")
	}
	return fill(template("AGENT.md"), "name", c.Name, "commands", b.String())
}

// commands lists the commands of a part.
func commands(p Part) (text string) {
	for _, row := range [][2]string{{"set up", p.Setup}, {"build", p.Build}, {"lint", p.Lint}, {"test", p.Test}} {
		switch {
		case row[1] != "":
			text += "- " + row[0] + ": " + code(row[1]) + "\n"
		case row[0] == "test":
			text += "- test: found nothing\n"
		}
	}
	return text
}

// settings returns .ralphrc.
func (c content) settings() string {
	var b strings.Builder
	for _, s := range c.Settings {
		mark := "# "
		if s.Active {
			mark = ""
		}
		fmt.Fprintf(&b, "\n# %s\n%s%s=%s\n", s.Help, mark, s.Key, quote(s.Value))
	}
	return fill(template("ralphrc"), "name", c.Name, "settings", b.String())
}
