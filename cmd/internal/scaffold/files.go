package scaffold

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

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
	Build, Test, Lint string // empty: none
	Types, Fast       string // beside them; empty: none
	Settings          []Setting
}

// Checks returns the commands that must succeed, in the order in which ralph runs them.
func (a Answers) Checks() []string {
	return slices.DeleteFunc([]string{a.Fast, a.Build, a.Types, a.Test, a.Lint},
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

// planFile is the plan of a project that has none yet.
const planFile = ".ralph/fix_plan.md"

//go:embed templates
var templates embed.FS

// PlanNames returns where the plan of a project usually is, the first choice first.
func PlanNames() []string {
	return []string{".ralph/fix_plan.md", "fix_plan.md", "@fix_plan.md", "prd.json", ".ralph/prd.json"}
}

// texts lists the files in the order of the output.
func texts() []struct {
	path, template string
	instead        []string
} {
	return []struct {
		path, template string
		instead        []string
	}{
		{".ralph/PROMPT.md", "PROMPT.md", []string{"PROMPT.md", "prompt.md"}},
		{planFile, "fix_plan.md", PlanNames()[1:]},
		{".ralph/AGENT.md", "AGENT.md", nil},
		{".ralph/.gitignore", "gitignore", nil},
		{".ralphrc", "ralphrc", []string{".ralph/config.yaml"}},
	}
}

// Files returns ralph's files for the project in dir. It writes nothing.
func Files(dir string, p Project, a Answers) ([]File, error) {
	funcs := template.FuncMap{"quote": quote, "code": code, "join": strings.Join}
	t, err := template.New("").Funcs(funcs).ParseFS(templates, "templates/*")
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	data := struct {
		Answers
		Project   Project
		Plan      string
		Gitignore string
	}{a, p, planFile, state.Gitignore}
	var files []File
	for _, row := range texts() {
		f := File{Path: row.path, Kept: kept(dir, row.path, row.instead)}
		if found, ok := store.Find(dir); ok && row.path == planFile { // in any format: a second plan would come before it
			if f.Kept, err = filepath.Rel(dir, found); err != nil {
				return nil, fmt.Errorf("name plan: %w", err)
			}
			data.Plan = f.Kept
		}
		files = append(files, f)
	}
	for i, row := range texts() {
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, row.template, data); err != nil {
			return nil, fmt.Errorf("fill template: %w", err)
		}
		files[i].Text = b.String()
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
