package task

// Choice is the agent and the model for a task. Empty fields fall back to the plan's
// choice, then to the options.
type Choice struct {
	Agent string `json:"agent,omitempty"` // name in ralph's table of agents
	Model string `json:"model,omitempty"`
}

// Or fills the empty fields of c from d. A model belongs to its agent, so c does not get
// d's model if c names another agent.
func (c Choice) Or(d Choice) Choice {
	if c.Model == "" && (c.Agent == "" || c.Agent == d.Agent) {
		c.Model = d.Model
	}
	if c.Agent == "" {
		c.Agent = d.Agent
	}
	return c
}
