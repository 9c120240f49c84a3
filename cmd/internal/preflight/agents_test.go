package preflight

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
	"ralph/state"
)

// start is what a run does with agents before it takes the lock. Only these
// agents are installed; typed is the answer on a terminal, "" is not a terminal.
func start(t *testing.T, installed, typed string, files map[string]string) (p *Project, said string, err error) {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin)
	for name := range strings.FieldsSeq(installed) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if files[".ralph/PROMPT.md"] == "" {
		files[".ralph/PROMPT.md"] = "Work.\n"
	}
	var out, warned bytes.Buffer
	f := &cmdline.Factory{Out: &out, Err: &warned, Env: []string{"HOME=" + home}, Dir: world.Project(t, files)}
	if typed == "" {
		if f.In, err = os.Open(os.DevNull); err != nil {
			t.Fatal(err)
		}
	} else {
		f.In = world.Typed(t, typed)
	}
	if p, err = Load(f, nil); err == nil {
		err = p.Startable()
	}
	return p, warned.String(), err
}

func TestLoad_noAgentNamed_takesAnInstalledOneAndSaysSo(t *testing.T) {
	for _, test := range []struct {
		name, installed, typed, rc, plan string
		agent, says                      string
	}{
		{"only codex", "codex", "", "", "", "codex", "no agent is set; using codex, the only one installed"},
		{"only claude", "claude", "", "", "", "claude", ""},
		{"several, in the order of the table", "qwen gemini codex", "", "", "", "codex", "several agents are installed (codex, gemini, qwen) and none is set; using codex"},
		{"several, on a terminal", "qwen codex", "qwen\n", "", "", "qwen", "Which agent shall work: codex, qwen?"},
		{"several, wrong answer, then Enter", "qwen codex", "claude\n\n", "", "", "codex", `"claude" is not one of codex, qwen`},
		{"one, on a terminal", "codex", "x\n", "", "", "codex", "no agent is set; using codex"},
		{"named", "qwen codex", "codex\n", "AGENT=qwen", "", "qwen", ""},
		{"own command", "codex claude", "", "CLAUDE_CODE_CMD=claude", "", "claude", ""},
		{"the plan names it for all", "qwen codex", "x\n", "", "<!-- ralph: agent=qwen -->\n- [ ] a\n", "codex", ""},
		{"the plan names it for some", "qwen codex", "", "", "- [ ] a <!-- ralph: agent=qwen -->\n- [ ] b\n", "codex", "several agents"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, said, err := start(t, test.installed, test.typed, map[string]string{".ralphrc": test.rc, ".ralph/fix_plan.md": test.plan})
			if err != nil {
				t.Fatal(err, said)
			}
			if p.Agent.Spec.Name != test.agent || p.Config.Agent != test.agent {
				t.Errorf("agent %q, option %q, want %q", p.Agent.Spec.Name, p.Config.Agent, test.agent)
			}
			if !strings.Contains(said, test.says) || test.says == "" && said != "" {
				t.Errorf("said %q, want %q", said, test.says)
			}
		})
	}
}

// What was taken counts for a resumed run and for the runner inside tmux.
func TestLoad_takenAgentIsPassedOn(t *testing.T) {
	p, _, err := start(t, "qwen codex", "qwen\n", map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Config.Flags(), " "); got != "--agent=qwen" {
		t.Errorf("flags %q", got)
	}
	p, said, err := start(t, "qwen codex", "qwen -x\nqwen a b\nqwen  coder-3\n", map[string]string{})
	if err != nil || strings.Count(said, "is no model") != 2 {
		t.Fatal(err, said)
	}
	if got := strings.Join(p.Config.Flags(), " "); got != "--agent=qwen --model=coder-3" || p.Config.Model != "coder-3" {
		t.Errorf("with a model: flags %q", got)
	}
}

