package scaffold

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/state/projectfs"
)

// assignment is a setting in a shell file, which is never executed.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:export )?([A-Z][A-Z0-9_]*)=(.*)$`)
})

// maxSettings bounds a file of another program, in bytes.
const maxSettings = 4 << 20

// lines are NAME=value or name = value lines of a file.
func lines(path string, form *regexp.Regexp) ([]pair, error) {
	text, err := projectfs.Above(path).Read(path, maxSettings)
	if err != nil {
		return nil, err
	}
	var all []pair
	for _, m := range form.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\r", ""), -1) {
		value := strings.TrimSpace(m[2])
		if n := len(value); n > 1 && value[0] == value[n-1] && strings.ContainsRune(`"'`, rune(value[0])) {
			value = value[1 : n-1]
		}
		all = append(all, pair{m[1], value})
	}
	return all, nil
}

// shell is lines of a shell file, without the comments behind values.
func shell(path string) ([]pair, error) {
	all, err := lines(path, assignment())
	for i, s := range all {
		value, _, _ := strings.Cut(s.value, " #")
		all[i].value = strings.Trim(value, `"' `)
	}
	return all, err
}

func claudeCode(dir string) (p Foreign, pairs []pair, err error) {
	if p.Prompt, err = need(dir, "ralph-setup", ".ralph/PROMPT.md", "PROMPT.md"); err != nil {
		return p, nil, err
	}
	if p.Plan, err = need(dir, "ralph-setup", ".ralph/fix_plan.md", "fix_plan.md", "@fix_plan.md"); err != nil {
		return p, nil, err
	}
	p.Own = first(dir, ".ralphrc") != ""
	if !p.Own {
		return p, nil, nil // older projects have none
	}
	pairs, err = shell(filepath.Join(dir, ".ralphrc"))
	return p, pairs, err
}

func claudeCodeRows() []foreignRow {
	rows := []foreignRow{
		{Theirs: "PROJECT_NAME", Note: "the name of the folder"},
		{Theirs: "PROJECT_TYPE", Note: "`ralph init` looks at the project itself"},
		{Theirs: "CLAUDE_OUTPUT_FORMAT", Note: "ralph reads the events of each agent"},
		{Theirs: "TASK_SOURCES", Note: "`ralph import` brings tasks into the plan"},
		{Theirs: "GITHUB_TASK_LABEL", Note: "`ralph import` takes a label"},
		{Theirs: "BEADS_FILTER", Note: "the plan of Beads is worked off in place: `PLAN_FILE`"},
		{Theirs: "CLAUDE_AUTO_UPDATE", Note: "ralph updates no agent"},
		{Theirs: "CLAUDE_MIN_VERSION", Note: "`ralph doctor` shows the version"},
		{Theirs: "CLAUDE_SESSION_EXPIRY_HOURS", Note: "write `SESSION_EXPIRY_HOURS`"},
		{Theirs: "PROMPT_FILE", Note: "it is relative to .ralph/ there; write it relative to the project"},
		{Theirs: "FIX_PLAN_FILE", Note: "write `PLAN_FILE`, relative to the project"},
		{Theirs: "AGENT_FILE", Note: "name the file in the prompt"},
		{Theirs: "SANDBOX_DOCKER_IMAGE", Note: "write `SANDBOX_IMAGE`"},
		{Theirs: "SANDBOX_DOCKER_*", Note: "`SANDBOX` and `SANDBOX_NET` are all that there is"},
		{Theirs: "SANDBOX_E2B_*", Note: "there is no sandbox in a cloud"},
		{Theirs: "SYNC_*", Note: "a sandbox works on the project itself"},
		{Theirs: "RALPH_SHELL_INIT_FILE", Note: "start ralph in a shell that has read it"},
		{Theirs: "CLAUDE_MODEL", Ours: "MODEL"},
		{Theirs: "CLAUDE_EFFORT", Note: "Claude Code reads CLAUDE_CODE_EFFORT_LEVEL from the environment"},
		{Theirs: "CLAUDE_USE_CONTINUE", Ours: "SESSION_CONTINUITY"},
		{Theirs: "ENABLE_BACKUP", Note: "every iteration is kept: `ralph undo`"},
		{Theirs: "GITHUB_ISSUE", Note: "`ralph import` reads issues; ralph writes none"},
		{Theirs: "CREATE_PR", Note: "ralph opens no pull requests"},
	}
	for _, same := range []string{"MAX_CALLS_PER_HOUR", "MAX_TOKENS_PER_HOUR", "CLAUDE_TIMEOUT_MINUTES",
		"ALLOWED_TOOLS", "SESSION_CONTINUITY", "SESSION_EXPIRY_HOURS", "CB_NO_PROGRESS_THRESHOLD",
		"CB_SAME_ERROR_THRESHOLD", "CB_OUTPUT_DECLINE_THRESHOLD",
		"CB_PERMISSION_DENIAL_THRESHOLD", "CB_COOLDOWN_MINUTES", "CB_AUTO_RESET", "RALPH_VERBOSE", "OPTIONAL_SECTIONS",
		"CLAUDE_CODE_CMD", "SANDBOX_PROVIDER", "ENABLE_NOTIFICATIONS"} {
		row := foreignRow{Theirs: same, Ours: same}
		if same == "SANDBOX_PROVIDER" {
			row.Ours = "SANDBOX"
		}
		rows = append(rows, row)
	}
	return rows
}

