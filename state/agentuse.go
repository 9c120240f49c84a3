package state

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// AgentUse is the agent that a person chose for the next turns of a run. A task or
// plan that names an agent outranks it.
type AgentUse struct {
	Run   string `json:"run"` // the choice is for this one
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"` // empty: the agent's own default
	// At is the moment of the choice; set by Use.
	At time.Time `json:"at,omitzero"`
}

// Use writes the choice for the runner of the project, which reads it before each turn.
func Use(dir string, u AgentUse) error {
	u.At = time.Now()
	in := Project(dir)
	data, err := json.Marshal(u)
	if err == nil {
		err = in.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = in.Write(filepath.Join(dir, UseFile), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("choose agent: %w", err)
	}
	return nil
}

// AgentUse reads the choice for a run. ok is false if there is none, or none that can be used.
func (r *Reader) AgentUse(run string) (AgentUse, bool) {
	u, err := readJSON(r.in, r.path(UseFile), func(u AgentUse) string {
		if u.Run != "" && !isRunID(u.Run) || u.Run != "" && u.Agent == "" {
			return "no choice of an agent"
		}
		return ""
	})
	return u, err == nil && u.Run != "" && u.Run == run
}
