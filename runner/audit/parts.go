package audit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// makeTargets returns the lines of a makefile. Commands get their target as a prefix,
// because only its name may say that they are a check.
func makeTargets(text string) string {
	var out strings.Builder
	target := ""
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, ":"); ok && name != "" && !strings.ContainsAny(name, " \t=#.$") {
			target = name
		}
		if command, ok := strings.CutPrefix(line, "\t"); ok && target != "" {
			line = "make " + target + ": " + command
		}
		out.WriteString(line)
	}
	return out.String()
}

// oneSetting puts each list on one line, and each member of an object of JSON on a line of its own.
func oneSetting(text string) string {
	p := settingPatterns()
	text = p.lists.ReplaceAllStringFunc(text, func(list string) string { return strings.Join(strings.Fields(list), " ") })
	return p.member.ReplaceAllString(text, "$1\n$2")
}

// gitPrograms returns the lines of a git configuration that may name programs: all but
// those that everyday commands write.
func gitPrograms(text string) string {
	var out strings.Builder
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for head, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(head, "["); head, rest, ok = strings.Cut(line, "]") {
			section, _, _ = strings.Cut(strings.ToLower(head[1:]), " ")
			line = strings.TrimSpace(rest)
		}
		name, value, _ := strings.Cut(strings.ToLower(line), "=")
		everyday := !strings.HasPrefix(strings.TrimSpace(value), "!") &&
			slices.Contains([]string{"branch", "user", "submodule", "remote"}, section) &&
			!slices.Contains([]string{"vcs", "uploadpack", "receivepack"}, strings.TrimSpace(name))
		if line != "" && section != "" && !everyday {
			out.WriteString("[" + section + "] " + line + "\n")
		}
	}
	return out.String()
}

// packageScripts returns the scripts of a package.json, and its settings of test runners
// and linters.
func packageScripts(text string) string {
	var p map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &p) != nil {
		return ""
	}
	var scripts map[string]string
	_ = json.Unmarshal(p["scripts"], &scripts) // invalid ones are ignored
	var out []string
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		out = append(out, "npm run "+name+": "+scripts[name])
	}
	for _, key := range []string{"jest", "vitest", "mocha", "ava", "nyc", "c8", "eslintConfig", "xo"} {
		var v any
		if json.Unmarshal(p[key], &v) == nil {
			if data, err := json.MarshalIndent(v, "", " "); err == nil {
				out = append(out, string(data))
			}
		}
	}
	return strings.Join(out, "\n")
}
