// Package hooks has the table of hook points, and runs the user's own programs there.
//
//	point + facts --> hooks of the point, one after the other --> events
//	                    |                                          |
//	                    environment, JSON on stdin                 Verdict: continue, put the task aside, stop
//	                                                               and notes for the next prompt
//
// A hook runs in the same sandbox as a check, with a timeout, and nothing of it is left when it has ended. Its row says
// what happens if it fails.
package hooks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/state/option"
)

// Type says what a hook is.
type Type string

// The types.
const (
	Shell Type = "shell" // a command line for sh -c
	Agent Type = "agent" // a prompt for an agent
)

// OnFailure says what ralph does when a hook fails.
type OnFailure string

// The values of OnFailure.
const (
	WarnContinue OnFailure = "warn_continue" // show it and continue
	SkipTask     OnFailure = "skip_task"     // put the task aside
	AbortLoop    OnFailure = "abort_loop"    // end the run
	AskAgent     OnFailure = "ask_agent"     // tell the agent in the next prompt
)

// Hook is one row: what runs at a point.
type Hook struct {
	Point     Point
	Type      Type          // empty: Shell
	Command   string        // of a Shell
	Prompt    string        // of an Agent
	Agent     string        // who answers the prompt; empty: the run's agent
	Model     string        // empty: the agent's own default
	Timeout   time.Duration // zero: a minute for a Shell, ten for an Agent
	OnFailure OnFailure     // empty: WarnContinue
	When      []string      // globs; it runs only if the turn changed a file that matches one; nil: always
}

const (
	shellTimeout = time.Minute
	agentTimeout = 10 * time.Minute
)

// Types lists the types.
func Types() []Type { return []Type{Shell, Agent} }

// OnFailures lists the values of OnFailure.
func OnFailures() []OnFailure { return []OnFailure{WarnContinue, SkipTask, AbortLoop, AskAgent} }

// Validate says in one line what is wrong with a row.
func (h Hook) Validate() error {
	row, err := Find(string(h.Point))
	isAgent := h.Type == Agent
	switch {
	case err != nil:
		return err
	case isAgent && h.Prompt == "":
		return fmt.Errorf("a hook of type agent needs a prompt")
	case !isAgent && h.Command == "":
		return fmt.Errorf("a hook needs a command, or type: agent and a prompt")
	case isAgent && h.Command != "", !isAgent && (h.Prompt != "" || h.Agent != "" || h.Model != ""):
		return fmt.Errorf("command belongs to a hook of type shell; prompt, agent and model to one of type agent")
	case len(h.When) > 0 && !row.Turn:
		return fmt.Errorf("when: %s does not follow a turn, so there are no changed files", h.Point)
	case h.OnFailure == SkipTask && row.Run:
		return fmt.Errorf("on_failure: there is no task to skip at %s", h.Point)
	}
	return nil
}

// promptFor returns the prompt for the agent.
func (h Hook) promptFor(f Facts) string { return h.Prompt + fmt.Sprintf(answerForm, f.stdin()) }

// Line returns what runs, in the words of the row.
func (h Hook) Line() string {
	if h.Type != Agent {
		return h.Command
	}
	who := strings.TrimSpace("agent " + h.Agent)
	return who + ": " + h.Prompt
}

// Describe returns Line and the other settings of the row, for lists and for consent.
func (h Hook) Describe() string {
	text := h.Line()
	if h.Model != "" {
		text += "; model: " + h.Model
	}
	if len(h.When) > 0 {
		text += "; when: " + strings.Join(h.When, ",")
	}
	if h.Timeout > 0 {
		text += "; timeout: " + h.Timeout.String()
	}
	if h.OnFailure != "" && h.OnFailure != WarnContinue {
		text += "; on_failure: " + string(h.OnFailure)
	}
	return text
}

func (h Hook) timeout() time.Duration {
	if h.Type == Agent {
		return cmp.Or(h.Timeout, agentTimeout)
	}
	return cmp.Or(h.Timeout, shellTimeout)
}

// Commands are the user's options: one command for each point.
type Commands struct {
	Hook []string // by the order of Points, once Options was called; empty: none
}

// Options returns the rows of the option table that fill c.
func (c *Commands) Options() []option.Row { return c.options(Points()) }

func (c *Commands) options(points []Row) []option.Row {
	var rows []option.Row
	if c.Hook == nil {
		c.Hook = make([]string, len(points))
	}
	for i, p := range points {
		rows = append(rows, option.Row{
			Group: "Hooks", Key: "HOOK_" + strings.ToUpper(string(p.Point)), YAML: "hooks." + string(p.Point),
			Kind: option.String, Trust: true, Field: &c.Hook[i],
			Help: "Shell command for this point: " + p.When + ".",
		})
	}
	return rows
}

// Hooks returns the commands as rows.
func (c *Commands) Hooks() []Hook {
	var all []Hook
	for i, command := range c.Hook {
		if command != "" {
			all = append(all, Hook{Point: Points()[i].Point, Command: command})
		}
	}
	return all
}

// at returns the hooks of a point, in their order.
func at(all []Hook, p Point) []Hook {
	return slices.DeleteFunc(slices.Clone(all), func(h Hook) bool { return h.Point != p })
}
