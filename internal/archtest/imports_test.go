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
// lower floors only, its tests too. The first sentence of its comment says its job.
var floors = map[string]int{
	"logs/termtext":            0,
	"logs/secretname":          0,
	"config/option":            0,
	"ptyexec":                  0,
	"tmux":                     0,
	"runner/audit/stub":        0,
	"runner/audit/aware":       0,
	"runner/audit/asks":        0,
	"runner/audit/signature":   0,
	"runner/audit/hollow":      0,
	"runner/audit/commands":    0,
	"runner/audit/prose":       0,
	"runner/audit/parts":       0,
	"runner/audit/failure":     0,
	"runner/audit/hunks":       1,
	"runner/audit/mutate":      0,
	"runner/audit/recite":      1,
	"runner/audit/settings":    1,
	"runner/audit/names":       0,
	"runner/gate/workspace":    0,
	"runner/git/own":           1,
	"runner/git/walk":          0,
	"runner/git/foreign":       0,
	"runner/agent/recording":   0,
	"runner/agent/argv":        0,
	"runner/agent/ending":      0,
	"runner/agent/statusblock": 1,
	"ptyexec/confine":          -1,
	"ptyexec/cover":            -1,

	"runner/agent/ending/zoneinfo": -1,

	"state":                     0,
	"logs":                      1,
	"runner/task":               0,
	"runner/task/markdown":      0,
	"runner/audit/wording":      0,
	"runner/task/disk":          0,
	"runner/task/rewrite":       0,
	"runner/task/boxes":         1,
	"runner/task/beads":         1,
	"runner/task/records":       1,
	"runner/task/stories":       1,
	"runner/task/only":          1,
	"runner/task/store":         2,
	"runner/task/journal":       3,
	"runner/gate/instrument":    1,
	"runner/gate/report":        1,
	"runner/sandbox":            1,
	"runner/sandbox/allow":      0,
	"runner/sandbox/containers": 0,
	"runner/sandbox/remedy":     0,
	"runner/sandbox/inside":     3,
	"runner/sandbox/proxy":      2,
	"runner/agent/stuck":        1,
	"runner/agent/wire":         1,
	"runner/agent/environ":      1,

	"state/numbered":            1,
	"state/act":                 1,
	"state/people":              1,
	"state/note":                2,
	"state/question":            2,
	"runner/questions":          6,
	"runner/rules/thresholds":   1,
	"runner/agent/meter":        1,
	"cmd/internal/cli/touchcmd": 10,
	"state/view":                2,
	"runner/agent":              2,
	"runner/audit":              2,
	"runner/gate":               2,
	"runner/git":                2,
	"runner/prompt":             2,
	"runner/turn/rawlog":        2,

	"runner/turn/intact":  3,
	"runner/turn/said":    2,
	"runner/turn/steer":   3,
	"runner/gate/applies": 1,

	"runner/gate/store": 0,

	"runner/gate/fresh": 0,

	"runner/turn/edits":    2,
	"runner/checkstate":    3,
	"runner/turn/delta":    3,
	"runner/turn/activity": 2,
	"runner/git/changed":   0,
	"runner/git/command":   1,

	"runner/turn":          4,
	"runner/hooks":         3,
	"runner/agenthooks":    3,
	"runner/agent/custom":  3,
	"runner/git/history":   3,
	"state/view/follow":    3,
	"state/view/scan":      1,
	"state/view/summary":   3,
	"runner/turn/stop":     2,
	"monitor/canvas":       4,
	"monitor/keys":         5,
	"monitor/page":         6,
	"monitor/transcript":   7,
	"monitor/filter":       6,
	"monitor/models":       7,
	"monitor/answers":      7,
	"monitor/iterations":   5,
	"monitor/changes":      7,
	"monitor/palette":      7,
	"monitor/timeline":     5,
	"monitor/tasks":        7,
	"state/view/forecast":  0,
	"state/view/patchline": 2,
	"state/view/machines":  2,
	"state/view/report":    3,
	"runner/turn/redact":   2,
	"runner/turn/steps":    3,
	"runner/audit/values":  0,
	"runner/git/restore":   2,
	"runner/git/hidden":    2,
	"runner/git/replica":   2,

	"runner/rules":             5,
	"runner/turn/retest/paths": 4,
	"runner/turn/retest":       5,
	"runner/turn/serve":        5,
	"runner/pool":              4,
	"runner/writes":            0,
	"runner/planbook":          4,
	"runner/taskrecords":       5,
	"runner/session":           5,
	"runner/memory":            2,
	"runner/lessons":           5,
	"runner/inbox":             4,

	"runner/beside":        1,
	"runner/slots":         3,
	"runner/merge":         5,
	"runner/crew":          6,
	"runner/carrier":       1,
	"runner/turn/amend":    5,
	"runner/turn/remote":   5,
	"runner/turn/away":     6,
	"runner/crew/best":     0,
	"runner/crew/fleet":    2,
	"runner/output":        5,
	"runner/rules/hours":   1,
	"runner/rules/pace":    2,
	"runner/rules/bounds":  6,
	"runner/rules/fixed":   6,
	"runner/openitems":     6,
	"runner/roles":         2,
	"runner/roles/aios":    2,
	"runner/reviewers":     6,
	"runner/rules/advice":  3, // what can be done about the end of a call: an outcome in, words out
	"runner/rules/proof":   3,
	"runner/rules/reviews": 6,
	"runner/notes":         6,
	"runner/hookfacts":     6,

	"runner":                 7,
	"config":                 7,
	"monitor":                8,
	"monitor/top":            4,
	"cmd/internal/demo":      6,
	"cmd/internal/modellist": 6,
	"cmd/internal/migrate":   6,
	"cmd/internal/importer":  6,
	"cmd/internal/analysis":  6,
	"cmd/internal/scaffold":  6,
	"cmd/internal/drill":     6,
	"cmd/internal/service":   6,
	"cmd/internal/wsl":       6,

	"cmd/internal/runplan": 8,
	"cmd/internal/cmdline": 8,

	"cmd/internal/console":   10,
	"cmd/internal/runreport": 9,
	"cmd/internal/preflight": 9,
	"cmd/internal/resume":    9,
	"cmd/internal/split":     9,

	"cmd/internal/cli/agentcmd":   10,
	"cmd/internal/cli/historycmd": 10,
	"cmd/internal/cli/lookcmd":    10,
	"cmd/internal/cli/learncmd":   10,
	"cmd/internal/cli/hookcmd":    10,
	"cmd/internal/cli/servicecmd": 10,
	"cmd/internal/cli/taskcmd":    10,
	"cmd/internal/cli/setupcmd":   10,
	"cmd/internal/cli/initcmd":    10,
	"cmd/internal/cli/turncmd":    10,
	"cmd/internal/cli/versioncmd": 9,

	"cmd/internal/hub/proxy":       2,
	"cmd/internal/hub/bridge":      0,
	"config/huboptions":            1,
	"config/projects":              0,
	"cmd/internal/hub/door":        0,
	"cmd/internal/hub/mcp":         2,
	"cmd/internal/hub/acp":         3,
	"cmd/internal/hub/records":     4,
	"cmd/internal/hub/traces":      3,
	"cmd/internal/hub/metrics":     3,
	"cmd/internal/hub/board":       5,
	"cmd/internal/hub/outbox":      0,
	"cmd/internal/hub/webhook":     0,
	"cmd/internal/hub/replies":     2,
	"cmd/internal/hub/notify":      3,
	"cmd/internal/hub/watch":       4,
	"cmd/internal/hub/fleet/label": 1,
	"cmd/internal/hub/fleet/link":  1,
	"cmd/internal/hub/fleet":       2,
	"cmd/internal/hub":             6,

	"cmd/internal/complete": 0,

	"cmd/internal/cli": 11,

	"cmd/internal/shipped": 12,

	"cmd/ralph":     12,
	"cmd/ralph-hub": 12,
}

