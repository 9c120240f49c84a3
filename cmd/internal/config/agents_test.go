package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/state/option"
)

const twoAgents = `
agent: {name: mine}
agents:
  mine:
    command: ${TOOLS}/mine --json '{"a":1}' {model} "two words" {prompt_file}
    prompt: file
    format: codex-json
    output: pipe
    resume: [resume, "{}"]
    model: --model={}
    allowed_tools: --allow {}
    bypass: --yes --really
    version: --version
    env: {A: "1", B: x=y}
    env_keys: [A_KEY, B_*]
    patterns:
      usage-limit: "quota of the day"
      none: ["warning: .*", 'note: \d+']
  # the other one
  other:
    command: [./bin/other, "{prompt}", $HOME]
    prompt: arg
`

func TestAgents_everyKey_reachesTheRow(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Env: []string{"TOOLS=/opt/my tools"}}
	write(t, l.Dir, yamlName, twoAgents)
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	s, err := c.Spec("mine")
	if err != nil {
		t.Fatal(err)
	}
	codex, _ := agent.Find("codex")
	want := agent.Spec{
		Name: "mine", Bin: "/opt/my tools/mine", Install: "see its row under agents in config.yaml",
		Template: agent.Template{
			Args:     []string{"--json", `{"a":1}`, "{model}", "two words", "{prompt_file}", "{permissions}", "{resume}"},
			PromptBy: agent.PromptFile, VersionArgs: []string{"--version"},
			ResumeArgs: []string{"resume", "{}"}, ModelArgs: []string{"--model={}"},
			AllowedItem: []string{"--allow", "{}"}, BypassArgs: []string{"--yes", "--really"},
		},
		Format: agent.FormatCodex, Pipe: true,
		Env:           agent.Variables{Set: []string{"A=1", "B=x=y"}, Keys: []string{"A_KEY", "B_*"}},
		SessionTokens: codex.SessionTokens, CachedInInput: codex.CachedInInput,
		Patterns: []ending.Pattern{{Class: "usage-limit", Match: "quota of the day"}, {Match: "warning: .*"}, {Match: `note: \d+`}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	other, err := c.Spec("other")
	if err != nil || other.Bin != filepath.Join(l.Dir, "bin/other") {
		t.Errorf("%+v, %v", other, err)
	}
	cmd := other.Command(agent.Request{ArgvCall: agent.ArgvCall{Prompt: "-do", Model: "m"}})
	if got := strings.Join(cmd.Args[1:], "|"); got != "\n-do|$HOME" {
		t.Errorf("argv %q", got)
	}
	if _, err := c.Spec("claude"); err != nil {
		t.Error(err)
	}
	if _, err := c.Spec("nobody"); err == nil || !strings.Contains(err.Error(), "claude, codex") || !strings.Contains(err.Error(), "text, mine, other") {
		t.Errorf("unknown name: %v", err)
	}
	if at := c.AgentSource("other"); at != (Source{SourceProject, ".ralph/config.yaml:20"}) {
		t.Errorf("source %v", at)
	}
	if at := c.AgentSource("claude"); at != (Source{}) {
		t.Errorf("source of a built-in agent %v", at)
	}
}

func TestAgents_exampleOfTheDocuments_isValid(t *testing.T) {
	_, rest, _ := strings.Cut(agentsPage(), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, example)
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 || !found {
		t.Fatal(found, warnings, err)
	}
	for _, key := range agentKeys() {
		if !strings.Contains(example, "\n    "+key+":") {
			t.Errorf("the example does not show %s", key)
		}
	}
	if s, err := c.Spec("my-agent"); err != nil || len(s.Patterns) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAgents_badRow_isRefusedInOneLineWithItsPlaceAndWhatIsAllowed(t *testing.T) {
	const formats = "claude-stream-json, codex-json, gemini-stream-json, opencode-json, text"
	for _, test := range []struct{ name, text, want string }{
		{"text for rows", "agents: 1", `:1: agents must hold a mapping for each agent, by its name, not "1"`},
		{"text for a row", "agents:\n  a: b", `:2: agents.a must hold the keys command, prompt, format, output, resume, model, allowed_tools, bypass, version, models, login, description, env, env_keys, home, patterns, not "b"`},
		{"no command", "agents:\n  a:\n    prompt: arg", ":2: agents.a: command is missing: the program and its arguments"},
		{"built-in name", "agents:\n\n  claude: {command: x}", `:3: agents.claude: name "claude" is that of a built-in agent: choose another one; AGENT_CMD replaces the program of a built-in agent, and its row may only hold patterns`},
		{"name", "agents:\n  a/b: {command: x}", `:2: agents.a/b: name "a/b" is not allowed: at most 40 letters, digits, dots, dashes and underscores, a letter or digit first`},
		{"prompt", "agents:\n  a:\n    command: x\n    prompt: mail", `:4: agents.a: prompt "mail" is not one of stdin, arg, file`},
		{"format", "agents:\n  a:\n    command: x\n    format: xml", `:4: agents.a: format "xml" is not one of ` + formats},
		{"output", "agents:\n  a:\n    output: file\n    command: x", `:3: agents.a.output: "file" is not one of pty, pipe`},
		{"command substitution", "agents:\n  a:\n    command: x $(y)", ":3: agents.a.command: command substitution is not allowed"},
		{"pipe", "agents:\n  a:\n    command: x | y", `:3: agents.a.command: "x | y" is not a plain command line: a program and its arguments, quoted where they hold spaces or signs`},
		{"redirection", "agents:\n  a:\n    command: x >y", `:3: agents.a.command: "x >y" is not a plain command line: a program and its arguments, quoted where they hold spaces or signs`},
		{"home", "agents:\n  a:\n    command: ~/bin/x", ":3: agents.a.command: ~ is not expanded: write ${HOME}"},
		{"unset variable", "agents:\n  a:\n    command: ${NO_SUCH}/x", `:3: agents.a.command: "${NO_SUCH}/x" holds a ${NAME} that is not set`},
		{"mapping for a command", "agents:\n  a:\n    command: {x: y}", ":3: agents.a.command must be a command line or a list of its words, not a mapping"},
		{"file without a place", "agents:\n  a:\n    command: x\n    prompt: file", ":3: agents.a: command must hold {prompt_file}, because prompt is file"},
		{"place without a file", "agents:\n  a:\n    command: x {prompt_file}", ":3: agents.a: command holds {prompt_file}, which needs prompt: file"},
		{"place without an argument", "agents:\n  a:\n    command: x --p={prompt}", ":3: agents.a: command holds {prompt}, which needs prompt: arg"},
		{"placeholder inside a word", "agents:\n  a:\n    command: x --resume={resume}", `:3: agents.a: command "--resume={resume}": {resume} must be an argument of its own; what goes there is said by another key`},
		{"model without a place", "agents:\n  a:\n    command: x\n    model: -m", ":4: agents.a: model must hold {} where the value goes, such as --model {}"},
		{"variable", "agents:\n  a:\n    command: x\n    env: {A B: c}", `:4: agents.a: env "A B=c" is not NAME=value`},
		{"key", "agents:\n  a:\n    command: x\n    env_keys: A-KEY", `:4: agents.a: env_keys "A-KEY" is not the name of a variable; * and ? stand for any text or character`},
		{"unknown class", "agents:\n  a:\n    command: x\n    patterns:\n      broke: y", `:5: agents.a: patterns "broke" is not one of none, completed-turn, usage-limit, `},
		{"broken pattern", "agents:\n  a:\n    command: x\n    patterns: {auth: '('}", ":4: agents.a: patterns \"(\" is not a regular expression: error parsing regexp: missing closing ): `(?im)(`"},
		{"pattern for everything", "agents:\n  a:\n    command: x\n    patterns: {auth: '.*'}", `:4: agents.a: patterns ".*" matches every text`},
		{"the same name twice", "agents:\n  a: {command: x}\n  a: {command: y}", `:3: is not valid YAML: mapping key "a" already defined at [2:3]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Loader{Dir: t.TempDir()}
			write(t, l.Dir, yamlName, test.text)
			_, _, err := l.Load()
			if err == nil || !strings.HasPrefix(err.Error(), yamlName+test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error\n%v, want\n%s", err, yamlName+test.want)
			}
		})
	}
}

func TestAgents_unknownKey_warnsWithASuggestion(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, "agents:\n  a:\n    command: x\n    pattern: {}\n    prompt:\n")
	_, warnings, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Warning{`.ralph/config.yaml:4: unknown key "agents.a.pattern"; did you mean patterns?`}, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestAgents_projectRowReplacesTheUsersAndSaysSo(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	user := write(t, l.Home, ".config/ralph/config.yaml", "agents: {a: {command: users}, b: {command: users}}")
	write(t, l.Dir, yamlName, "agents: {a: {command: projects}}")
	c, warnings, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Warning{Warning(".ralph/config.yaml:1: agents.a replaces the one in " + user + ":1")}, warnings); diff != "" {
		t.Error(diff)
	}
	a, _ := c.Spec("a")
	b, _ := c.Spec("b")
	if a.Bin != "projects" || b.Bin != "users" || len(c.Agents()) != 2 {
		t.Errorf("%q, %q of %d", a.Bin, b.Bin, len(c.Agents()))
	}
}

func TestUntrusted_agentRows(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Home, ".config/ralph/config.yaml", "agents: {b: {command: users}}")
	if u, err := l.Untrusted(); u != nil || err != nil {
		t.Fatalf("the user's own row: %+v, %v", u, err)
	}
	claim := func(row string) []Untrusted {
		t.Helper()
		write(t, l.Dir, yamlName, "agents:\n  a: "+row)
		u, err := l.Untrusted()
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := claim(`{command: "run 'a b' {model}", model: "-m {}", env: {LD_PRELOAD: x.so}, bypass: -y, prompt: arg}`)
	want := ".ralph/config.yaml:2: agents.a=run 'a b' {model} (prompt as an argument); env: LD_PRELOAD=x.so; model: -m {}; bypass: -y"
	if u == nil || u[0].File != yamlName || len(linesOf(u)) != 1 || linesOf(u)[0] != want {
		t.Fatalf("%+v", u)
	}
	if err := trustAll(l, u); err != nil {
		t.Fatal(err)
	}
	if u := claim(`{command: [run, a b, "{model}"], model: "-m {}", env: {LD_PRELOAD: x.so}, bypass: -y, prompt: arg, patterns: {auth: x}, output: pipe}`); u != nil {
		t.Errorf("what runs is the same, yet: %+v", u)
	}
	for _, row := range []string{
		`{command: "run a b {model}", model: "-m {}", env: {LD_PRELOAD: x.so}, bypass: -y, prompt: arg}`,
		`{command: "run 'a b' {model}", model: "-m {}", env: {LD_PRELOAD: y.so}, bypass: -y, prompt: arg}`,
		`{command: "run 'a b' {model}", model: "-m {}", env: {LD_PRELOAD: x.so}, bypass: -z, prompt: arg}`,
		`{command: "run 'a b' {model}", model: "-m {}", env: {LD_PRELOAD: x.so}, bypass: -y}`,
		`{command: "run 'a b' {model}", model: "-m {}", env: {LD_PRELOAD: x.so}, bypass: -y, prompt: arg, env_keys: "AWS_*"}`,
	} {
		if claim(row) == nil {
			t.Errorf("trusted although something else runs: %s", row)
		}
	}
}

func TestAddAgent_keepsEverythingElseOfTheFile(t *testing.T) {
	fields := []AgentField{{"command", "my-agent --json 'a b' {}"}, {"prompt", "stdin"}, {"description", `\bkey "x"`}}
	const row = "my:\n    command: \"my-agent --json 'a b' {}\"\n    prompt: \"stdin\"\n    description: \"\\\\bkey \\\"x\\\"\"\n"
	deep := strings.ReplaceAll(row, "\n  ", "\n    ")
	for _, test := range []struct{ name, before, after string }{
		{"no file", "", "agents:\n  " + row},
		{"only a comment", "# mine\n", "# mine\n\nagents:\n  " + row},
		{"other settings, no line end", "# top\nagent:\n  name: x # why", "# top\nagent:\n  name: x # why\n\nagents:\n  " + row},
		{"block in the middle", "agents:\n  # first\n  a:\n    command: x   # keep\n\n# about limits\nlimits: {iterations: 3}\n",
			"agents:\n  " + row + "  # first\n  a:\n    command: x   # keep\n\n# about limits\nlimits: {iterations: 3}\n"},
		{"block at the end, four columns", "agents:\n    a: {command: x}\n", "agents:\n    " + deep + "    a: {command: x}\n"},
		{"nothing in it", "agents: # none yet\nlimits: {iterations: 3}\n", "agents: # none yet\n  " + row + "limits: {iterations: 3}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Loader{Dir: t.TempDir()}
			if test.before != "" {
				if err := os.Chmod(write(t, l.Dir, yamlName, test.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			spec, err := l.AddAgent("my", fields)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, read(t, l.Dir, yamlName)); diff != "" {
				t.Error(diff)
			}
			c, warnings, err := l.Load()
			if err != nil || len(warnings) > 0 {
				t.Fatal(warnings, err)
			}
			got, err := c.Spec("my")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spec, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"--json", "a b", "{}", "{permissions}", "{model}", "{resume}"}, got.Args); diff != "" {
				t.Error(diff)
			}
			if got.About != `\bkey "x"` {
				t.Errorf("description %q", got.About)
			}
			if info, err := os.Stat(filepath.Join(l.Dir, yamlName)); err != nil || test.before != "" && info.Mode().Perm() != 0o640 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

func TestAddAgent_anyText_isReadBackAsItWas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]{0,20}`)).Draw(rt, "text")
		l := Loader{Dir: t.TempDir()}
		s, err := l.AddAgent("a", []AgentField{{"command", "x"}, {"description", text}})
		if err != nil {
			if option.Printable(text) {
				rt.Fatalf("%q: %v", text, err)
			}
			return
		}
		c, _, err := l.Load()
		if err != nil {
			rt.Fatal(err)
		}
		got, _ := c.Spec("a")
		if diff := cmp.Diff(s, got); diff != "" || got.About != text {
			rt.Fatalf("%q became %q %s", text, got.About, diff)
		}
	})
}

