package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/runner/sandbox"
)

func TestInit_onTerminal_asks(t *testing.T) {
	for _, c := range []struct {
		name, typed              string
		project, agent           string
		testCommand, build, tool string
	}{
		{"Enter takes what was found", "\n\n\n\n\n\n", "shop", "claude", "go test ./...", "go build -o /dev/null ./...", "Bash(go:*)"},
		{"answers", "Corner Shop\nmake \"a b\" '$x' `y` \\z\nnpm run all\ncodex\noff\nfalse\n", "Corner Shop", "codex", "make \"a b\" '$x' `y` \\z", "npm run all", "Bash(npm run:*)"},
		{"none", "\n-\n-\n\n\n\n", "shop", "claude", "", "", "Bash(go:*)"},
		{"impossible answers are asked for again", "--x\n\n-x\n\n\nno such agent\ngemini\nno such box\n\nmaybe\n\n", "shop", "gemini", "go test ./...", "go build -o /dev/null ./...", "Bash(go:*)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newInitWorld(t, goProject())
			w.Env = append(w.Env, "AGENT=claude") // whatever is installed here
			if err := w.typed(c.typed, initOptions{}); err != nil {
				t.Fatal(err)
			}
			w.Env = w.Env[:1]
			cfg := w.load()
			if cfg.TestCommand != c.testCommand || cfg.BuildCommand != c.build || cfg.Agent != c.agent {
				t.Errorf("test %q, build %q, agent %q", cfg.TestCommand, cfg.BuildCommand, cfg.Agent)
			}
			want := sandbox.Auto
			if c.name == "answers" || len(working(cfg)) == 0 {
				want = sandbox.Off
			}
			if cfg.Sandbox != want {
				t.Errorf("sandbox %q, want %q", cfg.Sandbox, want)
			}
			if cfg.QA == (c.name == "answers") {
				t.Errorf("QA %v", cfg.QA)
			}
			if !slices.Contains(cfg.AllowedTools, c.tool) {
				t.Errorf("the agent may use %q", cfg.AllowedTools)
			}
			if !strings.HasPrefix(w.read(".ralph/PROMPT.md"), "# "+c.project+"\n") {
				t.Errorf("prompt:\n%s", w.read(".ralph/PROMPT.md"))
			}
			if u, err := w.Loader(w.Dir, nil).Untrusted(); u != nil || err != nil {
				t.Errorf("untrusted: %v, %v", u, err)
			}
		})
	}
}

func TestInit_agent_isOneThatIsInstalled(t *testing.T) {
	for _, test := range []struct {
		installed, typed     string
		agent, command, says string
	}{
		{"", "\n\n\n\n\n\n", "", "", "Agent (installed: none; known: claude, "},
		{"codex", "\n\n\n\n\n\n", "codex", "", "Agent (installed: codex; known: claude, "},
		{"", "\n\n\ngemini\n\n\n", "gemini", "", ""},
		{"", "\n\n\ntext\n\n-x\n./mine --yes\n\n\n", "text", "./mine --yes", "Command line of your agent: any other program, which reads the prompt from"},
	} {
		w := newInitWorld(t, goProject())
		bin := t.TempDir()
		t.Setenv("PATH", bin)
		if test.installed != "" {
			if err := os.WriteFile(filepath.Join(bin, test.installed), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.typed(test.typed, initOptions{}); err != nil {
			t.Fatal(err)
		}
		cfg := w.load()
		if got := cfg.Source("AGENT").Kind == config.SourceRC; got != (test.agent != "") || got && cfg.Agent != test.agent || cfg.AgentCmd != test.command || cfg.QA == (test.agent == "text") {
			t.Errorf("%+v: agent %q, command %q", test, cfg.Agent, cfg.AgentCmd)
		}
		if !strings.Contains(w.err.String(), test.says) {
			t.Errorf("%+v: asks %s", test, &w.err)
		}
		if none := "no agent that ralph knows is installed"; strings.Contains(w.out.String(), none) != (test.agent == "") {
			t.Errorf("%+v: %s", test, &w.out)
		}
		if u, err := w.Loader(w.Dir, nil).Untrusted(); u != nil || err != nil {
			t.Errorf("%+v: untrusted: %v, %v", test, u, err)
		}
	}
}

func TestInit_programOfTheEnvironment_isAnAgent(t *testing.T) {
	w := newInitWorld(t, goProject())
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	mine := filepath.Join(bin, "mine")
	if err := os.WriteFile(mine, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "AGENT_CMD="+mine+" --fast")
	if err := w.typed("\n\n\n\n\n\n", initOptions{}); err != nil {
		t.Fatal(err)
	}
	if cfg := w.load(); cfg.Source("AGENT").Kind != config.SourceRC || cfg.Agent != "claude" {
		t.Errorf("agent %q", cfg.Agent)
	}
	if said := w.err.String() + w.out.String(); !strings.Contains(said, "Agent (installed: claude;") || strings.Contains(said, "no agent") {
		t.Error(said)
	}
}

// What is found after init is not what it wrote.
func TestInit_commandFoundLater_isNotRunUnasked(t *testing.T) {
	w := newInitWorld(t, map[string]string{"test.sh": "#!/bin/sh\n"})
	if err := w.typed("\n\n\n\n\n\n\n", initOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.Dir, "test.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := preflight.New(w.Factory, w.Loader(w.Dir, nil), w.load())
	if left, err := p.UnagreedChecks(); err != nil || len(left) != 1 {
		t.Errorf("needs consent: %v, %v", left, err)
	}
	if rows, detected := p.Checks(); !detected || len(rows) != 1 || rows[0].Command != "./test.sh" {
		t.Errorf("checks %v, detected %t", rows, detected)
	}
}
