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
	"logs/termtext":            0,  // what may be printed on a terminal; lowest, so that all may use it
	"logs/secretname":          0,  // which variables hold secrets: names and values in, yes or no out
	"config/option":            0,  // what an option is; its owners declare their own
	"ptyexec":                  0,  // one child process, and nothing of it left
	"tmux":                     0,  // typed calls of the tmux CLI
	"runner/audit/stub":        0,  // functions that are not written yet: text in, names out
	"runner/audit/aware":       0,  // code that asks whether a test runs: text in, lines out
	"runner/audit/asks":        0,  // what a task asks for: text in, yes or no out
	"runner/audit/signature":   0,  // what code defines, and takes other parameters now: text in, names out
	"runner/audit/hollow":      0,  // tests that cannot fail: text in, reasons out
	"runner/audit/commands":    0,  // lines that run checks, and how a script fails: text in, yes or no out
	"runner/audit/prose":       0,  // comments told from code: text in, yes or no out
	"runner/audit/parts":       0,  // the part of settings that judges work: text in, text out
	"runner/audit/failure":     0,  // what a failed check says: text in, answers out
	"runner/audit/hunks":       1,  // parts of tests that ask for less: text in, text out
	"runner/audit/mutate":      0,  // small changes to code: text in, text out
	"runner/audit/recite":      1,  // code that lists the inputs of its tests: text in, lines out
	"runner/audit/settings":    1,  // the files that decide how work is judged: path in, row out
	"runner/audit/names":       0,  // the names of code in prose: text in, names out
	"runner/gate/workspace":    0,  // where the packages of a monorepo are: files in, folders out
	"runner/git/own":           1,  // whose uncommitted changes are: files before and now in, the user's out
	"runner/git/walk":          0,  // files of a folder, without those of others
	"runner/git/foreign":       0,  // folders that the project did not write: paths in, folders out
	"runner/agent/recording":   0,  // recorded calls of agent CLIs: text in, values out
	"runner/agent/argv":        0,  // argument lists and permission entries: values in, words out
	"runner/agent/ending":      0,  // classes of endings, and the error texts that show them: text in, values out
	"runner/agent/statusblock": 1,  // what an agent says about its own work: text in, values out
	"ptyexec/confine":          -1, // what a process may touch: limits in, put on this process
	"ptyexec/cover":            -1, // what must not come into being while a process runs: paths in, made until it ends

	"runner/agent/ending/zoneinfo": -1, // the time zones of the world: names in, zones out

	"state":                     0, // the files in .ralph/: what the two processes share
	"logs":                      1, // log files, and the table of secrets
	"runner/task":               0, // the model of a plan
	"runner/task/markdown":      0, // the parts of Markdown that plans are made of: text in, values out
	"runner/audit/wording":      0, // two versions of a text of the plan: texts in, answers out
	"runner/task/disk":          0, // files of a plan: whole, as they were at one moment
	"runner/task/rewrite":       0, // files of a plan: under the lock, each at once, over nothing that is new
	"runner/task/boxes":         1, // plans that are lists of boxes: bytes in, tasks and places out
	"runner/task/beads":         1, // the issues of Beads, through its program bd
	"runner/task/records":       1, // plans that are JSON: bytes in, tasks and places out
	"runner/task/stories":       1, // plans that are files of stories: bytes in, tasks and places out
	"runner/task/only":          1, // which tasks a run is about: options
	"runner/task/store":         2, // the table of plan formats: finds, reads and changes plans
	"runner/task/journal":       3, // what people changed in a plan: changes in, plans before and after out
	"runner/gate/instrument":    1, // commands of checks, changed so that each test is reported
	"runner/gate/report":        1, // what test programs print: text in, values out
	"runner/sandbox":            1, // contained commands: a command in, a command out
	"runner/sandbox/allow":      0, // which hosts a sandbox may connect to: names in, yes or no out
	"runner/sandbox/containers": 0, // the names of ralph's containers, and the removal of those that are left
	"runner/sandbox/remedy":     0, // what helps when a program that contains others cannot work
	"runner/sandbox/inside":     3, // where a contained program is among the processes of this machine
	"runner/sandbox/proxy":      2, // the process that lets a sandbox connect to them
	"runner/agent/stuck":        1, // whether an agent goes in circles: what it reported in, a reason out
	"runner/agent/wire":         1, // JSON as agents print it: bytes in, lines, values and short texts out
	"runner/agent/environ":      1, // which variables pass: names in, names out

	"state/numbered":            1,  // records in a folder, one numbered file each
	"state/people":              1,  // what people wrote into the state: files in, their latest versions out
	"state/note":                2,  // what people want the next prompt to say: one file for each note
	"state/question":            2,  // what agents ask people: one file for each question
	"runner/questions":          6,  // a run's view of what its agents ask: results in, waits and answers out
	"runner/rules/thresholds":   1,  // when a run that gets nowhere ends: options
	"runner/agent/meter":        1,  // what the records of a call say that it used: values in, a sum out
	"cmd/internal/cli/touchcmd": 10, // the verbs by which a run and a person stay in touch
	"state/view":                2,  // the model of a run: state files and events in, plain data and sentences out
	"runner/agent":              2,  // the table of agents, and what they print
	"runner/audit":              2,  // changes that weaken the proof: files and plans in, findings out
	"runner/gate":               2,  // checks
	"runner/git":                2,  // what a turn changed
	"runner/prompt":             2,  // prompt text
	"runner/turn/rawlog":        2,  // what an agent prints, kept without secrets

	"runner/turn/intact":  3, // what a contained call may not change: files before and after in, those that count on disk
	"runner/turn/said":    2, // what an agent says about its work, beside what it did: values in, texts out
	"runner/turn/steer":   2, // the user's files that steer a run: restored when lost, compared when changed
	"runner/gate/applies": 1, // what a check needs to apply: files in, a reason out

	"runner/gate/store": 0, // values in JSON files

	"runner/gate/fresh": 0, // which tests failed, and are new: results and texts in, tests out

	"runner/turn/edits":    2, // who changed a file during a call: what the agent reported and its processes in, a person's edits out
	"runner/checkstate":    3, // the checks of a project, and what is known about them, from run to run
	"runner/turn/delta":    3, // whether a change is the same as another: files before and after in, a short text out
	"runner/turn/activity": 2, // whether a silent agent works: what it reported and its files in, time out
	"runner/git/command":   1, // one git process, in one repository, without foreign programs

	"runner/turn":          4, // one assignment, start to end
	"runner/hooks":         3, // the user's programs at points of a run: facts in, a verdict out
	"runner/agenthooks":    3, // ralph's part in the hooks of an agent CLI: what it says in, an answer out
	"runner/agent/custom":  3, // agents of the user: rows of the settings file, checked and completed
	"runner/git/history":   3, // ways back through the states that git keeps
	"state/view/follow":    3, // the model of a run as it changes
	"state/view/scan":      1, // long files of events: what is wanted of them, fast
	"state/view/summary":   3, // the model of a run in few words
	"runner/turn/stop":     2, // how people end a turn
	"monitor/canvas":       4, // text on a part of the screen
	"monitor/keys":         5, // what keys do, as people see it, and what they type
	"monitor/page":         6, // what pages have in common: keys in, what they ask of the screen out
	"monitor/transcript":   7, // the page of what an agent said and did: events and keys in, cells out
	"monitor/filter":       6, // a part of the log: what is typed in, which events out
	"monitor/models":       7, // the page of agents and models: names and keys in, cells and a verb out
	"monitor/answers":      7, // the page of questions: questions and keys in, cells and verbs out
	"monitor/iterations":   5, // the list of iterations: the model of a run in, cells out
	"monitor/changes":      7, // the page of changes: a patch and keys in, cells and verbs out
	"monitor/palette":      7, // the command palette: names and keys in, cells and a choice out
	"monitor/timeline":     5, // the page of a run over time: the model of a run in, cells out
	"monitor/tasks":        7, // the page of tasks: tasks and keys in, cells and verbs out
	"state/view/forecast":  0, // what open tasks may still take: figures of earlier tasks in, figures out
	"state/view/patchline": 2, // lines of a patch for a page: text in, inert text out
	"state/view/machines":  2, // where turns side by side were carried out, and what the merge queue did: events in, rows out
	"state/view/report":    3, // what a run came to, on one page: events and patches in, text and HTML out
	"runner/turn/redact":   2, // events without keys and tokens
	"runner/turn/steps":    3, // what a check does, as events: values in, values out
	"runner/audit/values":  0, // settings that were lowered: lines in, lines out
	"runner/git/restore":   2, // how a person brings files back from a kept state
	"runner/git/hidden":    2, // tracked files that git does not show
	"runner/git/replica":   2, // a kept state in a folder of its own

	"runner/rules":             5, // facts in, decision out: two ordered tables
	"runner/turn/retest/paths": 4, // what changed files are to the tests
	"runner/turn/retest":       5, // whether checks are green because of their tests
	"runner/turn/serve":        5, // a turn for another process: the protocol
	"runner/pool":              4, // who may work, and who is limited
	"runner/writes":            0, // writes to disk beside other work
	"runner/planbook":          4, // a run's view of the plan: reads it, and marks tasks in it
	"runner/taskrecords":       5, // what a run knows about tasks besides what the plan says
	"runner/session":           5, // the agent's own session, from call to call: values in, values out
	"runner/memory":            2, // what earlier turns learned: texts in, lessons out
	"runner/lessons":           5, // the files of what was learned, and what a run does with it
	"runner/inbox":             4, // what people ask of a run while it works

	"runner/beside":        1, // which task may start beside others: plan and busy tasks in, a task out
	"runner/slots":         3, // git worktrees for turns: prepared, and their work kept
	"runner/merge":         5, // the merge queue: finished work in, landed or sent back
	"runner/crew":          6, // the turns under way side by side
	"runner/carrier":       0, // the table of ways to a turn: what a user writes in, command lines out
	"runner/turn/amend":    5, // what comes of a turn after it: a result and an answer in, another result out
	"runner/turn/remote":   5, // a turn in another process, on any machine: the protocol, and the side of the run
	"runner/turn/away":     6, // the worker's side of it: a project and its worktrees for runs elsewhere
	"runner/crew/best":     0, // which candidate at a task goes on: facts in, an index out
	"runner/output":        5, // what a run shows: status, events, log, screen
	"runner/rules/hours":   1, // between which times of day a run works: a time in, times out
	"runner/rules/pace":    2, // whether a call fits under the line of a usage window: reports in, times out
	"runner/rules/bounds":  6, // the bounds that end a run, and how far each is used
	"runner/openitems":     6, // what a person has to look at
	"runner/roles":         2, // who a run asks besides the developer, what, and how the answer is read: values in, values out
	"runner/roles/aios":    2, // the conventions of AIOS between developer and reviewer: values and texts in, texts out
	"runner/reviewers":     6, // a phase of review: asks the reviewers, in a copy of the project
	"runner/rules/proof":   3, // what the checks of a finished plan have shown: a report in, words out
	"runner/rules/reviews": 6, // what follows from verdicts: facts in, a decision out
	"runner/notes":         6, // what the next prompt says about the past
	"runner/hookfacts":     6, // what the points of a run are to hooks, and hooks to the run: values in, values out

	"runner":                 7, // the run
	"config":                 7, // finds, reads and overlays options
	"monitor":                8, // the screen
	"monitor/top":            4, // the active runs of all projects: state files in, rows, a table and a screen out
	"cmd/internal/demo":      6, // the demo's project and its scripted agent
	"cmd/internal/modellist": 6, // models that a program lists: text in, names out, and where they are kept
	"cmd/internal/migrate":   6, // projects of other tools: files in, settings out
	"cmd/internal/importer":  6, // plans out of other texts: bytes in, tasks and text out
	"cmd/internal/analysis":  6, // what an agent says about a project: texts in, values out, and where they are kept
	"cmd/internal/scaffold":  6, // what `ralph init` writes
	"cmd/internal/drill":     6, // recordings, played through agent and rules
	"cmd/internal/service":   6, // files for systemd and launchd: values in, text out
	"cmd/internal/wsl":       6, // what is different on Windows

	"cmd/internal/runplan": 8, // the plan of a run, kept and found again
	"cmd/internal/cmdline": 8, // what all verbs share: streams, project, flags, error -> exit code

	"cmd/internal/console":   10, // what a run prints
	"cmd/internal/runreport": 9,  // the report of a run: events, its record and git in, a report out
	"cmd/internal/preflight": 9,  // what a run needs, found and tried before it starts
	"cmd/internal/resume":    9,  // how a run was started, and whether it may continue
	"cmd/internal/split":     9,  // runner and monitor side by side in tmux

	"cmd/internal/cli/agentcmd":   10, // the verbs of agents
	"cmd/internal/cli/historycmd": 10, // the verbs that look at past iterations
	"cmd/internal/cli/lookcmd":    10, // the verbs that show runs while they are alive
	"cmd/internal/cli/learncmd":   10, // the verbs of what turns learned
	"cmd/internal/cli/hookcmd":    10, // the verbs of hooks
	"cmd/internal/cli/servicecmd": 10, // the verbs of the service manager
	"cmd/internal/cli/taskcmd":    10, // the verbs of the plan
	"cmd/internal/cli/setupcmd":   10, // the verbs that set a project up
	"cmd/internal/cli/initcmd":    10, // init
	"cmd/internal/cli/turncmd":    10, // turn: for runs, not for people
	"cmd/internal/cli/versioncmd": 9,  // version

	"cmd/internal/hub/proxy":       2, // an HTTP proxy that connects to allowed hosts only
	"cmd/internal/hub/bridge":      0, // a program in a sandbox, and its way to the proxy
	"config/huboptions":            1, // what a user can say about being in touch: options
	"config/projects":              0, // the projects in which a user has started runs: files in, folders out
	"cmd/internal/hub/door":        0, // who may see the dashboard, and who may act: requests in, yes or no out
	"cmd/internal/hub/mcp":         2, // the run of a project for another agent: calls of tools in, verbs of ralph out
	"cmd/internal/hub/acp":         3, // one call of an agent that speaks ACP: a prompt in, lines of JSON out
	"cmd/internal/hub/records":     4, // the reports of runs that have ended, each read once
	"cmd/internal/hub/traces":      3, // runs as OpenTelemetry sees them: state files and events in, spans out
	"cmd/internal/hub/metrics":     3, // what Prometheus reads: state files in, text out
	"cmd/internal/hub/board":       5, // the dashboard: state files and events in, pages out
	"cmd/internal/hub/outbox":      0, // what has to be sent, on disk
	"cmd/internal/hub/webhook":     0, // a signed POST
	"cmd/internal/hub/replies":     2, // what people send back
	"cmd/internal/hub/notify":      3, // what is worth a message, its words, and the ways to send it
	"cmd/internal/hub/watch":       4, // follows one run, and sends what its user wants to hear of
	"cmd/internal/hub/fleet/label": 1, // what a worker has and a task needs
	"cmd/internal/hub/fleet/link":  1, // one end of a session over a way that may lose messages
	"cmd/internal/hub/fleet":       2, // turns over NATS: lines of a run in, lines of a worker out
	"cmd/internal/hub":             6, // the verbs of ralph-hub: all that uses a network

	"cmd/internal/cli": 11, // the other verbs: joins them all

	"cmd/internal/shipped": 12, // writes man pages and completions

	"cmd/ralph":     12, // two mains of a few lines
	"cmd/ralph-hub": 12,
}

// tools are not part of the programs: only tests and other tools import them. Each row
// lists what the tool may import from the module; nil: nothing.
var tools = map[string][]string{
	"internal/archtest":      nil,
	"internal/testgate":      nil,
	"internal/fakebd":        nil, // a stand-in for the program of Beads
	"internal/mockllm":       nil, // a stand-in that shared ralph's code would share its mistakes
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
	{in: "monitor", what: module, but: []string{"state", "state/note", "state/question", "state/view", "state/view/follow", "state/view/scan", "state/view/summary", "logs", "logs/termtext", "internal/sample", "monitor/answers", "monitor/canvas", "monitor/keys", "monitor/page", "monitor/filter", "monitor/transcript", "monitor/tasks", "monitor/models", "monitor/iterations", "monitor/changes", "monitor/palette", "monitor/timeline"},
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
