package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"ralph/state/projectfs"

	"ralph/runner/agent"
	"ralph/state/option"
)

// AgentField is one line of an agent's row: a key, env.NAME or patterns.CLASS,
// and its value as text. Several fields with the same key make a list.
type AgentField struct{ Key, Value string }

// AddAgent adds a row to the project's config.yaml and returns the agent as the
// next Load will. It changes nothing else in the file, and creates it if it is
// missing. Errors that the user can fix are *UsageError.
func (l Loader) AddAgent(name string, fields []AgentField) (agent.Spec, error) {
	row, err := l.rowOf(name, fields)
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
	for _, s := range old {
		if s.agent != nil && s.agent.spec.Name == name {
			return agent.Spec{}, &UsageError{s.agent.source.Where,
				agentsKey + "." + name + " is there already: change it there"}
		}
	}
	next := insertRow(text, name, fields)
	if now, _, err := l.yaml(yamlName, SourceProject, next); err != nil || !sameBut(old, now, row) {
		return agent.Spec{}, &UsageError{yamlName,
			"is written in a way that nothing can be added to: write agents: on a line of its own, " +
				"with one indented row for each agent"}
	}
	return row.spec, replaceText(projectfs.In(l.Dir), path, next)
}

// CheckAgent is AddAgent without writing the file.
func (l Loader) CheckAgent(name string, fields []AgentField) (agent.Spec, error) {
	row, err := l.rowOf(name, fields)
	return row.spec, err
}

// rowOf reads the fields in the way that Load reads them from the file.
func (l Loader) rowOf(name string, fields []AgentField) (agentRow, error) {
	for _, f := range fields {
		if !option.Printable(f.Value) {
			return agentRow{}, &UsageError{"agent " + quote(name), f.Key + " must be text on one line"}
		}
	}
	rows, warnings, err := l.yaml("", SourceProject, insertRow("", name, fields))
	usage := (*UsageError)(nil)
	switch {
	case errors.As(err, &usage):
		return agentRow{}, &UsageError{"agent " + quote(name),
			strings.TrimPrefix(usage.Problem, agentsKey+"."+name+": ")}
	case err != nil:
		return agentRow{}, err
	case len(rows) != 1 || rows[0].agent == nil || rows[0].agent.spec.Name != name || len(warnings) > 0:
		return agentRow{}, &UsageError{"agent " + quote(name), "cannot be written as a row"}
	}
	return *rows[0].agent, nil
}

// sameBut reports whether now has the settings of old, and the row, and nothing else.
func sameBut(old, now []setting, row agentRow) bool {
	values := func(all []setting) (list []any) {
		for _, s := range all {
			switch {
			case s.agent != nil:
				list = append(list, s.agent.custom)
			case s.check != nil:
				list = append(list, s.check.check)
			case s.hook != nil:
				list = append(list, s.hook.hook)
			case s.judge != nil:
				list = append(list, s.judge.judge)
			default:
				list = append(list, s.name+"="+s.text)
			}
		}
		return list
	}
	rest := slices.DeleteFunc(slices.Clone(now), func(s setting) bool {
		return s.agent != nil &&
			s.agent.spec.Name == row.spec.Name
	})
	return len(now) == len(old)+1 && len(rest) == len(old) && reflect.DeepEqual(values(rest), values(old))
}

// insertRow adds a row at the end of the block agents:. Without such a block, it
// adds one at the end of the text.
func insertRow(text, name string, fields []AgentField) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // what follows the last line end is empty
	at, indent := rowPlace(text, lines)
	if at < 0 {
		if text != "" {
			text += "\n"
		}
		return text + agentsKey + ":\n" + rowText(name, fields, "  ")
	}
	return strings.Join(lines[:at], "") + rowText(name, fields, indent) + strings.Join(lines[at:], "")
}

// rowPlace is the number of lines before the new row, and its indent; below
// zero if there is no block yet.
func rowPlace(text string, lines []string) (at int, indent string) {
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil || len(tree.Docs) == 0 {
		return -1, ""
	}
	top, ok := tree.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return -1, ""
	}
	i := slices.IndexFunc(top.Values, func(p *ast.MappingValueNode) bool { return p.Key.GetToken().Value == agentsKey })
	if i < 0 {
		return -1, ""
	}
	start, end := top.Values[i].Key.GetToken().Position.Line, len(lines)
	if i+1 < len(top.Values) {
		end = top.Values[i+1].Key.GetToken().Position.Line - 1
	}
	// Blank lines and comments before the next key belong to that key.
	for end > start {
		if l := strings.TrimSpace(lines[end-1]); l != "" && !strings.HasPrefix(l, "#") {
			break
		}
		end--
	}
	indent = "  "
	if rows, ok := top.Values[i].Value.(*ast.MappingNode); ok && len(rows.Values) > 0 {
		indent = strings.Repeat(" ", max(1, rows.Values[0].Key.GetToken().Position.Column-1))
	}
	return end, indent
}

// rowText is a row, indented.
func rowText(name string, fields []AgentField, indent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s:\n", indent, yamlScalar(name))
	parent := ""
	for i, f := range fields {
		group, key, nested := strings.Cut(f.Key, ".")
		if !nested {
			fmt.Fprintf(&b, "%s  %s: %s\n", indent, f.Key, yamlScalar(f.Value))
			continue
		}
		if group != parent {
			fmt.Fprintf(&b, "%s  %s:\n", indent, group)
			parent = group
		}
		same := func(i int) bool { return i >= 0 && i < len(fields) && fields[i].Key == f.Key }
		switch {
		case !same(i-1) && !same(i+1):
			fmt.Fprintf(&b, "%s    %s: %s\n", indent, yamlScalar(key), yamlScalar(f.Value))
			continue
		case !same(i - 1):
			fmt.Fprintf(&b, "%s    %s:\n", indent, yamlScalar(key))
		}
		fmt.Fprintf(&b, "%s      - %s\n", indent, yamlScalar(f.Value))
	}
	return b.String()
}

// yamlScalar quotes text that YAML could read as something other than text.
func yamlScalar(text string) string {
	plain := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`).MatchString(text)
	if plain && !slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"},
		strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
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