// scriptDirs are where people put the script of snarktank/ralph.
func scriptDirs() []string { return []string{"", "scripts/ralph/", "ralph/", ".ralph/"} }

func snarktank(dir string) (p Foreign, pairs []pair, err error) {
	for _, in := range scriptDirs() {
		if first(dir, in+"ralph.sh") == "" {
			continue
		}
		all, err := shell(filepath.Join(dir, filepath.FromSlash(in), "ralph.sh"))
		if err != nil {
			return p, nil, err
		}
		prompts := []string{in + "prompt.md", in + "CLAUDE.md"}
		for _, s := range all {
			if s.name != "TOOL" && s.name != "MAX_ITERATIONS" || strings.Contains(s.value, "$") {
				continue
			}
			if s.name == "TOOL" && s.value == "claude" {
				prompts[0], prompts[1] = prompts[1], prompts[0]
			}
			pairs = append(pairs, s)
		}
		// Its own default is amp. Who copied only the prompt of Claude Code calls it with --tool claude.
		if first(dir, in+"prompt.md") == "" && first(dir, in+"CLAUDE.md") != "" {
			pairs = slices.DeleteFunc(pairs, func(s pair) bool { return s.name == "TOOL" })
			pairs = append(pairs, pair{"TOOL", "claude"})
		}
		if p.Prompt, err = need(dir, "the project's README says how to copy it", prompts...); err != nil {
			return p, nil, fmt.Errorf("%s is missing", prompts[0])
		}
		if p.Plan = first(dir, in+"prd.json"); p.Plan == "" {
			return p, nil, fmt.Errorf("%sprd.json is missing; the skill /ralph writes it", in)
		}
		p.Left = append(p.Left, foreignLeft{"--dangerously-skip-permissions, --dangerously-allow-all",
			"here ALLOWED_TOOLS says what the agent may do; all of it with PERMISSION_MODE=bypass"})
		if other := first(dir, prompts[1]); other != "" && other != p.Prompt {
			p.Left = append(p.Left, foreignLeft{other, "the prompt of the other agent: --prompt " + other})
		}
		if first(dir, in+"progress.txt") != "" {
			p.Left = append(p.Left, foreignLeft{in + "progress.txt", "stays where it is: the prompt names it"})
		}
		return p, pairs, nil
	}
	return p, nil, fmt.Errorf("ralph.sh is missing, here and in scripts/ralph")
}

func snarktankRows() []foreignRow {
	return []foreignRow{
		{Theirs: "TOOL", Ours: "AGENT", Note: "claude, if CLAUDE.md is the only prompt"},
		{Theirs: "MAX_ITERATIONS", Ours: "MAX_ITERATIONS", value: number},
	}
}
