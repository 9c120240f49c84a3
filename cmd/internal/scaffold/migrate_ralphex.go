package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/state/projectfs"
)

// iniLine is a setting of ralphex; a # behind a value belongs to the value.
var iniLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*([a-z][a-z0-9_]*)[ \t]*=(.*)$`)
})

// openBox is a task that is left in a plan.
var openBox = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*[-*] \[ \] `) })

func ralphex(dir string) (p Foreign, pairs []pair, err error) {
	plans := "docs/plans"
	if _, err := os.Stat(filepath.Join(dir, ".ralphex")); err != nil {
		return p, nil, errors.New(".ralphex is missing; ralphex --init writes it")
	}
	if first(dir, ".ralphex/config") != "" { // without it, its defaults hold
		if pairs, err = lines(filepath.Join(dir, ".ralphex/config"), iniLine()); err != nil {
			return p, nil, err
		}
	}
	for _, s := range pairs {
		if s.name == "plans_dir" && s.value != "" {
			plans = path.Clean(filepath.ToSlash(s.value))
		}
	}
	if filepath.IsAbs(plans) || strings.HasPrefix(plans, "..") {
		return p, nil, fmt.Errorf("plans_dir %q is outside of the project", plans)
	}
	folder := filepath.Join(dir, filepath.FromSlash(plans))
	found, err := fs.Glob(os.DirFS(folder), "*.md")
	if err != nil {
		return p, nil, err
	}
	for _, file := range found { // sorted
		text, err := projectfs.In(dir).Read(filepath.Join(folder, file), maxSettings)
		if err != nil {
			return p, nil, err
		}
		name := plans + "/" + file
		switch {
		case !openBox().Match(text):
		case p.Plan == "":
			p.Plan = name
		default:
			p.Left = append(p.Left, foreignLeft{name, "the plan after this one: ralph --plan " + name})
		}
	}
	if p.Plan == "" {
		return p, nil, fmt.Errorf("no plan in %s has an open box", plans)
	}
	if migrateSays(filepath.Join(dir, ".ralphex/prompts/task.txt")) {
		p.Left = append(p.Left, foreignLeft{".ralphex/prompts/task.txt", "it speaks of ralphex's signals; " +
			"put your own rules into .ralph/PROMPT.md"})
	}
	agents, _ := fs.Glob(os.DirFS(dir), ".ralphex/agents/*.txt")
	if slices.ContainsFunc(agents, func(file string) bool { return migrateSays(filepath.Join(dir, file)) }) {
		p.Left = append(p.Left, foreignLeft{".ralphex/agents", "reviewers are judges here: JUDGES, docs/review.md"})
	}
	return p, append(pairs, pair{"executor", "claude"}), nil // if no line says otherwise
}

// migrateSays reports whether a file has more than the comments that ralphex --init writes.
func migrateSays(path string) bool {
	text, _ := projectfs.Above(path).Read(path, maxSettings)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return true
		}
	}
	return false
}

func ralphexRows() []foreignRow {
	const patterns = "ralph knows the errors and limits of each agent"
	return []foreignRow{
		{Theirs: "claude_command", Ours: "AGENT_CMD", value: unless("claude")},
		{Theirs: "claude_args", Note: "`ALLOWED_TOOLS` says what the agent may do; all of it with `PERMISSION_MODE`"},
		{Theirs: "executor", Ours: "AGENT", value: oneOf("claude", "codex")},
		{Theirs: "task_model", Ours: "MODEL", Note: "without the effort", value: model},
		{Theirs: "plan_model", Note: "`ralph import` makes no call"},
		{Theirs: "review_model", Note: "a judge may name a model: `JUDGES`"},
		{Theirs: "codex_enabled", Ours: "QA", Note: "QA reviews each task",
			value: when("true", "true", "false", "false")},
		{Theirs: "codex_*", Note: "agents keep their own settings; `--agent` names one"},
		{Theirs: "pass_claude_md", Note: "agents read their own files"},
		{Theirs: "external_review_tool", Ours: "QA",
			Note:  "QA reviews each task, by another vendor's agent if one is there",
			value: when("codex", "true", "none", "false")},
		{Theirs: "custom_review_script", Note: "a judge or a hook: `JUDGES`, `HOOK_POST_TASK`"},
		{Theirs: "finalize_enabled", Note: "a hook: `HOOK_ON_COMPLETE`"},
		{Theirs: "preserve_anthropic_api_key", Note: "agents get it; `ENV_EXCLUDE` withholds it"},
		{Theirs: "move_plan_on_completion", Note: "plans stay where they are"},
		{Theirs: "use_worktree", Ours: "ISOLATE", value: when("true", "worktree")},
		{Theirs: "iteration_delay_ms", Ours: "ITERATION_DELAY", value: milliseconds},
		{Theirs: "task_retry_count", Ours: "MAX_RETRIES", value: number},
		{Theirs: "max_iterations", Ours: "MAX_ITERATIONS", value: number},
		{Theirs: "max_external_iterations", Note: "`MAX_RETRIES` bounds reviews, too"},
		{Theirs: "review_patience", Note: "`MAX_RETRIES` bounds reviews, too"},
		{Theirs: "session_timeout", Ours: "CLAUDE_TIMEOUT_MINUTES", value: minutes},
		{Theirs: "idle_timeout", Ours: "IDLE_TIMEOUT_MINUTES", value: minutes},
		{Theirs: "plans_dir", Note: "`PLAN_FILE` names one plan of it"},
		{Theirs: "default_branch", Note: "ralph compares with the commit before each iteration"},
		{Theirs: "watch_dirs", Note: "`ralph top` shows all runs of this user"},
		{Theirs: "vcs_command", Note: "ralph works with git"},
		{Theirs: "commit_trailer", Note: "`COMMIT_PREFIX` begins a message"},
		{Theirs: "claude_*", Note: patterns},
		{Theirs: "wait_on_limit", Ours: "ON_LIMIT", Note: "ralph waits until the real reset",
			value: func(v string) (string, error) {
				m, err := minutes(v)
				if err != nil || m == "" {
					return "", err
				}
				return "wait", nil
			}},
		{Theirs: "notify_*", Note: "one address for each channel: `NOTIFY`"},
		{Theirs: "color_*", Note: "the screen has its own colours"},
	}
}
