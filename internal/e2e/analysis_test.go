//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

func TestAnalysis_realCLI_looksAtACopyAndProposesChecks(t *testing.T) {
	each(t, twoVendors(), func(t *testing.T, a agentCLI) {
		w := newProject(t, a, 1, mockllm.Scenario{Runs: [][]mockllm.Step{{
			{Text: "I look.", Tools: []mockllm.Tool{{Name: "write", Path: "sneaky.txt", Content: "x"}}},
			{Echo: `"nonce": "([A-Z0-9]+)"`, Text: `It is a shop.

{"nonce": "{echo}", "type": "web service",
 "build": {"ready": false, "command": "", "reason": "there is no code yet"},
 "test": {"ready": true, "command": "make test", "reason": "the Makefile has it"},
 "lint": {"ready": false, "command": "", "reason": ""}, "context": "It sells."}`},
		}}})
		w.Set("AGENT", a.name)
		w.Write("Makefile", "test:\n\ttrue\n")
		p := w.ralph("init", "--ai", "--force")
		exit := p.Wait(time.Minute)
		for _, want := range []string{"it is: web service. It sells.", "make test   # the Makefile has it", "not ready: there is no code yet", "nobody can be asked here"} {
			if !strings.Contains(p.Said(), want) {
				t.Errorf("exit %d; it does not say %q:\n%s", exit, want, p.Said())
			}
		}
		if w.Read("sneaky.txt") != "" {
			t.Error("the analyst could write")
		}
		if asked := len(w.mock.Prompts(scenario)); asked != 1 {
			t.Errorf("it was asked %d times:\n%s", asked, p.Said())
		}
	})
}
