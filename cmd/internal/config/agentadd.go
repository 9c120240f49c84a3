package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"ralph/runner/agent"
	"ralph/state/option"
	"ralph/state/projectfs"
)

// AgentField is one line of an agent's row: a key, and its value as text.
type AgentField struct{ Key, Value string }

// AddAgent adds a row to the project's config.yaml and returns the agent as the
// next Load will. It changes nothing else in the file, and creates it if it is
// missing. Errors that the user can fix are *UsageError.
func (l Loader) AddAgent(name string, fields []AgentField) (agent.Spec, error) {
	spec, err := l.CheckAgent(name, fields)
	if err != nil {
		return agent.Spec{}, err
	}
	path := filepath.Join(l.Dir, yamlName)
	text, _, err := readFile(l.Dir, path, yamlName)
	if err != nil {
		return agent.Spec{}, err
	}
	old, _, err := l.yaml(yamlName, SourceProject, text)
	if err != nil {
		return agent.Spec{}, err
	}
	if at := agentsIn(old).AgentSource(name); at.Where != "" {
		return agent.Spec{}, &UsageError{at.Where, agentsKey + "." + name + " is there already: change it there"}
	}
	next := insertRow(text, name, fields)
	if now, _, err := l.yaml(yamlName, SourceProject, next); err != nil || len(now) != len(old)+1 {
		return agent.Spec{}, &UsageError{yamlName,
			"is written in a way that nothing can be added to: write agents: on a line of its own, " +
				"with one indented row for each agent"}
	}
	return spec, replaceText(projectfs.In(l.Dir), path, next)
}

// agentsIn has the agents of a file.
func agentsIn(settings []setting) *Config {
	c := &Config{}
	for _, s := range settings {
		if s.row != nil {
			_, _ = s.row(c) // one row of each name is enough
		}
	}
	return c
}

// CheckAgent is AddAgent without writing the file: it reads the fields in the way that Load reads them from there.
func (l Loader) CheckAgent(name string, fields []AgentField) (agent.Spec, error) {
	for _, f := range fields {
		if !option.Printable(f.Value) {
			return agent.Spec{}, &UsageError{"agent " + quote(name), f.Key + " must be text on one line"}
		}
	}
	rows, warnings, err := l.yaml("", SourceProject, insertRow("", name, fields))
	usage := (*UsageError)(nil)
	switch {
	case errors.As(err, &usage):
		return agent.Spec{}, &UsageError{"agent " + quote(name),
			strings.TrimPrefix(usage.Problem, agentsKey+"."+name+": ")}
	case err != nil:
		return agent.Spec{}, err
	}
	specs := agentsIn(rows).Agents()
	if len(specs) != 1 || specs[0].Name != name || len(warnings) > 0 {
		return agent.Spec{}, &UsageError{"agent " + quote(name), "cannot be written as a row"}
	}
	return specs[0], nil
}

// insertRow adds a row below agents:. Without such a line, it adds one at the end of the text.
func insertRow(text, name string, fields []AgentField) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	block := regexp.MustCompile(`(?m)^` + agentsKey + `:[ \t]*(?:#.*)?\n(?:(?:[ \t]*(?:#.*)?\n)*( +)[^\s#])?`)
	m := block.FindStringSubmatchIndex(text)
	if m == nil {
		if text != "" {
			text += "\n"
		}
		return text + agentsKey + ":\n" + rowText(name, fields, "  ")
	}
	indent := "  "
	if m[2] >= 0 { // that of the rows that are there
		indent = text[m[2]:m[3]]
	}
	at := m[0] + strings.IndexByte(text[m[0]:], '\n') + 1
	return text[:at] + rowText(name, fields, indent) + text[at:]
}

// rowText is a row, indented. In YAML, a text in quotes is one as in Go.
func rowText(name string, fields []AgentField, indent string) string {
	text := indent + name + ":\n"
	for _, f := range fields {
		text += fmt.Sprintf("%s  %s: %q\n", indent, f.Key, f.Value)
	}
	return text
}

// replaceText writes a settings file in one step, with the line ends that it had.
func replaceText(project projectfs.Dir, path, text string) error {
	perm := fs.FileMode(0o644)
	if was, err := project.Read(path, maxFileSize); err == nil {
		if info, err := project.Lstat(path); err == nil {
			perm = info.Mode().Perm()
		}
		if strings.Contains(string(was), "\r\n") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
	}
	if err := project.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", yamlName, err)
	}
	if err := project.Write(path, []byte(text), perm); err != nil {
		return fmt.Errorf("write %s: %w", yamlName, err)
	}
	return nil
}
