package preflight

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/pool"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// This file plays recordings of real agent CLIs through the code that reads and
// judges a turn in a run. It calls no agent and no provider.
//
//	Find: class x agent -> Recording      embedded, one each
//	Play: Recording + Setting -> Scene    decode, classify, decide: as in a run

// DrillSetting is the user's configuration and the time of the drill.
type DrillSetting struct {
	Spec     agent.Spec
	Policy   rules.Policy
	Fallback string // an agent that is available during a usage limit; empty: none
	Now      time.Time
}

// Scene is the outcome of a call and what a run would do.
type Scene struct {
	Outcome  agent.Outcome // its times are shifted, as if the call ended at Setting.Now
	Decision rules.Decision
	// Counted lists the counters that the call changes.
	Counted []string
	Usage   state.Usage
}

// PlayRecording treats a recording as the first call of a run whose plan has open tasks. It
// changed a file if the agent used a tool.
func PlayRecording(r Recording, s DrillSetting) Scene {
	t := decode(s.Spec, r)
	o := s.Spec.Classify(t, r.Exit, r.Recorded.UTC())
	move(&o, s.Now.Sub(r.Recorded))
	a := turn.Assignment{Origin: state.Origin{Iteration: 1, Task: "1"}, Task: task.Task{ID: "1", Title: "a task"},
		Agent: turn.Agent{Spec: s.Spec}}
	return sceneOf(turn.Replay(a, t, o, r.Exit), s)
}

// sceneOf decides on a turn that ended just now, as a run with two open tasks would.
func sceneOf(res turn.Result, s DrillSetting) Scene {
	plan := turn.Plan{Known: true, Total: 2, Remaining: 2}
	res = turn.WithCurrentPlan(res, plan, true, func(string) bool { return false })
	after := rules.Memory{Breaker: state.Breaker{State: state.BreakerClosed}}.After(res, false, s.Policy, s.Now)
	f := rules.Conclusion{
		Facts:  rules.Facts{Memory: after, Policy: s.Policy, Plan: plan, HadPlan: true, Started: s.Now, Now: s.Now},
		Result: res, Fallback: s.Fallback,
	}
	o := res.Call.Outcome
	if rules.IsLimit(o.Class) {
		f.LimitedUntil = pool.LimitEnd(o, 1, s.Now)
	}
	return Scene{Outcome: o, Decision: rules.Conclude(f), Counted: counted(after, s.Policy), Usage: res.Call.Usage}
}

// counted lists the counters that the call changed.
func counted(m rules.Memory, o rules.Policy) []string {
	var all []string
	if m.Iterations > 0 {
		all = append(all, "an iteration", "an attempt of its task")
	}
	for _, c := range []struct {
		name     string
		n, limit int
	}{
		{"no progress", m.Breaker.NoProgress, o.NoProgressThreshold},
		{"same error", m.Breaker.SameError, o.SameErrorThreshold},
		{"refused permissions", m.Breaker.PermissionDenials, o.DenialThreshold},
	} {
		if c.n > 0 {
			all = append(all, fmt.Sprintf("%s %d of %d", c.name, c.n, c.limit))
		}
	}
	return all
}

// decode folds the output of a recording.
func decode(s agent.Spec, r Recording) *agent.Transcript {
	t := &agent.Transcript{}
	d := s.NewDecoder(t.Add)
	_, _ = d.Write([]byte(r.Output)) // never fails
	d.Close()
	return t
}

// move shifts the times in the outcome.
func move(o *agent.Outcome, by time.Duration) {
	if !o.ResetsAt.IsZero() {
		o.ResetsAt = o.ResetsAt.Add(by)
	}
	if o.Limit != nil && !o.Limit.ResetsAt.IsZero() {
		l := *o.Limit
		l.ResetsAt = l.ResetsAt.Add(by)
		o.Limit = &l
	}
}

// archive holds one recording for each class and agent, as compressed JSON. `go test
// ./cmd/internal/preflight -update` picks them from the recordings in the tests of package agent.
//
//go:embed recordings.json.gz
var archive []byte

// Recording is what one call of an agent CLI printed, and how it ended.
type Recording struct {
	Name     string
	Class    ending.Class
	Agent    string // name of its row
	Recorded time.Time
	Args     []string // the command line
	Exit     ptyexec.Exit
	Output   string
}

var all = sync.OnceValue(func() (list []Recording) {
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err == nil {
		err = json.NewDecoder(r).Decode(&list)
	}
	if err != nil {
		panic("embedded recordings: " + err.Error())
	}
	return list
})

// FindRecording returns a recording of the class by the agent. An agent without any recordings gets those of another
// one with the same wire format.
func FindRecording(class ending.Class, s agent.Spec) (Recording, bool) {
	name := s.Name
	if _, own := pick(ending.CompletedTurn, name); !own {
		name = standIn(s.Format)
	}
	return pick(class, name)
}

// standIn returns the first agent of the table with recordings in that format.
func standIn(format agent.Format) string {
	for _, s := range agent.Specs() {
		if _, ok := pick(ending.CompletedTurn, s.Name); ok && s.Format == format {
			return s.Name
		}
	}
	return ""
}

func pick(class ending.Class, name string) (Recording, bool) {
	for _, r := range all() {
		if r.Class == class && r.Agent == name {
			return r, true
		}
	}
	return Recording{}, false
}
