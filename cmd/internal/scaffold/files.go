package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/projectfs"
)

// Setting is one option as .ralphrc shows it.
type Setting struct {
	Key, Help, Value string
	Active           bool // else it is commented out
}

// Answers are what the user has said or agreed to about the project.
type Answers struct {
	Name              string
	Build, Test, Lint string       // empty: none
	Types, Fast       string       // beside them; empty: none
	Detected          []gate.Check // instead of commands: ralph detects them again for each run
	Settings          []Setting
}

// Checks returns the commands that must succeed, in the order in which ralph runs them.
func (a Answers) Checks() []string {
	detected := termtext.Each(a.Detected, func(c gate.Check) string { return c.Reproduce() })
	return slices.DeleteFunc(append(detected, a.Fast, a.Build, a.Types, a.Test, a.Lint),
		func(line string) bool { return line == "" })
}

// File is a file to be written.
type File struct {
	Path string // slash path below the project
	Text string
	// Kept is an existing file with the same purpose: Path itself, or one that ralph would
	// ignore if Path existed. Empty: none.
	Kept string
}

// The prompt, and the plan of a project that has none yet.
const (
	promptFile = ".ralph/PROMPT.md"
	planFile   = ".ralph/fix_plan.md"
)

//go:embed templates
var templates embed.FS

// PlanNames returns where the plan of a project usually is, the first choice first.
func PlanNames() []string {
	return []string{".ralph/fix_plan.md", "fix_plan.md", "@fix_plan.md", "prd.json", ".ralph/prd.json"}
}

// template returns the text of a file, with {{name}} where something is filled in.
func template(name string) string {
	data, err := templates.ReadFile("templates/" + name)
	if err != nil {
		panic("embedded templates: " + err.Error())
	}
	return string(data)
}

// Files returns ralph's files for the project in dir, in the order of the output. It writes nothing.
func Files(dir string, p Project, a Answers) ([]File, error) {
	c := content{a, p, planFile}
	plan, known := store.Find(dir, nil) // in any format: a second plan would take precedence over it
	if known {
		var err error
		if c.plan, err = filepath.Rel(dir, plan); err != nil {
			return nil, fmt.Errorf("name plan: %w", err)
		}
	}
	var files []File
	for _, row := range []struct {
		path    string
		text    func(content) string
		instead []string // existing files with the same purpose
	}{
		{promptFile, content.prompt, []string{"PROMPT.md", "prompt.md"}},
		{planFile, content.planText, PlanNames()[1:]},
		{".ralph/AGENT.md", content.agent, nil},
		{".ralph/.gitignore", func(content) string { return state.Gitignore }, nil},
		{".ralphrc", content.settings, []string{".ralph/config.yaml"}},
	} {
		f := File{Path: row.path, Text: row.text(c)}
		there := append([]string{row.path}, row.instead...)
		if row.path == planFile && known {
			there = []string{c.plan}
		}
		if i := slices.IndexFunc(there, func(name string) bool { return exists(filepath.Join(dir, name)) }); i >= 0 {
			f.Kept = there[i]
		}
		files = append(files, f)
	}
	return files, nil
}

// quote quotes a value for .ralphrc.
func quote(value string) string {
	if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`
}

// code returns an inline code span of Markdown.
func code(line string) string {
	if strings.Contains(line, "`") {
		return "`` " + line + " ``"
	}
	return "`" + line + "`"
}

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
		tests = "Before you finish, run all of these: " + strings.Join(termtext.Each(checks, code), ", ") + ".\n" +
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

// Write writes all files below dir, or none. It replaces existing ones. Every text is
// on disk under a temporary name before the first file gets its own name.
func Write(dir string, files []File) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0 && err != nil; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	project := projectfs.In(dir)
	var pending []*projectfs.Pending
	for _, f := range files {
		path := project.Path(f.Path)
		if folder := filepath.Dir(path); folder != dir {
			_, err := project.Lstat(folder)
			missing := errors.Is(err, fs.ErrNotExist)
			if missing {
				err = nil
			}
			if above := filepath.Dir(folder); missing && above != filepath.Clean(dir) {
				_, err = project.Lstat(above) // only the last folder is made, so that undo is simple
			}
			if err == nil {
				err = project.MkdirAll(folder, 0o755)
			}
			if err != nil {
				return fmt.Errorf("write %q: %w", f.Path, err)
			}
			if missing {
				undo = append(undo, func() error { return project.Remove(folder) })
			}
		}
		p, err := project.Replace(path, 0o644)
		if err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		undo = append(undo, func() error { p.Discard(); return nil }) // does nothing once the file has its name
		if _, err := p.WriteString(f.Text); err != nil {
			return fmt.Errorf("write %q: %w", f.Path, err)
		}
		pending = append(pending, p)
	}
	// All is written and every folder is writable: a rename fails only if the disk does.
	for i, p := range pending {
		if err := p.Commit(); err != nil {
			return fmt.Errorf("write %q: %w", files[i].Path, err)
		}
	}
	return nil
}
