package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// floors are the packages that the programs are made of. A package imports
// lower floors only, its tests too.
var floors = map[string]int{
	"logs/termtext": -1, // what may be printed on a terminal; below the others, so that all may use it

	"state":                 0, // the files in .ralph/: what the two processes share
	"logs":                  0, // log set-up, rotated files, tail
	"ptyexec":               0, // one child process, and nothing of it left
	"tmux":                  0, // typed calls of the tmux CLI
	"runner/gate/report":    0, // what test programs print: text in, values out
	"runner/audit/lang":     0, // how tests look in each language: text in, values out
	"runner/audit/plan":     0, // ticks that were not earned, tasks that ask for less: plans in, findings out
	"runner/audit/settings": 0, // what judges the work became easier to pass: text in, values out
	"runner/git/foreign":    0, // folders that the project did not write: paths in, folders out
	"runner/gate/workspace": 0, // where the packages of a monorepo are: files in, folders out

	"runner/agent/recording":   0, // recorded calls of agent CLIs: text in, values out
	"runner/agent/wire":        0, // JSON as agents print it: bytes in, lines, values and short texts out
	"runner/agent/argv":        0, // argument lists and permission entries: values in, words out
	"runner/agent/environ":     0, // which variables pass: names in, names out
	"runner/agent/ending":      0, // classes of endings, and the error texts that show them: text in, values out
	"runner/agent/statusblock": 0, // what an agent says about its own work: text in, values out

	"runner/agent":   1, // the table of agents, and what they print
	"runner/gate":    1, // checks, hooks, judges
	"runner/task":    1, // plans
	"runner/prompt":  1, // prompt text
	"runner/sandbox": 1, // contained commands
	"runner/git":     1, // what an iteration changed
	"runner/audit":   1, // whether the change was an honest one

	"runner/rules":        2, // facts in, decision out: the ordered table
	"runner/agent/custom": 2, // agents of the user: rows of the settings file, checked and completed
	"runner/git/history":  2, // ways back through the states that git keeps
	"monitor":             2, // the screen

	"runner": 3, // the loop

	"config":                3, // the table of options
	"cmd/internal/demo":     3, // the demo's project and its scripted agent
	"cmd/internal/scaffold": 3, // what `ralph init` writes
	"cmd/internal/drill":    3, // recordings, played through agent and rules
	"cmd/internal/service":  3, // files for systemd and launchd: values in, text out

	"cmd/internal/cli": 4, // the verbs: wires all of the above

	"cmd/ralph":         5, // three mains of a few lines
	"cmd/ralph-status":  5,
	"cmd/ralph-monitor": 5,
}

// tools stand beside the house: only tests, and the tools named here, import
// them. Each with what it may import of the module itself; nil is nothing.
var tools = map[string][]string{
	"internal/archtest":      nil,
	"internal/testgate":      nil,
	"internal/mockllm":       nil, // a stand-in that shared ralph's code would share its mistakes
	"internal/mockllm/serve": {"internal/mockllm"},
	"internal/world":         nil,                                           // a private place for the real programs, and for git
	"internal/e2e":           {"internal/mockllm", "internal/world"},        // sees ralph as users do: a program and its files
	"internal/faults":        {"internal/world", "state"},                   // breaks the built program and reads what is left
	"internal/tmuxe2e":       {"config", "internal/world", "state", "tmux"}, // sees ralph --monitor as users do
	"internal/picture":       nil,                                           // screen in, picture out
	"internal/unitfile":      nil,                                           // reads a unit as systemd does
	"internal/bench":         {"*"},                                         // measures any of them
}

// doors are imports that one package alone has, its tests included.
var doors = []struct{ what, by, why string }{
	{"ralph/tmux", "cmd/internal/cli", "the loop and the screen do not know that there is a tmux"},
	{"github.com/mattn/go-isatty", "cmd/internal/cli", "whether there is a terminal is decided once, then passed down"},
	{"net/http", "internal/mockllm", "ralph calls no server, the agents do"},
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

func checkFloors(t *tree) (found []violation) {
	for _, p := range t.packages {
		_, onFloor := floors[p.path]
		_, isTool := tools[p.path]
		if !onFloor && !isTool {
			found = append(found, violation{p.path, 0, "package has no floor; give it a row in internal/archtest"})
		}
	}
	t.imports(func(p *pkg, f *file, spec *ast.ImportSpec, path string) {
		own, ok := floors[p.path]
		other, known := floors[inModule(path)]
		if ok && known && other >= own && inModule(path) != p.path {
			found = append(found, t.at(f, spec.Pos(), "%s (floor %d) imports %s (floor %d)", p.path, own, inModule(path), other))
		}
	})
	return found
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

func checkDoors(t *tree) (found []violation) {
	t.imports(func(p *pkg, f *file, spec *ast.ImportSpec, path string) {
		for _, d := range doors {
			same := path == d.what || strings.HasPrefix(path, d.what+"/")
			if same && p.path != d.by && module+"/"+p.path != d.what {
				found = append(found, t.at(f, spec.Pos(), "%s imports %s, which only %s may: %s", p.path, path, d.by, d.why))
			}
		}
	})
	return found
}

func checkMonitor(t *tree) (found []violation) {
	t.imports(func(p *pkg, f *file, spec *ast.ImportSpec, path string) {
		target := inModule(path)
		if p.path == "monitor" && target != "" && !slices.Contains([]string{"state", "logs", "logs/termtext", "monitor"}, target) {
			found = append(found, t.at(f, spec.Pos(), "monitor imports %s; of the module it may import state, logs and logs/termtext", target))
		}
	})
	return found
}

func checkNoServer(t *tree) (found []violation) {
	for _, p := range t.packages {
		if strings.HasPrefix(p.path, "cmd/") && p.name == "main" && slices.Contains(p.deps, "net/http") {
			found = append(found, violation{p.path, 0, "net/http is linked in; see: go list -deps ./" + p.path})
		}
	}
	return found
}

// noJob are names of packages that become piles.
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
