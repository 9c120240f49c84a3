package agent

import "time"

// CallOptions is what a user can say about agent calls.
type CallOptions struct {
	Agent          string   // row of the agent table
	FallbackAgents []string // who works while Agent is under a usage limit, in this order
	AgentCmd       string   // command line that replaces the row's program; empty: the row's
	Model          string   // empty: the agent's own default
	AllowedTools   []string // entries in the agent's own syntax
	PermissionMode string   // PermitAllowedTools or PermitBypass
	EnvExclude     []string // variables that agents and checks do not get; see EnvFilter

	Timeout     time.Duration // one call
	IdleTimeout time.Duration // silence of the agent; 0: off

	Continue      bool // resume ralph's own agent session
	SessionExpiry time.Duration
}
