//go:build linux

package edits

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/state"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(m.Run())
}

// attributed runs an agent, a shell script that prints "tool ID", "answer ID" and
// "now". At "now" a person writes, if there is one. It returns the person's edits.
func attributed(t *testing.T, script string, person bool, place Place) []Edit[string] {
	t.Helper()
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan")
	if err := os.WriteFile(plan, []byte("start"), 0o600); err != nil {
		t.Error(err)
	}
	w := Follow([]string{filepath.Join(dir, "other"), plan}, place, func() string { data, _ := os.ReadFile(plan); return string(data) })
	var rest []byte
	c := ptyexec.Command{Args: []string{"/bin/bash", "-c", "mkfifo wait; exec 3<>wait; " + script}, Dir: dir, Started: w.Started, Timeout: time.Minute}
	_, err := ptyexec.Run(t.Context(), c, func(p []byte) bool {
		rest = append(rest, p...)
		for {
			line, more, ok := bytes.Cut(rest, []byte("\n"))
			if !ok {
				return false
			}
			rest = more
			switch word, id, _ := strings.Cut(strings.TrimSpace(string(line)), " "); {
			case word == "tool":
				w.See(state.Tool{ID: id, Name: "Bash"})
			case word == "answer":
				w.See(state.ToolResult{Tool: state.Tool{ID: id}})
			case word == "now" && person:
				if err := os.WriteFile(plan, []byte("a person's"), 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	return w.Stop()
}

const (
	think = "read -t 0.9 <&3; "           // bash itself waits: no child
	long  = think + think + think + think // longer than the margin
	edit  = "echo x >plan; "
)

func TestFollow_whoChangedTheFile(t *testing.T) {
	var wait sync.WaitGroup
	tool := func(do string) string { return "echo tool 1; " + do + "echo answer 1; " }
	for name, c := range map[string]struct {
		script string
		person bool // one writes at "now"
		theirs int
	}{
		"a person, between tools":             {tool(edit) + think + "echo now; " + long + tool(edit), true, 1},
		"a person, and nothing follows":       {tool("") + think + "echo now; " + long, true, 1},
		"a person, just before a tool":        {tool("") + think + "echo now; " + think + tool("") + long, true, 0},
		"a person, while a tool runs":         {tool("echo now; "+think) + long, true, 0},
		"a person, just after a tool":         {tool("") + "echo now; " + long, true, 0},
		"a person, while a child runs":        {tool("sleep 30 & ") + think + "echo now; " + long, true, 0},
		"a person, before the first tool":     {think + "echo now; " + long + tool(""), true, 1},
		"a person, and there is no tool":      {think + "echo now; " + long, true, 0},
		"a person, too close to the first":    {think + "echo now; " + think + tool("") + long, true, 0},
		"the agent, before its first tool":    {think + edit + think + tool("") + long, false, 0},
		"a person, and no tool says its end":  {"echo tool 1; " + think + "echo now; " + long, true, 0},
		"a person, and answers have no id":    {"echo tool 1; echo answer; " + think + "echo now; " + long, true, 0},
		"the agent, in a tool":                {tool(edit) + long, false, 0},
		"the agent, before its report":        {tool("") + think + edit + think + tool("") + long, false, 0},
		"the agent, without tools":            {think + edit + long, false, 0},
		"a child in the background":           {tool("(sleep 1; echo x >plan) & ") + long + think, false, 0},
		"a child that was left behind":        {tool("setsid sh -c '(sleep 1; echo x >plan) &' & ") + long + think, false, 0},
		"a child that keeps running":          {tool("(sleep 1; echo x >plan; sleep 30) & ") + long, false, 0},
		"a short child that nobody announced": {tool("") + think + "/bin/sh -c 'echo x >plan'; " + long, false, 0},
		"the same, left behind":               {tool("") + think + "/bin/sh -c '(echo x >plan) &'; " + long, false, 0},
	} {
		wait.Go(func() {
			got := attributed(t, c.script, c.person, Place{})
			if len(got) != c.theirs {
				t.Errorf("%s: a person made %q, want %d", name, got, c.theirs)
			}
			for _, e := range got {
				if e.After != "a person's" {
					t.Errorf("%s: a person made %q", name, e)
				}
			}
		})
	}
	wait.Wait()
}

// What a service starts has other parents.
func TestFollow_agentIsHidden_nothingIsAPersons(t *testing.T) {
	if got := attributed(t, "echo tool 1; echo answer 1; "+think+"echo now; "+long, true, Place{Hidden: true}); len(got) > 0 {
		t.Errorf("a person made %q", got)
	}
}

// A write that no report announces is never a person's, whenever it comes.
func TestFollow_childrenThatWriteAtAnyTime_areTheAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("long: 60 agents whose children write at different times")
	}
	var wait sync.WaitGroup
	for i := range 60 {
		wait.Go(func() {
			pause := fmt.Sprintf("read -t %.3f <&3; ", 0.02*float64(i))
			how := []string{"(echo x >plan) & wait; ", "/bin/sh -c 'echo x >plan'; ", "/bin/sh -c '(sleep 0.1; echo x >plan) &'; "}[i%3]
			if got := attributed(t, "echo tool 1; "+edit+"echo answer 1; "+pause+how+long, false, Place{}); len(got) > 0 {
				t.Errorf("%d: a person made %q", i, got)
			}
		})
	}
	wait.Wait()
}

// Programs of a sandbox are around an agent. Only the agent itself may be alone in them.
func TestFollow_agentInASandbox_onlyItselfIsQuiet(t *testing.T) {
	var wait sync.WaitGroup
	around := func(script string) string { return `/bin/bash -c '/bin/bash -c "$0"; :' '` + script + `'; :` }
	for name, c := range map[string]struct {
		script string
		below  int
		theirs int
	}{
		"the agent waits":            {think + "echo now; " + long, 2, 1},
		"it has a child":             {"sleep 30 & " + think + "echo now; " + long, 2, 0},
		"fewer programs around it":   {think + "echo now; " + long, 1, 0},
		"more programs around it":    {think + "echo now; " + long, 3, 0},
		"a child was left behind":    {"setsid sleep 30 & disown; " + think + "echo now; " + long, 2, 0},
		"the agent writes in a tool": {"echo tool 2; " + edit + "echo answer 2; " + long, 2, 0},
	} {
		wait.Go(func() {
			if got := attributed(t, around("echo tool 1; echo answer 1; "+c.script), true, Place{Below: c.below}); len(got) != c.theirs {
				t.Errorf("%s: a person made %q, want %d", name, got, c.theirs)
			}
		})
	}
	wait.Wait()
}
