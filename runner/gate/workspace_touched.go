package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// workspacePart is a command for a whole workspace, reduced to one package.
type workspacePart struct {
	Dir     string // slash path relative to the project
	Command string // in Dir
}

// Parts splits a command for a whole workspace into one for each package; nil for
// any other command.
func (w *workspaces) Parts(command string) []workspacePart {
	if len(w.members) == 0 {
		return nil
	}
	tool, one := w.perPackage(parseCall(command))
	var parts []workspacePart
	for _, m := range w.members {
		if m.tool == tool && tool != "" && (tool != "npm" || scriptIn(m.manifest, one.script()) != "") {
			parts = append(parts, workspacePart{m.dir, one.Text})
		}
	}
	return parts
}

// perPackage returns the tool whose whole workspace a command is for, and the
// command for the folder of one package. The tool is "" for any other command.
func (w *workspaces) perPackage(c toolCall) (tool string, one toolCall) {
	if len(c.Words) < 2 {
		return "", one
	}
	switch c.Words[0] {
	case "go":
		if slices.Contains([]string{"test", "build", "vet"}, c.Words[1]) && c.HasAny("./...") {
			return "go", c
		}
	case "cargo":
		if slices.Contains([]string{"test", "build", "check", "clippy"}, c.Words[1]) &&
			(w.virtual["cargo"] || c.HasAny("--workspace", "--all")) && !c.HasAny("-p", "--package") {
			return "cargo", c.without("--workspace", "--all")
		}
	case "npm", "pnpm", "yarn":
		one = c.without("--workspaces", "-ws", "-r", "--recursive", "--if-present", "workspaces")
		if script := one.script(); script != "" &&
			(len(one.Words) < len(c.Words) || scriptIn(w.text("package.json"), script) == "") {
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
func (c toolCall) without(words ...string) toolCall {
	text := c.Text
	for i := len(c.Words) - 1; i > 0; i-- {
		if slices.Contains(words, c.Words[i]) {
			text = text[:c.ends[i-1]] + text[c.ends[i]:]
		}
	}
	return parseCall(text)
}

// script returns what "npm test" or "npm run NAME" runs; empty for other calls.
func (c toolCall) script() string {
	switch {
	case len(c.Words) > 2 && c.Words[1] == "run":
		return c.Words[2]
	case len(c.Words) > 1 && slices.Contains([]string{"test", "build", "lint"}, c.Words[1]):
		return c.Words[1]
	}
	return ""
}

// Add makes a folder a package even if no manifest names it.
func (w *workspaces) Add(dir string) {
	dir = path.Clean(dir)
	if !slices.ContainsFunc(w.members, func(m member) bool { return m.dir == dir }) {
		w.members = append(w.members, member{dir: dir})
	}
}

// Touched returns a func that reports whether any of the changed files (slash paths
// relative to the project) is in the package of a folder, or in one that it
// depends on.
func (w *workspaces) Touched(changed []string) func(dir string) bool {
	touched := map[string]bool{}
	for _, file := range changed {
		m, ok := w.owner(file)
		switch {
		case ok && m.dir != ".":
			touched[m.dir] = true
		case document(file):
		case ok && strings.Contains(file, "/"):
			touched["."] = true
		default: // it belongs to no package, or configures all of them
			return func(string) bool { return true }
		}
	}
	w.spread(touched)
	return func(dir string) bool { return touched[path.Clean(dir)] }
}

// owner returns the innermost package of a file.
func (w *workspaces) owner(file string) (member, bool) {
	var best member
	found := false
	for _, m := range w.members {
		if (m.dir == "." || strings.HasPrefix(file, m.dir+"/")) &&
			(!found || len(m.dir) > len(best.dir) || best.dir == ".") {
			best, found = m, true
		}
	}
	return best, found
}

// document reports whether the file is one that no check reads.
func document(file string) bool {
	return strings.HasPrefix(file, ".ralph/") ||
		slices.Contains([]string{".md", ".txt", ".rst", ".adoc"}, strings.ToLower(path.Ext(file))) &&
			path.Base(file) != "requirements.txt"
}

// spread adds the packages that depend on a touched one, directly or not. A package depends on all packages whose names
// are in its manifest, as whole words: a false alarm costs an extra check, but no check is missed.
func (w *workspaces) spread(touched map[string]bool) {
	queue := slices.DeleteFunc(slices.Clone(w.members), func(m member) bool { return !touched[m.dir] })
	for ; len(queue) > 0; queue = queue[1:] {
		o := queue[0]
		if o.name == "" {
			continue
		}
		mention := regexp.MustCompile(`(^|[^\w./-])` + regexp.QuoteMeta(o.name) + `([^\w/-]|$)`)
		for _, m := range w.members {
			if !touched[m.dir] && m.tool == o.tool && mention.MatchString(m.manifest) {
				touched[m.dir] = true
				queue = append(queue, m)
			}
		}
	}
}
