package cli

import (
	"strings"
	"testing"

	"ralph/config"
	"ralph/runner/agent"
)

func TestBisect_secretOfAnotherTool_isNotThereUnlessNamed(t *testing.T) {
	w := newPastWorld(t)
	w.env = append(w.env, "GITHUB_TOKEN=t")
	w.want(0, "passes in the last kept state", "bisect", "--", `test -z "$GITHUB_TOKEN"`)
	w.env = append(w.env, "ENV_EXCLUDE=!GITHUB_TOKEN")
	w.want(0, "fails in the first kept state", "bisect", "--", `test -z "$GITHUB_TOKEN"`)
}

func TestEnvFilter_optionsOfRalph_pass(t *testing.T) {
	for _, o := range config.Table() {
		for _, name := range append([]string{o.Key}, o.Aliases...) {
			if len(agent.EnvFilter{}.Checks([]string{name + "=v"})) == 0 {
				t.Errorf("%s is taken for a secret", name)
			}
		}
	}
}

func TestPrintEnv_commonVariables_fitsInto80Columns(t *testing.T) {
	env := []string{"PATH=/bin", "HOME=/h", "CLAUDECODE=1", "XDG_SESSION_CLASS=user"}
	for _, name := range []string{"GITHUB_TOKEN", "NPM_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS",
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "PGPASSWORD", "SSH_KEY_PASSPHRASE", "DEPLOY_PRIVATE_KEY", "CURSOR_API_KEY", "DATABASE_URL"} {
		env = append(env, name+"=the-value")
	}
	for _, name := range []string{"claude", "cursor-agent", "opencode"} {
		cfg, _, err := config.Loader{Dir: t.TempDir(), Env: []string{"AGENT=" + name, "ENV_EXCLUDE=DATABASE_URL,!AWS_SESSION_TOKEN,!NPM_*"}}.Load()
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := (&app{out: &text, env: env}).printEnv(cfg); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if len(line) > 81 || strings.Contains(line, "the-value") {
				t.Errorf("%d columns: %s", len(line)-1, line)
			}
		}
		if !strings.Contains(text.String(), "4 others pass to both; -v names them") && name != "claude" {
			t.Errorf("nothing of the others:\n%s", text.String())
		}
	}
}
