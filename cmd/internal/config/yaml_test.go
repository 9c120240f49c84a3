package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/hooks"
)

// yamlMessage is what a config.yaml is answered with: an error, or warnings.
type yamlMessage struct {
	name, text, wantErr string
	want                []Warning
}

func wantMessages(t *testing.T, tests []yamlMessage) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, yamlName, test.text)
			_, warnings, err := Loader{Dir: dir}.Load()
			if test.wantErr != "" {
				if err == nil || err.Error() != yamlName+test.wantErr {
					t.Errorf("error\n%v, want\n%s", err, yamlName+test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseYAML_keysOfOtherTools_messages(t *testing.T) {
	wantMessages(t, []yamlMessage{
		{name: "no hooks", text: "hooks:\n  pre_task: []\n  post_task:\n"},
		{name: "a hook", text: "hooks:\n  pre_task: []\n  post_task: [make]\n"},
		{name: "text for the hooks", text: "hooks: make\n", wantErr: ":1: hooks must be a list, not \"make\""},
		{name: "a hook at no point", text: "hooks:\n  pre_lunch: [make]\n", wantErr: ":2: hooks: \"pre_lunch\" is not a hook point; known: " + usablePoints()},
		{name: "a row with its point", text: "hooks:\n  - {point: pre_commit, command: make}\n"},
		{name: "a row without a point", text: "hooks: [{command: make}]\n", wantErr: ":1: hooks: the row names no point"},
		{name: "a row of another point", text: "hooks:\n  pre_task: [{point: post_task, command: make}]\n", wantErr: ":2: hooks.pre_task: the row names another point, \"post_task\""},
		{name: "a hook without a command", text: "hooks: [{point: pre_task}]\n", wantErr: ":1: hooks.pre_task: a hook needs a command, or type: agent and a prompt"},
		{name: "files before a turn", text: "hooks: [{point: pre_task, command: make, when: '*.go'}]\n", wantErr: ":1: hooks.pre_task: when: pre_task does not follow a turn, so there are no changed files"},
		{name: "an unknown key of a hook", text: "hooks: [{point: pre_task, comand: make}]\n", wantErr: ":1: unknown key \"hooks.comand\"; did you mean hooks.command?; correct or remove it to start"},
		{name: "an agent that there is not", text: "hooks: [{point: pre_task, type: agent, prompt: well?, agent: nobody}]\n", wantErr: unknownAgent(":1: hooks.pre_task: ", "nobody")},
		{name: "an agent without a prompt", text: "hooks: [{point: pre_task, type: agent}]\n", wantErr: ":1: hooks.pre_task: a hook of type agent needs a prompt"},
		{name: "a prompt without the type", text: "hooks: [{point: pre_task, command: make, prompt: well?}]\n", wantErr: ":1: hooks.pre_task: command belongs to a hook of type shell; prompt, agent and model to one of type agent"},
		{name: "an unknown answer", text: "hooks: [{point: pre_task, command: make, on_failure: retry}]\n", wantErr: ":1: hooks.on_failure: \"retry\" is not one of warn_continue, skip_task, abort_loop, ask_agent"},
		{name: "another baseline", text: "test:\n  baseline_file: ../x.json", wantErr: ":2: test.baseline_file must be .ralph/test_baseline.json, not \"../x.json\""},
		{name: "list as the baseline", text: "test: {baseline_file: [a]}", wantErr: ":1: test.baseline_file must be .ralph/test_baseline.json, not a list"},
		{name: "other path of an option", text: "test: {command: [a]}", wantErr: ":1: test.command must be text on one line that does not start with -, not a list"},
	})
}

func TestParseYAML_messages(t *testing.T) {
	wantMessages(t, []yamlMessage{
		{name: "empty", text: ""},
		{name: "only a comment", text: "# nothing"},
		{name: "keys without values", text: "limits:\nagent:\n  model:\n  name: ~\n"},
		{name: "slips of the hand", text: "limits:\n  calls_per_hou: 5\nlimit:\n  iterations: 3\nagents_x: 1\n",
			want: []Warning{
				`.ralph/config.yaml:2: unknown key "limits.calls_per_hou"; did you mean limits.calls_per_hour?`,
				`.ralph/config.yaml:3: unknown key "limit"; did you mean limits?`,
				`.ralph/config.yaml:5: unknown key "agents_x"; did you mean agents?`}},
		{name: "names of .ralphrc and of other groups", text: "MAX_CALLS_PER_HOUR: 5\nclaude_model: x\nlimits: {no_progress: 3}\n",
			want: []Warning{
				`.ralph/config.yaml:1: unknown key "MAX_CALLS_PER_HOUR"; did you mean limits.calls_per_hour?`,
				`.ralph/config.yaml:2: unknown key "claude_model"; did you mean agent.model?`,
				`.ralph/config.yaml:3: unknown key "limits.no_progress"; did you mean breaker.no_progress?`}},
		{name: "scalar for a group", text: "a: 1\nlimits: 5", wantErr: ":2: limits must hold the keys calls_per_hour, cooldown_on_error, cost_usd, delay, duration, iterations, iterations_per_task, on_limit, pace, question_wait, tokens_per_hour, until, not \"5\""},
		{name: "list for a group", text: "session: [1]", wantErr: ":1: session must hold the keys continue, expiry, not a list"},
		{name: "mapping for a value", text: "limits:\n  calls_per_hour:\n    x: 1", wantErr: ":3: limits.calls_per_hour must be a whole number from 1 to 1000000, not a mapping"},
		{name: "list for a value", text: "agent:\n  model: [a]", wantErr: ":2: agent.model must be text on one line that does not start with -, not a list"},
		{name: "mapping in a list", text: "agent:\n  allowed_tools:\n    - Read\n    - {a: b}", wantErr: ":4: agent.allowed_tools must be a list of plain values, not of a mapping"},
		{name: "alias", text: "agent:\n  name: &a x\n  model: *a", wantErr: ":2: agent.name must be text on one line that does not start with -, not an anchor, alias or tag"},
		{name: "merge key", text: "agent:\n  <<: {model: x}", wantErr: ":2: merge keys are not allowed"},
		{name: "not a mapping", text: "- a", wantErr: ":1: must hold keys and values, such as limits: {calls_per_hour: 50}"},
		{name: "text", text: "hello", wantErr: ":1: must hold keys and values, such as limits: {calls_per_hour: 50}"},
		{name: "two documents", text: "agent: {name: a}\n---\nagent: {name: b}", wantErr: ":3: only one document is allowed"},
		{name: "the same key twice", text: "agent:\n  name: a\n  name: b", wantErr: `:3: is not valid YAML: mapping key "name" already defined at [2:3]`},
		{name: "broken", text: "a: 1\nb: [", wantErr: ":2: is not valid YAML: sequence end token ']' not found"},
		{name: "wrong type", text: "limits:\n\n  calls_per_hour: many", wantErr: ":3: limits.calls_per_hour: \"many\" is not a whole number from 1 to 1000000"},
		{name: "fraction", text: "limits: {iterations: 3.5}", wantErr: ":1: limits.iterations: \"3.5\" is not a whole number from 0 to 1000000"},
		{name: "hexadecimal", text: "limits: {iterations: 0x10}", wantErr: ":1: limits.iterations: \"0x10\" is not a whole number from 0 to 1000000"},
		{name: "pass without quotes", text: "env:\n  exclude:\n    - A\n    - !B", wantErr: ":4: env.exclude must be a list of plain values, not of nothing; an entry with ! needs quotes"},
		{name: "one that passes without quotes", text: "env:\n  exclude: !B,!C\nagent: {name: claude}", wantErr: ":2: env.exclude must be a comma list of variable names or globs (* and ?), each with or without a !, not an anchor, alias or tag; an entry with ! needs quotes"},
		{name: "flag in a list", text: "agent: {allowed_tools: [Read, --danger]}", wantErr: ":1: agent.allowed_tools: \"Read,--danger\" is not a comma list with balanced parentheses and no entry that starts with -"},
	})
}

func TestParseYAML_formsOfValues(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, yamlName, `
limits: {calls_per_hour: "50", cost_usd: 2.5, duration: 1h30m}
agent:
  model: 4
  allowed_tools:
    - Read
    - Bash(git add *)
session:
  continue: yes
plan:
  optional_sections: Later, Ideas
commands:
  test: |
    make test
breaker: {auto_reset: true}
`)
	c, warnings, err := Loader{Dir: dir}.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	got := map[string]string{}
	for _, row := range c.Rows() {
		if row.Source.Kind == SourceProject {
			got[row.Key] = row.Value
		}
	}
	want := map[string]string{
		"MAX_CALLS_PER_HOUR": "50", "MAX_COST_USD": "2.5", "MAX_DURATION": "1h30m", "MODEL": "4",
		"ALLOWED_TOOLS": "Read,Bash(git add *)", "SESSION_CONTINUITY": "true", "OPTIONAL_SECTIONS": "Later,Ideas",
		"TEST_COMMAND": "make test", "CB_AUTO_RESET": "true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A config.yaml as another tool of this kind documents it. Empty means: find out.
func TestParseYAML_keysOfOtherTools_work(t *testing.T) {
	dir := t.TempDir()
	const empty = `
agent: {default: ""}
build: {command: ""}
test: {command: "", mode: gate, baseline_file: .ralph/test_baseline.json, baseline_scope: global}
git: {auto_commit: true, commit_prefix: "[bot]"}
hooks: {pre_task: [], post_task: []}
`
	for text, want := range map[string]map[string]string{
		empty: {"TEST_MODE": "gate", "BASELINE_SCOPE": "global", "AUTO_COMMIT": "true", "COMMIT_PREFIX": "[bot]"},
		"agent: {default: codex}\nbuild: {command: make}\ntest: {command: make test, baseline_file: ./.ralph/test_baseline.json}\n": {
			"AGENT": "codex", "BUILD_COMMAND": "make", "TEST_COMMAND": "make test"},
	} {
		write(t, dir, yamlName, text)
		c, warnings, err := Loader{Dir: dir}.Load()
		if err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
		got := map[string]string{}
		for _, row := range c.Rows() {
			if row.Source.Kind == SourceProject {
				got[row.Key] = row.Value
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, text := range []string{
		"limits: {calls_per_hour: 5}", "agent:\n  allowed_tools:\n    - a\n    - b\n", "? a\n: b", "a: &x 1\nb: *x", "--- !!map\n{}", "a: |\n  b\n",
		"<<: *a", "agent: !!str x", "checks:\n  - name: a\n    command: b\n    when: [c]\n", "checks: [{name: a}, 1,]", "- - - a", "%YAML 1.2\n---\na: b", "a: >-\n b", "\"a\": 'b'", "limits:\n\t- a",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, yamlName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, _, err := Loader{Dir: dir}.Load()
		if (c == nil) != (err != nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b\x00") || !strings.HasPrefix(err.Error(), yamlName+":")) {
			t.Fatalf("message %q", err)
		}
	})
}

func usablePoints() string {
	var names []string
	for _, p := range hooks.Points() {
		names = append(names, string(p.Point))
	}
	return strings.Join(names, ", ")
}

func unknownAgent(where, name string) string {
	_, err := agent.Find(name)
	return where + err.Error()
}

// Other tools write requireEvidence. A key that protects is never passed over.
func TestParseYAML_keysOfProtections_areReadInBothSpellingsOrRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, yamlName, `
judges: [{name: a, requireEvidence: true, provider: codex, criteria: [no secrets, "small, plain steps"]}, {name: b, criteria: one}]
checks: [{name: unit, command: make, onFailure: stop}]
test: {failFast: true}
agent: {permissionMode: bypass}
sandbox: {net: none}
`)
	c, warnings, err := Loader{Dir: dir}.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	rows := c.JudgeRows()
	if !rows[0].RequireEvidence || rows[0].Agent != "codex" || c.Checks()[0].OnFailure != gate.Stop || !c.FailFast || c.PermissionMode != "bypass" {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff([][]string{{"no secrets", "small, plain steps"}, {"one"}}, [][]string{rows[0].Criteria, rows[1].Criteria}); diff != "" {
		t.Error(diff)
	}
	wantMessages(t, []yamlMessage{
		{name: "judge", text: "judges:\n- name: a\n  requireProof: true\n", wantErr: `:3: unknown key "judges.require_proof"; correct or remove it to start`},
		{name: "both spellings", text: "judges:\n- {name: a, requireEvidence: true, require_evidence: false}\n", wantErr: ":2: require_evidence is written twice, in two spellings"},
		{name: "both names", text: "judges:\n- agent: codex\n  name: a\n  provider: claude\n", wantErr: ":4: agent is written twice, in two spellings"},
		{name: "both names, the other first", text: "judges:\n- provider: codex\n  name: a\n  agent: codex\n", wantErr: ":4: agent is written twice, in two spellings"},
		{name: "one name in two judges", text: "judges: [{name: a, agent: codex}, {name: b, provider: codex}]\n"},
		{name: "both spellings of an option", text: "test: {failFast: true, fail_fast: false}\n", wantErr: ":1: fail_fast is written twice, in two spellings"},
		{name: "review", text: "review:\n  evidence: true\n", wantErr: `:2: unknown key "review.evidence"; correct or remove it to start`},
		{name: "test", text: "test: {strict: true}\n", wantErr: `:1: unknown key "test.strict"; correct or remove it to start`},
		{name: "sandbox", text: "sandbox: {network: none}\n", wantErr: `:1: unknown key "sandbox.network"; correct or remove it to start`},
		{name: "permissions", text: "permissions: {deny: [rm]}\n", wantErr: `:1: unknown key "permissions"; correct or remove it to start`},
		{name: "hooks of agents", text: "agent_hooks: {lintt: x}\n", wantErr: `:1: unknown key "agent_hooks.lintt"; did you mean agent_hooks.lint?; correct or remove it to start`},
	})
}
