package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tools are not part of the programs: only tests and other tools import them. Each row
// lists what the tool may import from the module; nil: nothing.
var tools = map[string][]string{
	"internal/archtest":      nil,
	"internal/testgate":      {"internal/world"}, // builds the programs that the tests share
	"internal/fakebd":        nil,                // a stand-in for the program of Beads
	"internal/fakegh":        nil,                // a stand-in for gh and glab
	"internal/mockllm":       nil,                // a stand-in that shared ralph's code would share its mistakes
	"internal/mockllm/serve": {"internal/mockllm"},
	"internal/world":         nil,                                                                                           // a private place for the real programs, and for git
	"internal/e2e":           {"internal/mockllm", "internal/world"},                                                        // sees ralph as users do: a program and its files
	"internal/e2e/browser":   {"internal/sample", "internal/world", "state", "state/question"},                              // the dashboard in a real browser
	"internal/faults":        {"internal/fakegh", "internal/leaks", "internal/world", "state"},                              // breaks the built program and reads what is left
	"internal/leaks":         nil,                                                                                           // texts with made-up secrets
	"cmd/internal/tmuxe2e":   {"cmd/internal/config", "state/option", "internal/world", "state", "tmux"},                    // sees ralph --monitor as users do
	"internal/sample":        {"state", "state/view"},                                                                       // runs in every state, for tests of what people see
	"internal/scripted":      {"runner/agent", "runner/gate", "runner/prompt", "runner/task/store", "runner/turn", "state"}, // a scripted agent
	"internal/release":       {"internal/world"},                                                                            // packages, as their users get them
	"internal/recordings":    nil,                                                                                           // archives in, recorded calls of agent CLIs out
	"internal/sbom":          nil,                                                                                           // a program in, the list of its modules out
	"internal/picture":       nil,                                                                                           // screen in, picture out
	"internal/bench":         {"*"},                                                                                         // measures any of them
}

// ban forbids the import of a package and of all below it.
type ban struct {
	in     string   // whom it is forbidden: a package, "cmd/..." with all below it, or "..."
	what   string   // the import path
	but    []string // packages below what that are allowed
	by     string   // the one package in in that may import it; "": none
	linked bool     // also forbidden as an indirect import; tests do not count
	why    string
}

const offline = "ralph-hub is the only program with a network, and linked into another one it makes every start slower"

const byName = "it calls methods by name: then the linker keeps every method of every type, and ralph is 2 MB larger"

var bans = []ban{
	{in: "...", what: module + "/tmux", by: "cmd/internal/console",
		why: "the loop and the screen do not know that there is a tmux"},
	{in: "...", what: "github.com/mattn/go-isatty", by: "cmd/internal/cmdline",
		why: "whether there is a terminal is decided once, then passed down"},
	{in: "cmd/ralph", what: "net/http", linked: true, why: offline},
	{in: "...", what: "github.com/nats-io", by: "cmd/internal/hub/fleet", why: offline},
	{in: "...", what: "text/template", why: byName}, {in: "...", what: "html/template", by: "cmd/internal/hub/board", why: byName},
	{in: "monitor", what: module, but: []string{"state", "state/act", "state/question", "state/view", "state/view/follow", "state/view/summary", "logs", "logs/termtext", "internal/sample", "monitor/canvas"},
		why: "runner and monitor meet only in files"},
	{in: "runner/...", what: module + "/monitor", why: "runner and monitor meet only in files"},
	{in: "state/...", what: module + "/runner", why: "state is what both sides read; it knows neither"},
	{in: "state/...", what: module + "/monitor", why: "state is what both sides read; it knows neither"},
}

// imports calls fn for each import of each file.
func (t *tree) imports(fn func(p *pkg, f *file, spec *ast.ImportSpec, path string)) {
	for _, p := range t.packages {
		for _, f := range p.files {
			for _, spec := range f.ast.Imports {
				if path, err := strconv.Unquote(spec.Path.Value); err == nil {
					fn(p, f, spec, path)
				}
			}
		}
	}
}

func checkTools(t *tree) (found []violation) {
	t.imports(func(p *pkg, f *file, spec *ast.ImportSpec, path string) {
		target := inModule(path)
		if target == "" || target == p.path {
			return
		}
		may, isTool := tools[p.path]
		allowed := slices.Contains(may, target) || slices.Contains(may, "*")
		if _, toTool := tools[target]; toTool && !f.test && !allowed {
			found = append(found, t.at(f, spec.Pos(), "%s imports %s, which is for tests only", p.path, target))
		} else if isTool && !allowed {
			found = append(found, t.at(f, spec.Pos(), "%s imports %s; it may import %s", p.path, target, orNothing(may)))
		}
	})
	return found
}

func orNothing(may []string) string {
	if len(may) == 0 {
		return "nothing of the module"
	}
	return strings.Join(may, ", ")
}

func checkBans(t *tree) (found []violation) {
	t.imports(func(p *pkg, f *file, spec *ast.ImportSpec, path string) {
		for _, b := range bans {
			if !b.linked && b.refuses(p.path, path) {
				found = append(found, t.at(f, spec.Pos(), "%s imports %s: %s", p.path, path, b.why))
			}
		}
	})
	for _, p := range t.packages {
		for _, b := range bans {
			if b.linked && p.name == "main" && slices.ContainsFunc(p.deps, func(dep string) bool { return b.refuses(p.path, dep) }) {
				found = append(found, violation{p.path, 0, fmt.Sprintf("links %s: %s; see: go list -deps ./%s", b.what, b.why, p.path)})
			}
		}
	}
	return found
}

// refuses reports whether the ban keeps a package from an import.
func (b ban) refuses(pkg, path string) bool {
	target := inModule(path)
	return below(pkg, b.in) && pkg != b.by && below(path, b.what+"/...") && target != pkg && !slices.Contains(b.but, target)
}

// below reports whether a path matches the pattern: it is equal, or below a pattern that
// ends with "/...".
func below(path, pattern string) bool {
	dir, tree := strings.CutSuffix(pattern, "...")
	dir = strings.TrimSuffix(dir, "/")
	return path == dir || tree && (dir == "" || strings.HasPrefix(path, dir+"/"))
}

// noJob lists package names that name no job, so that anything ends up there.
var noJob = map[string]bool{
	"util": true, "utils": true, "common": true, "types": true, "helper": true, "helpers": true, "misc": true, "shared": true,
}

func checkNames(t *tree) (found []violation) {
	for _, p := range t.packages {
		if noJob[strings.TrimSuffix(p.name, "_test")] {
			found = append(found, violation{p.path, 0, fmt.Sprintf("no package is named %s", strings.Join(slices.Sorted(maps.Keys(noJob)), ", "))})
		}
	}
	return found
}