func TestAddAgent_keepsWindowsLineEnds(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, "agent:\r\n  name: my\r\n")
	if _, err := l.AddAgent("my", []AgentField{{"command", "x"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, l.Dir, yamlName), "agent:\r\n  name: my\r\n\r\nagents:\r\n  my:\r\n    command: \"x\"\r\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestAddAgent_refusedAndNothingWritten(t *testing.T) {
	for _, test := range []struct {
		name, before, agent string
		fields              []AgentField
		want                string
	}{
		{"format", "", "a", []AgentField{{"command", "x"}, {"format", "xml"}}, `agent "a": format "xml" is not one of`},
		{"no command", "", "a", nil, `agent "a": `},
		{"built-in name", "", "codex", []AgentField{{"command", "x"}}, `agent "codex": name "codex" is that of a built-in agent`},
		{"name", "", "a b:", []AgentField{{"command", "x"}}, `agent "a b:": name "a b:" is not allowed`},
		{"two lines", "", "a", []AgentField{{"command", "x\n  b: y"}}, `agent "a": command must be text on one line`},
		{"there already", "agents:\n  a: {command: y}\n", "a", []AgentField{{"command", "x"}}, ".ralph/config.yaml:2: agents.a is there already: change it there"},
		{"braces", "agents: {b: {command: y}}\n", "a", []AgentField{{"command", "x"}}, ".ralph/config.yaml: is written in a way that nothing can be added to"},
		{"all in braces", "{limits: {iterations: 3}}\n", "a", []AgentField{{"command", "x"}}, ".ralph/config.yaml: is written in a way that nothing can be added to"},
		{"broken file", "a: [", "a", []AgentField{{"command", "x"}}, ".ralph/config.yaml:1: is not valid YAML"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Loader{Dir: t.TempDir()}
			if test.before != "" {
				write(t, l.Dir, yamlName, test.before)
			}
			_, err := l.AddAgent(test.agent, test.fields)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if test.before != "" && read(t, l.Dir, yamlName) != test.before {
				t.Error("the file changed")
			}
			if _, err := os.Stat(filepath.Join(l.Dir, ".ralph")); test.before == "" && err == nil {
				t.Error("something was written")
			}
		})
	}
}

