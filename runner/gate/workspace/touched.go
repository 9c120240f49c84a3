package workspace

import (
	"path"
	"slices"
	"strings"
)

// Part is a command for a whole workspace, cut down to one package.
type Part struct {
	Dir     string // slash path relative to the project
	Command string // in Dir
}

// Parts splits a command for a whole workspace into one for each package; nil for
// any other command.
func (w *Workspaces) Parts(command string) []Part {
	if len(w.members) == 0 {
		return nil
	}
	tool, one := w.perPackage(ParseCall(command))
	var parts []Part
	for _, m := range w.members {
		if m.tool == tool && tool != "" && (tool != "npm" || scriptIn(m.manifest, one.script()) != "") {
			parts = append(parts, Part{m.dir, one.Text})
		}
	}
	return parts
}

// perPackage returns the tool for whose whole workspace a command is, and the
// command that does the same in the folder of one package.
func (w *Workspaces) perPackage(c Call) (tool string, one Call) {
	if len(c.Words) < 2 {
		return "", one
	}
	switch c.Words[0] {
	case "go":
		if slices.Contains([]string{"test", "build", "vet"}, c.Words[1]) && c.HasAny("./...") {
			return "go", c
		}
	case "cargo":
		if slices.Contains([]string{"test", "build", "check", "clippy"}, c.Words[1]) && (w.virtual["cargo"] || c.HasAny("--workspace", "--all")) && !c.HasAny("-p", "--package") {
			return "cargo", c.without("--workspace", "--all")
		}
	case "npm", "pnpm", "yarn":
		one = c.without("--workspaces", "-ws", "-r", "--recursive", "--if-present", "workspaces")
		if script := one.script(); script != "" && (len(one.Words) < len(c.Words) || scriptIn(w.text("package.json"), script) == "") {
			return "npm", one
		}
	case "uv":
		if c.Words[1] == "run" && w.virtual["uv"] && !c.HasAny("--package", "--all-packages") {
			return "uv", c
		}
	}
	return "", one
}

// without returns the command without some words.
func (c Call) without(words ...string) Call {
	text := c.Text
	for i := len(c.Words) - 1; i > 0; i-- {
		if slices.Contains(words, c.Words[i]) {
			text = text[:c.ends[i-1]] + text[c.ends[i]:]
		}
	}
	return ParseCall(text)
}

// script returns what "npm test" or "npm run NAME" runs; empty for other calls.
func (c Call) script() string {
	switch {
	case len(c.Words) > 2 && c.Words[1] == "run":
		return c.Words[2]
	case len(c.Words) > 1 && slices.Contains([]string{"test", "build", "lint"}, c.Words[1]):
		return c.Words[1]
	}
	return ""
}

// Add makes a folder a package although no manifest names it.
func (w *Workspaces) Add(dir string) {
	dir = path.Clean(dir)
	if !slices.ContainsFunc(w.members, func(m member) bool { return m.dir == dir }) {
		w.members = append(w.members, member{dir: dir})
	}
}

// Touched returns a func that reports whether changed files, as slash paths
// relative to the project, are in the package of a folder or in one that it
// depends on.
func (w *Workspaces) Touched(changed []string) func(dir string) bool {
	touched := map[string]bool{}
	for _, file := range changed {
		m, ok := w.owner(file)
		switch {
		case ok && m.dir != ".":
			touched[m.dir] = true
		case document(file):
		case ok && strings.Contains(file, "/"):
			touched["."] = true
		default: // it belongs to no package, or configures all
			return func(string) bool { return true }
		}
	}
	w.spread(touched)
	return func(dir string) bool { return touched[path.Clean(dir)] }
}

// owner returns the innermost package of a file.
func (w *Workspaces) owner(file string) (member, bool) {
	var best member
	found := false
	for _, m := range w.members {
		if (m.dir == "." || strings.HasPrefix(file, m.dir+"/")) && (!found || len(m.dir) > len(best.dir) || best.dir == ".") {
			best, found = m, true
		}
	}
	return best, found
}

// document reports whether no check of a package reads the file.
func document(file string) bool {
	return strings.HasPrefix(file, ".ralph/") ||
		slices.Contains([]string{".md", ".txt", ".rst", ".adoc"}, strings.ToLower(path.Ext(file))) && path.Base(file) != "requirements.txt"
}

// spread adds the packages that depend on a touched one, directly or not.
func (w *Workspaces) spread(touched map[string]bool) {
	for again := true; again; {
		again = false
		for _, m := range w.members {
			if touched[m.dir] {
				continue
			}
			if slices.ContainsFunc(w.members, func(o member) bool {
				return touched[o.dir] && o.tool == m.tool && o.name != "" && mentions(m.manifest, o.name)
			}) {
				touched[m.dir], again = true, true
			}
		}
	}
}

// mentions reports whether a manifest has a name as a whole word. A false alarm
// costs an extra check, but no check is missed.
func mentions(manifest, name string) bool {
	word := func(c byte) bool {
		return c == '_' || c == '-' || c == '/' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for rest := manifest; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !word(rest[i-1])) && (end == len(rest) || !word(rest[end]) || rest[end] == '.') {
			return true
		}
		rest = rest[end:]
	}
}
