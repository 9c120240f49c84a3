package cli

import (
	"testing"

	"ralph/cmd/internal/config"
	"ralph/runner/agent"
)

func TestBisect_secretOfAnotherTool_isNotThereUnlessNamed(t *testing.T) {
	w := newPastWorld(t)
	w.Env = append(w.Env, "GITHUB_TOKEN=t")
	w.want(0, "passes in the last kept state", "bisect", "--", `test -z "$GITHUB_TOKEN"`)
	w.Env = append(w.Env, "ENV_EXCLUDE=!GITHUB_TOKEN")
	w.want(0, "fails in the first kept state", "bisect", "--", `test -z "$GITHUB_TOKEN"`)
}

func TestEnvFilter_optionsOfRalph_passUnlessTheyHoldKeys(t *testing.T) {
	for _, o := range config.Table() {
		for _, name := range append([]string{o.Key}, o.Aliases...) {
			if passes := len(agent.EnvFilter{}.Checks([]string{name + "=v"})) > 0; passes == o.Secret {
				t.Errorf("%s passes: %v", name, passes)
			}
		}
	}
}
