package scaffold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"ralph/state/projectfs"
)

func tui(dir string) (p Foreign, pairs []pair, err error) {
	name, err := need(dir, "ralph-tui setup", ".ralph-tui/config.toml")
	if err != nil {
		return p, nil, err
	}
	project := projectfs.In(dir)
	text, err := project.Read(project.Path(name), maxSettings)
	if err != nil {
		return p, nil, err
	}
	var all map[string]any
	meta, err := toml.Decode(string(text), &all)
	if err != nil {
		return p, nil, fmt.Errorf("read %s: %s", name, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	pairs = flat(meta, all)
	pairs = slices.DeleteFunc(pairs, func(s pair) bool {
		return s.name == "parallel.maxWorkers" && slices.Contains(pairs, pair{"parallel.mode", "never"})
	})
	tracker, file := "json", ""
	for _, s := range pairs {
		switch s.name {
		case "tracker", "defaultTracker":
			tracker = s.value
		case "trackerOptions.path":
			file = strings.TrimPrefix(filepath.ToSlash(s.value), "./")
		}
	}
	switch {
	case strings.HasPrefix(tracker, "beads"):
		if _, err := os.Stat(filepath.Join(dir, ".beads")); err != nil {
			return p, nil, errors.New(".beads is missing; bd init writes it")
		}
		p.Plan = ".beads"
	case tracker != "json":
		return p, nil, fmt.Errorf("ralph cannot work on the plan of the tracker %q; write its tasks into a plan first",
			tracker)
	case file != "" && filepath.IsLocal(filepath.FromSlash(file)):
		p.Plan, err = need(dir, "ralph-tui convert", file)
	default:
		p.Plan, err = need(dir, "ralph-tui convert", "prd.json", "tasks/prd.json", ".ralph-tui/prd.json")
	}
	return p, pairs, err
}

// flat lists what a file sets, tables as a.b, lists with commas. Of several agents, the first.
func flat(meta toml.MetaData, all map[string]any) (pairs []pair) {
	seen := map[string]bool{}
	for _, key := range meta.Keys() {
		if name := key.String(); !seen[name] {
			seen[name] = true
			if value, ok := scalar(all, key); ok {
				pairs = append(pairs, pair{name, value})
			}
		}
	}
	return pairs
}

// scalar is the value of a key as text; false: a table, or in a later one of several.
func scalar(value any, key []string) (string, bool) {
	switch v := value.(type) {
	case map[string]any:
		if len(key) == 0 {
			return "", false
		}
		next, ok := v[key[0]]
		if !ok {
			return "", false
		}
		return scalar(next, key[1:])
	case []map[string]any:
		if len(v) == 0 || len(key) == 0 {
			return "", false
		}
		return scalar(v[0], key)
	case []any:
		var words []string
		for _, word := range v {
			words = append(words, fmt.Sprint(word))
		}
		return strings.Join(words, ","), len(key) == 0
	}
	return fmt.Sprint(value), len(key) == 0
}

func tuiRows() []foreignRow {
	agent := func(v string) (string, error) {
		for theirs, ours := range map[string]string{"cursor": "cursor-agent", "droid": "", "kiro": "", "kimi": "",
			"pi": "", "github-copilot": ""} {
			if v == theirs {
				if ours == "" {
					return "", fmt.Errorf("ralph has no agent of this name; describe it first: ralph agent add")
				}
				return ours, nil
			}
		}
		return v, nil
	}
	yes := func(value string) func(string) (string, error) { return when("true", value) }
	return []foreignRow{
		{Theirs: "configVersion", Note: "`ralph config` shows what is set"},
		{Theirs: "agent", Ours: "AGENT", value: agent},
		{Theirs: "defaultAgent", Ours: "AGENT", value: agent},
		{Theirs: "agents.plugin", Ours: "AGENT", Note: "the first of several", value: agent},
		{Theirs: "agents.command", Ours: "AGENT_CMD"},
		{Theirs: "agents.*", Note: "`ralph agent add` describes an agent"},
		{Theirs: "model", Ours: "MODEL"},
		{Theirs: "agentOptions.model", Ours: "MODEL"},
		{Theirs: "agentOptions.*", Note: "`ALLOWED_TOOLS` and `PERMISSION_MODE` say what the agent may do"},
		{Theirs: "command", Ours: "AGENT_CMD"},
		{Theirs: "agentCommand", Ours: "AGENT_CMD"},
		{Theirs: "tracker", Ours: "PLAN_FILE", Note: "the plan itself says what it is", value: when()},
		{Theirs: "defaultTracker", Ours: "PLAN_FILE", Note: "the plan itself says what it is", value: when()},
		{Theirs: "trackerOptions.path", Ours: "PLAN_FILE", Note: "relative to the project", value: when()},
		{Theirs: "trackerOptions.*", Note: "`--category`, `--tag` and `--task` choose tasks"},
		{Theirs: "trackers*", Note: "one plan for a run: `PLAN_FILE`"},
		{Theirs: "maxIterations", Ours: "MAX_ITERATIONS", value: number},
		{Theirs: "iterationDelay", Ours: "ITERATION_DELAY", value: milliseconds},
		{Theirs: "autoCommit", Ours: "AUTO_COMMIT", value: truth},
		{Theirs: "commitMessageTemplate", Note: "`COMMIT_PREFIX` begins a message"},
		{Theirs: "fallbackAgents", Ours: "FALLBACK_AGENTS"},
		{Theirs: "envExclude", Ours: "ENV_EXCLUDE"},
		{Theirs: "envPassthrough", Note: "`ENV_EXCLUDE` alone decides"},
		{Theirs: "parallel.mode", Note: "`PARALLEL` says how many tasks run side by side"},
		{Theirs: "parallel.maxWorkers", Ours: "PARALLEL", value: number},
		{Theirs: "parallel.*", Note: "`LAND` says where the work goes"},
		{Theirs: "conflictResolution.*", Note: "an agent resolves conflicts in the task's own worktree"},
		{Theirs: "sandbox.enabled", Ours: "SANDBOX", value: yes("auto")},
		{Theirs: "sandbox.mode", Note: "`SANDBOX` has the same names, and more"},
		{Theirs: "sandbox.network", Ours: "SANDBOX_NET", value: when("false", "none")},
		{Theirs: "sandbox.*", Note: "the project is writable, your logins are hidden: `SANDBOX`"},
		{Theirs: "notifications.enabled", Ours: "ENABLE_NOTIFICATIONS", value: truth},
		{Theirs: "notifications.*", Note: "no sounds"},
		{Theirs: "errorHandling.*", Note: "`MAX_RETRIES` and the circuit breaker"},
		{Theirs: "rateLimitHandling.*", Note: "`ON_LIMIT` and `FALLBACK_AGENTS`"},
		{Theirs: "preflightTimeoutMs", Note: "`ralph doctor` makes no call"},
		{Theirs: "prompt_template", Note: "its fields are not those of ralph; put your rules into .ralph/PROMPT.md"},
		{Theirs: "progressFile", Note: "notes are in .ralph/progress.txt"},
		{Theirs: "outputDir", Note: "logs are in .ralph/logs"},
		{Theirs: "skills_dir", Note: "agents find their own skills"},
		{Theirs: "subagentTracingDetail", Note: "the screen shows who called"},
	}
}
