package settings

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// each takes the part out of each file for itself.
func each(part func(source) string) func([]source) string {
	return func(files []source) string {
		var out strings.Builder
		for _, f := range files {
			out.WriteString(strings.TrimRight(part(f), "\n") + "\n")
		}
		return out.String()
	}
}

// makeTargets are the recipes of the targets that check, with the variables
// that name commands. A variable is written out where it is used.
func makeTargets(files []source) string {
	text := strings.ReplaceAll(each(func(f source) string { return f.text })(files), "\\\n", " ")
	variables, values := makeVariables(text)
	used := map[string]bool{}
	expand := func(line string) string {
		return patterns().use.ReplaceAllStringFunc(line, func(use string) string {
			name := use[2 : len(use)-1]
			used[name] = true
			if value, ok := values[name]; ok {
				return value
			}
			return use
		})
	}
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case patterns().target.MatchString(line):
			inside = true
		case strings.TrimSpace(line) != "" && line[0] != '\t' && line[0] != ' ':
			inside = false
		}
		if inside {
			for range 3 { // a variable of variables
				line = expand(line)
			}
			out.WriteString(line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if patterns().judges.MatchString(name) && !used[name] {
			out.WriteString(variables[name])
		}
	}
	return out.String()
}

var patterns = sync.OnceValue(func() (p struct{ use, set, target, judges, script, setting, block, check, hides *regexp.Regexp }) {
	p.use = regexp.MustCompile(`\$(?:\(\w+\)|\{\w+\})`)
	p.set = regexp.MustCompile(`(?m)^(?:export |override )*(\w+)[ \t]*(\+|[:?]{0,2})=[ \t]*(.*)\n?`)
	p.target = regexp.MustCompile(`^\w*(?:test|check|lint|ci|verify|vet|cover|build|all|typecheck)\w*\b[^=]*:`)
	p.judges = regexp.MustCompile(`TEST|CHECK|LINT|FLAGS|PYTEST|GO|CARGO|NPM`)
	p.script = regexp.MustCompile(`test|lint|check|build|verify|ci|types|coverage|validate|prepush|precommit`)
	p.block = regexp.MustCompile(`:\s*[|>][-+]?$`) // YAML: lines follow
	p.check = regexp.MustCompile(runsCheck)
	p.hides = regexp.MustCompile(`^(?:\|\||[^|]\||;|\s*-@?\w)`) // of what is easier: that its own line fails
	p.setting = regexp.MustCompile(`^\s*([\w.-]+)\s*=\s*(.*)`)
	return p
})

// makeVariables are the lines that set each variable, and its value where one
// line says it.
func makeVariables(text string) (lines, values map[string]string) {
	lines, values = map[string]string{}, map[string]string{}
	for _, m := range patterns().set.FindAllStringSubmatch(text, -1) {
		name, value := m[1], strings.TrimSpace(m[3])
		if m[2] == "+" && values[name] != "" {
			value = values[name] + " " + value
		}
		lines[name], values[name] = lines[name]+m[0], value
	}
	return lines, values
}

// packageScripts are the scripts that check and the settings of test tools.
func packageScripts(f source) string {
	var p map[string]json.RawMessage
	if json.Unmarshal([]byte(f.text), &p) != nil {
		return f.text
	}
	var scripts map[string]string
	_ = json.Unmarshal(p["scripts"], &scripts) // of another shape: none
	var out []string
	for name, command := range scripts {
		if patterns().script.MatchString(name) {
			out = append(out, name+": "+command)
		}
	}
	for _, key := range []string{"jest", "vitest", "mocha", "ava", "nyc", "c8", "eslintConfig", "eslintIgnore", "lint-staged", "husky", "tap", "xo"} {
		var v any
		if json.Unmarshal(p[key], &v) == nil {
			if data, err := json.MarshalIndent(v, "", " "); err == nil {
				out = append(out, string(data))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// pythonTools are the settings of the tools that check. Each tool has a file of
// its own and sections in files that all of them share: the headers are written
// here as if all were shared.
func pythonTools(f source) string {
	name := f.path[strings.LastIndexByte(f.path, '/')+1:]
	text, tool := f.text, ""
	switch strings.TrimPrefix(name, ".") {
	case "pyproject.toml":
		text = sections(`^tool\.(?:pytest|ruff|mypy|coverage|pylint|flake8|black|pyright|tox|bandit|isort)`)([]source{f})
	case "setup.cfg":
		text = sections(`^(?:flake8|tool:pytest|mypy|pylint|coverage|isort|pycodestyle)`)([]source{f})
	case "ruff.toml":
		tool = "ruff"
		text = "[]\n" + text
	case "coveragerc":
		tool = "coverage"
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if header, ok := strings.CutPrefix(line, "["); ok && strings.HasSuffix(strings.TrimSpace(header), "]") {
			header = strings.Trim(header, " \t\r\n[]")
			for _, prefix := range []string{"tool.", "tool:"} {
				header = strings.TrimPrefix(header, prefix)
			}
			header = strings.Trim(tool+"."+strings.ReplaceAll(strings.TrimSuffix(header, ".ini_options"), ":", "."), ".")
			line = "[" + header + "]\n"
		} else if m := patterns().setting.FindStringSubmatch(line); m != nil {
			line = m[1] + " = " + strings.NewReplacer(`"`, "", "'", "").Replace(m[2]) + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

// lines takes the lines that match.
func lines(pattern string) func([]source) string {
	re := regexp.MustCompile(pattern)
	return each(func(f source) string {
		var out strings.Builder
		for line := range strings.Lines(f.text) {
			if re.MatchString(line) {
				out.WriteString(line)
			}
		}
		return out.String()
	})
}

// sections takes the parts of a TOML or INI file whose header matches.
func sections(pattern string) func([]source) string {
	re := regexp.MustCompile(pattern)
	return each(func(f source) string {
		var out strings.Builder
		inside := false
		for line := range strings.Lines(f.text) {
			if header, ok := strings.CutPrefix(line, "["); ok {
				inside = re.MatchString(header)
			}
			if inside {
				out.WriteString(line)
			}
		}
		return out.String()
	})
}
