package turn

import (
	"fmt"
	"slices"
	"time"

	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/prompt"
	"ralph/runner/sandbox"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
)

// Version is the version of Assignment and Result. A worker refuses any other.
const Version = 1

// Part is what an Assignment asks for.
type Part string

// The parts.
const (
	Whole    Part = ""         // call the agent, observe, audit, check
	Baseline Part = "baseline" // run the checks and make what fails the baseline
	Check    Part = "check"    // run the checks
	Ask      Part = "ask"      // call the agent for its answer, in a folder that is not compared
)

// Assignment is one piece of work for one agent in one workspace. It is plain data: it survives JSON, and holds all
// that a turn needs from the run. Secrets are not part of it; a worker takes the environment from its own process.
type Assignment struct {
	V      int          `json:"v"` // Version
	Origin state.Origin `json:"origin"`
	Part   Part         `json:"part,omitempty"`
	Dir    string       `json:"dir"`               // the project's folder in the workspace
	LogDir string       `json:"log_dir,omitempty"` // for the prompt and the raw output; empty: not kept

	// FirstReview is the review phase that a task enters when its work is done. Its tick is taken back
	// until the review has passed. Empty: the task is done without one.
	FirstReview string `json:"then,omitempty"`

	Task   task.Task    `json:"task,omitzero"` // zero: the plan has none, or there is no plan
	Plan   store.File   `json:"plan,omitzero"`
	Prompt prompt.Input `json:"prompt"`

	Agent   Agent             `json:"agent"`
	Sandbox sandbox.Contained `json:"sandbox,omitzero"` // of agent and checks
	Bounds  Bounds            `json:"bounds"`
	Checks  Checks            `json:"checks"`
	Audit   Audit             `json:"audit"`
	Known   History           `json:"known"`

	// Protect names files that the agent must not remove or empty. A turn restores them and reports it.
	Protect []string `json:"protect,omitempty"`
	State   string   `json:"state,omitempty"` // the state directory; empty: the agent's sandbox locks it
}

// Agent is the agent CLI to call, and what it may do.
type Agent struct {
	Spec           agent.Spec      `json:"spec"`
	Program        []string        `json:"program,omitempty"` // replaces the spec's program; nil: the spec's
	Model          string          `json:"model,omitempty"`   // empty: the agent's own default
	AllowedTools   []string        `json:"allowed_tools,omitempty"`
	PermissionMode string          `json:"permission_mode,omitempty"`
	Session        Session         `json:"session,omitzero"`   // to resume; zero: a fresh context
	Settings       string          `json:"settings,omitempty"` // see agent.Request
	Filter         agent.EnvFilter `json:"filter"`             // which variables agent and checks get
}

// Session is an agent's own session. The zero value is none.
type Session struct {
	ID string `json:"id,omitempty"`
	// Counted is what the agent had counted for the session when its last call
	// ended: some agents report totals of the session, not of the call.
	Counted state.Usage `json:"counted,omitzero"`
}

// Bounds end a call that takes too long. Zero: no bound.
type Bounds struct {
	Timeout     time.Duration `json:"timeout_ns"`
	IdleTimeout time.Duration `json:"idle_timeout_ns"` // without any output
}

// Checks are the project's own checks and all that is known about them.
type Checks = gate.Known

// The values of Audit.Answer.
const (
	AnswerWarn   = "warn"   // report
	AnswerRevert = "revert" // report, and take back ticks that were not earned
	AnswerHalt   = "halt"   // revert, and end the run
)

// Audit says what follows from a finding.
type Audit struct {
	Answer string `json:"answer"` // one of the answers
	// Warned is true when the end of this run was put off once already, because
	// its proof had become weaker.
	Warned bool `json:"warned,omitempty"`
}

func (a Audit) takesBack() bool { return a.Answer == AnswerRevert || a.Answer == AnswerHalt }

// History is what the run remembers about the task, and about its work so far.
type History struct {
	Worked   bool `json:"worked,omitempty"`   // an earlier turn did something for it
	Linked   bool `json:"linked,omitempty"`   // and its change has to do with the task
	Ticked   int  `json:"ticked,omitempty"`   // the iteration that ticked it without its work, so that this one checks it; 0: none
	Refusals int  `json:"refusals,omitempty"` // ticks without any work
	Tries    int  `json:"tries,omitempty"`    // failed checks in a row
	// Others are the ids of other open tasks for which earlier turns did something.
	Others []string `json:"others,omitempty"`
	// Changed names the earlier iterations that changed files, of this run and of the one that it continues, the latest
	// first: "7", "3 of RUN".
	Changed []string `json:"changed,omitempty"`
}

// Validate says in one line why a worker cannot carry out the Assignment; nil: it can.
func (a Assignment) Validate() error {
	switch {
	case a.V != Version:
		return fmt.Errorf("assignment has version %d; this ralph speaks version %d", a.V, Version)
	case a.Dir == "":
		return fmt.Errorf("assignment names no folder (dir)")
	case !slices.Contains([]Part{Whole, Baseline, Check, Ask}, a.Part):
		return fmt.Errorf("assignment asks for the unknown part %q; known: %q, %q, %q, %q", a.Part, Whole,
			Baseline, Check, Ask)
	case (a.Part == Whole || a.Part == Ask) && a.Agent.Spec.Name == "":
		return fmt.Errorf("assignment names no agent (agent.spec.name)")
	}
	return nil
}