func TestShowWords_charactersThatCannotBeSeen_areEscapes(t *testing.T) {
	want := `run {model} 'a b' '' $'a\u202eb\x1b[2J' "a\x00b"`
	if got := showWords([]string{"run", "{model}", "a b", "", "a\u202eb\x1b[2J", "a\x00b"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAgents_builtInRow_onlyAddsPatterns(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, yamlName, "agents: {gemini: {patterns: {usage-limit: quota of the day, none: harmless}}}")
	c, warnings, err := l.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	got, err := c.Spec("gemini")
	want, _ := agent.Find("gemini")
	want.Patterns = append([]ending.Pattern{{Class: ending.UsageLimit, Match: "quota of the day"}, {Class: ending.Unknown, Match: "harmless"}}, want.Patterns...)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	if len(c.Agents()) > 0 || c.AgentSource("gemini").Kind != (Source{}).Kind {
		t.Error("it counts as an agent of the user's own")
	}
	if u, err := l.Untrusted(); u != nil || err != nil {
		t.Errorf("it only reads output: %+v, %v", u, err)
	}
	write(t, l.Dir, yamlName, "agents: {gemini: {env: {A: b}, patterns: {auth: x}}}")
	if _, _, err := l.Load(); err == nil || !strings.Contains(err.Error(), "may only hold patterns") {
		t.Error(err)
	}
}
