package scaffold

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the generated tables")

// project writes the files of an archive into a new folder.
func project(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(text)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The projects are those that each tool's own set-up writes, but for ralph-tui's, which
// follows its documentation; the settings say something else than the defaults.
func TestRead_eachTool_takesAndNames(t *testing.T) {
	for _, c := range []struct {
		tool, files string
		want        Foreign
	}{
		{"ralph-claude-code", `
-- .ralph/PROMPT.md --
x
-- .ralph/fix_plan.md --
- [ ] x
-- .ralphrc --
PROJECT_NAME="${PROJECT_NAME:-my-project}"
MAX_CALLS_PER_HOUR=50
CB_AUTO_RESET=false # careful
# PROMPT_FILE="PROMPT.md"
SANDBOX_E2B_TEMPLATE="base"
CLAUDE_MODEL=opus
TEST_COMMAND="make test"
RALPH_SHELL_INIT_FILE="~/.zshrc"
GITHUB_ISSUE=12
WHAT=1
`, Foreign{Prompt: ".ralph/PROMPT.md", Plan: ".ralph/fix_plan.md", Own: true,
			Settings: []ForeignSetting{{"MAX_CALLS_PER_HOUR", "50", "MAX_CALLS_PER_HOUR"}, {"CB_AUTO_RESET", "false", "CB_AUTO_RESET"},
				{"MODEL", "opus", "CLAUDE_MODEL"}, {"TEST_COMMAND", "make test", "TEST_COMMAND"}},
			Left: []foreignLeft{{"PROJECT_NAME", "the name of the folder"}, {"SANDBOX_E2B_TEMPLATE", "there is no sandbox in a cloud"},
				{"RALPH_SHELL_INIT_FILE", "start ralph in a shell that has read it"},
				{"GITHUB_ISSUE", "`ralph import` reads issues; ralph writes none"}, {"WHAT", "ralph does not know it"}}}},
		{"ralph-claude-code", "-- .ralph/PROMPT.md --\nx\n-- .ralph/fix_plan.md --\n- [ ] x\n-- .ralphrc --\nCLAUDE_MODEL=opus\nMODEL=sonnet\n" +
			"CLAUDE_TIMEOUT_MINUTES=20\nAGENT_TIMEOUT_MINUTES=30\nCLAUDE_USE_CONTINUE=true\nSESSION_CONTINUITY=false\n", Foreign{Prompt: ".ralph/PROMPT.md", Plan: ".ralph/fix_plan.md", Own: true,
			Settings: []ForeignSetting{{"MODEL", "sonnet", "MODEL"}, {"CLAUDE_TIMEOUT_MINUTES", "20", "CLAUDE_TIMEOUT_MINUTES"},
				{"SESSION_CONTINUITY", "false", "SESSION_CONTINUITY"}}}},
		{"ralph-claude-code", "-- PROMPT.md --\nx\n-- @fix_plan.md --\n- [ ] x\n", Foreign{Prompt: "PROMPT.md", Plan: "@fix_plan.md"}},
		{"ralphex", `
-- .ralphex/config --
# claude_command = not this
claude_command = my-claude
task_model = opus:high
iteration_delay_ms = 2500
session_timeout = 90m
idle_timeout =
max_iterations = 30
use_worktree = true
external_review_tool = none
notify_telegram_token = 123:secret
color_task = #2e8b57
-- .ralphex/prompts/task.txt --
x
-- docs/plans/a-done.md --
- [x] done
-- docs/plans/b-open.md --
### Task 1: One
- [ ] x
-- docs/plans/c-later.md --
- [ ] x
`, Foreign{Plan: "docs/plans/b-open.md",
			Settings: []ForeignSetting{{"AGENT_CMD", "my-claude", "claude_command"}, {"MODEL", "opus", "task_model"},
				{"ITERATION_DELAY", "2.5s", "iteration_delay_ms"}, {"CLAUDE_TIMEOUT_MINUTES", "90", "session_timeout"},
				{"MAX_ITERATIONS", "30", "max_iterations"}, {"ISOLATE", "worktree", "use_worktree"},
				{"QA", "false", "external_review_tool"}, {"AGENT", "claude", "executor"}},
			Left: []foreignLeft{{"docs/plans/c-later.md", "the plan after this one: ralph --plan docs/plans/c-later.md"},
				{".ralphex/prompts/task.txt", "it speaks of ralphex's signals; put your own rules into .ralph/PROMPT.md"},
				{"notify_telegram_token", "one address for each channel: `NOTIFY`"}, {"color_task", "the screen has its own colours"}}}},
		{"ralph-tui", `
-- .ralph-tui/config.toml --
configVersion = "2.1"
tracker = "json"
agent = "claude"
maxIterations = 12
autoCommit = true
fallbackAgents = ["codex", "gemini"]
prompt_template = "x.hbs"
[trackerOptions]
path = "./plan/prd.json"
[agentOptions]
model = "opus"
[parallel]
mode = "never"
maxWorkers = 3
[sandbox]
enabled = true
network = false
-- plan/prd.json --
{}
`, Foreign{Plan: "plan/prd.json",
			Settings: []ForeignSetting{{"AGENT", "claude", "agent"}, {"MAX_ITERATIONS", "12", "maxIterations"}, {"AUTO_COMMIT", "true", "autoCommit"},
				{"FALLBACK_AGENTS", "codex,gemini", "fallbackAgents"}, {"MODEL", "opus", "agentOptions.model"},
				{"SANDBOX", "auto", "sandbox.enabled"}, {"SANDBOX_NET", "none", "sandbox.network"}},
			Left: []foreignLeft{{"configVersion", "`ralph config` shows what is set"},
				{"prompt_template", "its fields are not those of ralph; put your rules into .ralph/PROMPT.md"},
				{"parallel.mode", "`PARALLEL` says how many tasks run side by side"}}}},
		{"snarktank", `
-- scripts/ralph/ralph.sh --
TOOL="claude"  # as we like it
MAX_ITERATIONS=25
SCRIPT_DIR="$(cd "$(dirname "$0")" && pwd)"
      TOOL="$2"
-- scripts/ralph/prompt.md --
x
-- scripts/ralph/CLAUDE.md --
x
-- scripts/ralph/prd.json --
{}
`, Foreign{Prompt: "scripts/ralph/CLAUDE.md", Plan: "scripts/ralph/prd.json",
			Settings: []ForeignSetting{{"AGENT", "claude", "TOOL"}, {"MAX_ITERATIONS", "25", "MAX_ITERATIONS"}},
			Left: []foreignLeft{{"--dangerously-skip-permissions, --dangerously-allow-all",
				"here ALLOWED_TOOLS says what the agent may do; all of it with PERMISSION_MODE=bypass"},
				{"scripts/ralph/prompt.md", "the prompt of the other agent: --prompt scripts/ralph/prompt.md"}}}},
		// Its README copies the prompt of one agent; ralph.sh names the other one.
		{"snarktank", "-- ralph.sh --\nTOOL=\"amp\"\n-- CLAUDE.md --\nx\n-- prd.json --\n{}\n",
			Foreign{Prompt: "CLAUDE.md", Plan: "prd.json", Settings: []ForeignSetting{{"AGENT", "claude", "TOOL"}},
				Left: []foreignLeft{{"--dangerously-skip-permissions, --dangerously-allow-all",
					"here ALLOWED_TOOLS says what the agent may do; all of it with PERMISSION_MODE=bypass"}}}},
	} {
		options := map[string]string{"TEST_COMMAND": "TEST_COMMAND", "MODEL": "MODEL", "AGENT_TIMEOUT_MINUTES": "CLAUDE_TIMEOUT_MINUTES"}
		got, err := ReadForeign(c.tool, project(t, c.files), func(name string) string { return options[name] })
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.tool, diff)
		}
	}
}

