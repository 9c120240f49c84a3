package cli

import (
	"testing"

	"ralph/cmd/internal/config"
	"ralph/runner/agent"
)

func TestEnvFilter_optionsOfRalph_passUnlessTheyHoldKeys(t *testing.T) {
	for _, o := range config.Table() {
		for _, name := range append([]string{o.Key}, o.Aliases...) {
			if passes := len(agent.EnvFilter{}.Checks([]string{name + "=v"})) > 0; passes == o.Secret {
				t.Errorf("%s passes: %v", name, passes)
			}
		}
	}
}