// tools are not part of the programs: only tests and other tools import them. Each row
// lists what the tool may import from the module; nil: nothing.
var tools = map[string][]string{
	"internal/archtest":      nil,
	"internal/testgate":      {"internal/world"}, // builds the programs that the tests share
	"internal/fakebd":        nil,                // a stand-in for the program of Beads
	"internal/mockllm":       nil,                // a stand-in that shared ralph's code would share its mistakes
	"internal/mockllm/serve": {"internal/mockllm"},
	"internal/world":         nil,                                                                                                                // a private place for the real programs, and for git
	"internal/e2e":           {"internal/mockllm", "internal/world"},                                                                             // sees ralph as users do: a program and its files
	"internal/e2e/browser":   {"internal/sample", "internal/world", "state", "state/question"},                                                   // the dashboard in a real browser
	"internal/faults":        {"internal/world", "state"},                                                                                        // breaks the built program and reads what is left
	"internal/tmuxe2e":       {"config", "config/option", "internal/world", "state", "tmux"},                                                     // sees ralph --monitor as users do
	"internal/sample":        {"state", "state/view"},                                                                                            // runs in every state, for tests of what people see
	"internal/scripted":      {"runner/agent", "runner/agent/argv", "runner/gate", "runner/prompt", "runner/task/store", "runner/turn", "state"}, // a scripted agent
	"internal/release":       {"internal/world"},                                                                                                 // packages, as their users get them
	"internal/sbom":          nil,                                                                                                                // a program in, the list of its modules out
	"internal/picture":       nil,                                                                                                                // screen in, picture out
	"internal/bench":         {"*"},                                                                                                              // measures any of them
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
	{in: "...", what: module + "/tmux", by: "cmd/internal/split",
		why: "the loop and the screen do not know that there is a tmux"},
	{in: "...", what: "github.com/mattn/go-isatty", by: "cmd/internal/cmdline",
		why: "whether there is a terminal is decided once, then passed down"},
	{in: "cmd/ralph", what: "net/http", linked: true, why: offline},
	{in: "...", what: "github.com/nats-io", by: "cmd/internal/hub/fleet", why: offline},
	{in: "...", what: "text/template", why: byName}, {in: "...", what: "html/template", by: "cmd/internal/hub/board", why: byName},
	{in: "monitor", what: module, but: []string{"state", "state/act", "state/note", "state/question", "state/view", "state/view/follow", "state/view/scan", "state/view/summary", "logs", "logs/termtext", "internal/sample", "monitor/answers", "monitor/canvas", "monitor/keys", "monitor/page", "monitor/filter", "monitor/transcript", "monitor/tasks", "monitor/models", "monitor/iterations", "monitor/changes", "monitor/palette", "monitor/timeline"},
		why: "runner and monitor meet only in files"},
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
