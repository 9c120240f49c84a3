package turn_test

import (
	"testing"
	"time"

	"ralph/internal/scripted"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
)

func TestRun_agentThatAsksInVainAgainAndAgain_isEndedAfterAFewSteps(t *testing.T) {
	t.Parallel()
	a := scripted.Project(t, nil)
	var err error
	if a.Agent.Spec, err = agent.Find("opencode"); err != nil {
		t.Fatal(err)
	}
	a.Agent.Program = []string{"sh", "-c", `while sleep 0.05; do
		echo '{"type":"step_start","sessionID":"s","part":{}}'
		echo '{"type":"step_finish","sessionID":"s","part":{"reason":"unknown","tokens":{"input":0,"output":0}}}'
	done`, "sh"}
	started := time.Now()
	call := here(t, a).Result.Call
	if took := time.Since(started); call.Outcome.Class != ending.ServerError || took > 20*time.Second {
		t.Errorf("%+v after %s", call.Outcome, took)
	}
}
