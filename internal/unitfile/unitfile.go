// Package unitfile reads a systemd unit as systemd does, as far as a service of
// one command needs it: systemd.syntax(7), systemd.service(5). What it does not
// know is an error.
package unitfile

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Unit holds the values of a unit by "Section.Key", in their order.
type Unit map[string][]string

// Process is what a unit starts.
type Process struct {
	Argv []string
	Env  []string // NAME=value
	Dir  string
}

// Parse reads lines, comments, continued lines and sections.
func Parse(text string) (Unit, error) {
	u := Unit{}
	section, carried := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if carried == "" && strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		line, carried = carried+line, ""
		if rest, more := strings.CutSuffix(line, `\`); more {
			carried = rest + " "
			continue
		}
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		switch {
		case line == "":
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
		case !ok || section == "":
			return nil, fmt.Errorf("read unit: %q is no setting", line)
		default:
			key = section + "." + strings.TrimSpace(key)
			u[key] = append(u[key], strings.TrimSpace(value))
		}
	}
	return u, nil
}

// Start is the process of a service with one ExecStart.
func (u Unit) Start() (Process, error) {
	var p Process
	if len(u["Service.ExecStart"]) != 1 || len(u["Service.WorkingDirectory"]) != 1 {
		return p, fmt.Errorf("read unit: %d commands and %d folders, want one each", len(u["Service.ExecStart"]), len(u["Service.WorkingDirectory"]))
	}
	dir, err := specifiers(u["Service.WorkingDirectory"][0])
	if err != nil {
		return p, err
	}
	p.Dir = filepath.Clean(dir)
	if p.Argv, err = words(u["Service.ExecStart"][0]); err != nil {
		return p, err
	}
	if !filepath.IsAbs(p.Argv[0]) || strings.ContainsAny(p.Argv[0], `"'\`) {
		return p, fmt.Errorf("read unit: %q cannot be started", p.Argv[0])
	}
	for i, arg := range p.Argv[1:] { // a variable in the program's path is none
		if p.Argv[i+1], err = doubled(arg, '$'); err != nil {
			return p, err
		}
	}
	for _, line := range u["Service.Environment"] {
		pairs, err := words(line)
		if err != nil {
			return p, err
		}
		p.Env = append(p.Env, pairs...)
	}
	return p, nil
}

// words splits a value, takes quotes and backslashes away, and then resolves
// specifiers.
func words(value string) ([]string, error) {
	var all []string
	var word strings.Builder
	inWord, quoted := false, rune(0)
	escaped := false
	for _, r := range value {
		switch {
		case escaped:
			if !strings.ContainsRune(`\"'`, r) {
				return nil, fmt.Errorf("read unit: unknown escape %q in %q", r, value)
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped, inWord = true, true
		case quoted != 0 && r == quoted:
			quoted = 0
		case quoted == 0 && (r == '"' || r == '\''):
			quoted, inWord = r, true
		case quoted == 0 && (r == ' ' || r == '\t'):
			if inWord {
				all = append(all, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quoted != 0 || escaped {
		return nil, fmt.Errorf("read unit: %q does not end", value)
	}
	if inWord {
		all = append(all, word.String())
	}
	for i := range all {
		var err error
		if all[i], err = specifiers(all[i]); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read unit: a value is empty")
	}
	return all, nil
}

func specifiers(s string) (string, error) { return doubled(s, '%') }

// doubled reads text in which a sign stands for itself when it comes twice.
func doubled(s string, sign byte) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		if s[i] != sign {
			continue
		}
		if i++; i == len(s) || s[i] != sign {
			return "", fmt.Errorf("read unit: a single %c in %q", sign, s)
		}
	}
	return b.String(), nil
}
