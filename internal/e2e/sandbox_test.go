//go:build e2e && linux

package e2e

import (
	"testing"
	"time"

	"ralph/internal/mockllm"
)

func TestAgents_planOfTwo_isWorkedOffInASandbox(t *testing.T) {
	for _, sandbox := range []string{"landlock", "bwrap"} {
		t.Run(sandbox, func(t *testing.T) {
			each(t, agents(), func(t *testing.T, a agentCLI) {
				w := newProject(t, a, 2, mockllm.Plan(2))
				w.finished(w.run(a, "--sandbox", sandbox).Wait(2*time.Minute), 2)
			})
		})
	}
}