func TestStartable_agentsOfThePlanAreCheckedBeforeTheFirstCall(t *testing.T) {
	const claudes = "claude codex amp"
	for _, test := range []struct {
		name, rc, plan string
		code           int
		says           string
	}{
		{"unknown", "", "- [ ] a\n- [ ] b <!-- ralph: agent=nobody -->\n", state.ExitUsage, `task "b" in fix_plan.md: unknown agent "nobody", known are: claude,`},
		{"unknown, but done", "", "- [ ] a\n- [x] b <!-- ralph: agent=nobody -->\n", 0, ""},
		{"unknown, but optional", "", "- [ ] a\n# Optional\n- [ ] b <!-- ralph: agent=nobody -->\n", 0, ""},
		{"not installed", "", "- [ ] a\n- [ ] b <!-- ralph: agent=gemini -->\n", state.ExitAgent, `task "b" in fix_plan.md: the agent gemini cannot run: "gemini" is not an executable on PATH`},
		{"not installed, for the whole plan", "", "<!-- ralph: provider=gemini -->\n- [ ] a\n", state.ExitAgent, `the agent gemini cannot run`},
		{"nobody needs the one that is missing", "AGENT=gemini", "<!-- ralph: agent=codex -->\n- [ ] a\n", 0, ""},
		{"fallback is missing", "FALLBACK_AGENTS=gemini", "- [ ] a\n", state.ExitAgent, "the agent gemini cannot run"},
		{"no model", "AGENT=amp\nMODEL=opus", "- [ ] a\n", state.ExitUsage, `the agent amp cannot be given the model "opus": it has no option for a model`},
		{"no model, in the plan", "", "- [ ] a <!-- ralph: agent=amp model=opus -->\n", state.ExitUsage, `task "a" in fix_plan.md: the agent amp cannot be given the model "opus"`},
		{"model that is an option", "AGENT=claude", "- [ ] a <!-- ralph: model=-x -->\n", state.ExitUsage, `cannot be given the model "-x": a model's name does not begin with a dash`},
		{"all at once", "", "- [ ] a <!-- ralph: agent=nobody -->\n- [ ] b <!-- ralph: agent=gemini -->\n- [ ] c <!-- ralph: agent=amp model=opus -->\n- [ ] d <!-- ralph: agent=qwen -->\n", state.ExitUsage,
			`task "c" in fix_plan.md: the agent amp cannot be given the model "opus": it has no option for a model; task "b" in fix_plan.md: the agent gemini cannot run`},
		{"all that are not installed", "", "- [ ] b <!-- ralph: agent=gemini -->\n- [ ] d <!-- ralph: agent=qwen -->\n", state.ExitAgent, `; task "d" in fix_plan.md: the agent qwen cannot run`},
		{"model of another agent is not passed on", "AGENT=claude\nMODEL=opus", "- [ ] a <!-- ralph: agent=amp -->\n", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := start(t, claudes, "", map[string]string{".ralphrc": test.rc, ".ralph/fix_plan.md": test.plan})
			if code := codeOf(err); code != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("code %d, %v; want %d, %q", code, err, test.code, test.says)
			}
		})
	}
}

func codeOf(err error) int {
	if err == nil {
		return 0
	}
	return cmdline.ExitCode(err)
}

// A misspelled judge would be a persona that looks for nothing.
func TestMisnamed_judgeOfThePlanThatIsNearlyABuiltInOne_isRefusedWithItsLine(t *testing.T) {
	for judge, want := range map[string]string{
		`"securitty"`:                 `prd.json:2: unknown judge "securitty"; did you mean security?`,
		`"QAs"`:                       `prd.json:2: unknown judge "QAs"; did you mean qa?`,
		`{"name": "architecturre"}`:   `prd.json:2: unknown judge "architecturre"; did you mean architecture?`,
		`{"persona": "perfformance"}`: `prd.json:2: unknown judge "perfformance"; did you mean performance?`,
		`"security"`:                  "",
		`"Security Auditor"`:          "",
		`"UI"`:                        "",
		`"librarian"`:                 "",
		`"securty2"`:                  "", // of config.yaml
		`"looks for securty"`:         "",
		`{"name": "securitty", "criteria": ["No secret is logged."]}`: "",
		`{"name": "perf", "persona": "You look for slow queries."}`:   "",
		`{"name": "Guard", "persona": "ux", "provider": "claude"}`:    "",
	} {
		_, _, err := start(t, "claude", "", map[string]string{
			"prd.json":           `{"userStories": [{"id": "done", "passes": true, "judges": "securitty"},` + "\n" + `{"id": "a", "judges": [` + judge + `]}]}`,
			".ralph/config.yaml": "judges: [{name: securty2}]\n",
		})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want || codeOf(err) != state.ExitUsage) {
			t.Errorf("%s: %v, want %q", judge, err, want)
		}
	}
}
