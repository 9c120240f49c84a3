package scaffold

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/gate"
	"ralph/runner/task/store"
	"ralph/state"
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
	var detected []string
	for _, c := range a.Detected {
		detected = append(detected, c.Reproduce())
	}
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

// written is a file that ralph init writes.
type written struct {
	path    string
	text    func(content) string
	instead []string // existing files with the same purpose
}

// texts lists the files in the order of the output.
func texts() []written {
	return []written{
		{promptFile, content.prompt, []string{"PROMPT.md", "prompt.md"}},
		{planFile, content.planText, PlanNames()[1:]},
		{".ralph/AGENT.md", content.agent, nil},
		{".ralph/.gitignore", func(content) string { return state.Gitignore }, nil},
		{".ralphrc", content.settings, []string{".ralph/config.yaml"}},
	}
}

// Files returns ralph's files for the project in dir. It writes nothing.
func Files(dir string, p Project, a Answers) ([]File, error) {
	c := content{a, p, planFile}
	var files []File
	for _, row := range texts() {
		f := File{Path: row.path, Kept: kept(dir, row.path, row.instead)}
		if found, ok := store.Find(dir, nil); ok && row.path == planFile {
			// In any format: a second plan would take precedence over it.
			name, err := filepath.Rel(dir, found)
			if err != nil {
				return nil, fmt.Errorf("name plan: %w", err)
			}
			f.Kept, c.plan = name, name
		}
		files = append(files, f)
	}
	for i, row := range texts() {
		files[i].Text = row.text(c)
	}
	return files, nil
}

func kept(dir, path string, instead []string) string {
	for _, name := range append([]string{path}, instead...) {
		if exists(filepath.Join(dir, name)) {
			return name
		}
	}
	return ""
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