func TestRead_halfConfigured_isOneLineThatSaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ tool, files, want string }{
		{"ralph-x", "", `"ralph-x"; it knows ralph-claude-code, ralphex, ralph-tui, snarktank`},
		{"ralph-claude-code", "", ".ralph/PROMPT.md is missing"},
		{"ralph-claude-code", "-- .ralph/PROMPT.md --\nx\n", ".ralph/fix_plan.md is missing"},
		{"ralphex", "", ".ralphex is missing"},
		{"ralphex", "-- .ralphex/config --\n", "no plan in docs/plans has an open box"},
		{"ralphex", "-- .ralphex/config --\nplans_dir = ../elsewhere\n", "outside of the project"},
		{"ralphex", "-- .ralphex/config --\nmax_iterations = many\n-- docs/plans/a.md --\n- [ ] x\n", `max_iterations "many": not a whole number`},
		{"ralphex", "-- .ralphex/config --\nidle_timeout = soon\n-- docs/plans/a.md --\n- [ ] x\n", `idle_timeout "soon": not a duration`},
		{"ralphex", "-- .ralphex/config --\nexecutor = foo\n-- docs/plans/a.md --\n- [ ] x\n", `executor "foo": not one of claude, codex`},
		{"ralph-tui", "", ".ralph-tui/config.toml is missing"},
		{"ralph-tui", "-- .ralph-tui/config.toml --\nagent = \n", "read .ralph-tui/config.toml: "},
		{"ralph-tui", "-- .ralph-tui/config.toml --\nagent = \"claude\"\n", "prd.json is missing"},
		{"ralph-tui", "-- .ralph-tui/config.toml --\nagent = \"droid\"\n-- prd.json --\n{}\n", "ralph agent add"},
		{"ralph-tui", "-- .ralph-tui/config.toml --\ntracker = \"linear\"\n", `the tracker "linear"`},
		{"ralph-tui", "-- .ralph-tui/config.toml --\ntracker = \"beads\"\n", ".beads is missing"},
		{"snarktank", "", "ralph.sh is missing"},
		{"snarktank", "-- ralph.sh --\n", "prompt.md is missing"},
		{"snarktank", "-- ralph.sh --\n-- prompt.md --\n", "prd.json is missing"},
		{"snarktank", "-- ralph.sh --\nMAX_ITERATIONS=ten\n-- prompt.md --\n-- prd.json --\n", `"ten": not a whole number`},
	} {
		_, err := ReadForeign(c.tool, project(t, c.files), func(string) string { return "" })
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %q: got %v, want %q", c.tool, c.files, err, c.want)
		}
	}
}

func TestGenerated_tablesOfOtherTools_areCurrent(t *testing.T) {
	const path, start, end = "../../../docs/coming-from.md", "<!-- generated: migrate -->\n", "<!-- end -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), start)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("no markers in", path)
	}
	want := before + start + tables() + end + after
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatal("the tables are stale; run: make generate")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tables lists the settings of each tool: those that are taken with the option they become, and the others.
// What to do instead of those is what `ralph init` says.
func tables() string {
	var b strings.Builder
	for _, t := range tools() {
		var taken, left []string
		for _, r := range t.rows() {
			switch theirs := "`" + r.Theirs + "`"; r.Ours {
			case "":
				left = append(left, theirs)
			case r.Theirs:
				taken = append(taken, theirs)
			default:
				taken = append(taken, theirs+" (`"+r.Ours+"`)")
			}
		}
		fmt.Fprintf(&b, "**%s.** Reads %s.\n\n- Takes %s\n", t.name, t.about, strings.Join(taken, ", "))
		if len(left) > 0 {
			fmt.Fprintf(&b, "- Leaves %s\n", strings.Join(left, ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}
