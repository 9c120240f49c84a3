package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/runner/agent"
	"ralph/runner/sandbox"
)

// initQuestion is one that init asks.
type initQuestion struct {
	text    string
	answer  *string // before and after
	command bool    // "-" means none
	allowed func(string) bool
	// required refuses an empty answer.
	required bool
}

// ask asks on the terminal.
func (o *initOptions) ask(in *bufio.Reader, a *answers, cfg *config.Config) error {
	known := initKnown(cfg)
	boxes := append([]string{sandbox.Off}, working(cfg)...)
	if len(boxes) > 1 {
		boxes, a.sandbox = append(boxes, sandbox.Auto), sandbox.Auto
	}
	command := "Test command"
	if len(a.Detected) > 0 {
		command += " (empty: what ralph detects in each folder)"
	}
	here := cmp.Or(strings.Join(installed(cfg), ", "), "none")
	for _, q := range []initQuestion{
		{text: "Project name", answer: &a.Name},
		{text: command, answer: &a.Test, command: true},
		{text: "Build command", answer: &a.Build, command: true},
		{text: fmt.Sprintf("Agent (installed: %s; known: %s; text is any other program)", here,
			strings.Join(known, ", ")), answer: &a.agent,
			allowed: func(name string) bool { return slices.Contains(known, name) }},
		{text: "Command line of your agent: ", answer: &a.command,
			required: true, allowed: func(line string) bool { return line != "" }},
		{text: "Sandbox for agents and checks (" + strings.Join(boxes, ", ") + ")", answer: &a.sandbox,
			allowed: func(name string) bool { return slices.Contains(boxes, name) }},
		{text: "Let another agent review each task? It finds wrong code that no test notices, " +
			"for about one more call per task (true, false)",
			answer: &a.qa, allowed: func(word string) bool { return word == "true" || word == "false" }},
	} {
		spec, err := agent.Find(a.agent, cfg.Agents()...)
		switch {
		case q.answer == &a.command && (err != nil || spec.Bin != "" || cfg.AgentCmd != ""),
			q.answer == &a.sandbox && len(boxes) == 1:
			continue
		case q.answer == &a.command:
			q.text += spec.About
		case q.answer == &a.qa: // a program that prints plain text need not know how to review
			a.qa = cmp.Or(a.qa, strconv.FormatBool(cfg.QA || spec.Format != agent.FormatText))
		}
		if err := o.askOne(in, q); err != nil {
			return err
		}
	}
	return nil
}

// working are the sandboxes that work here.
func working(cfg *config.Config) (names []string) {
	for _, trial := range cfg.Settings.Try() {
		if trial.Err == nil {
			names = append(names, trial.Name)
		}
	}
	return names
}

func (o *initOptions) askOne(in *bufio.Reader, q initQuestion) error {
	if *q.answer != "" && q.command {
		q.text += " (- for none)"
	}
	preset := *q.answer
	return o.Ask(in, q.text, preset, func(line string) error {
		switch {
		case line == preset && (preset != "" || !q.required):
		case line == "-" && q.command:
			line = ""
		case strings.HasPrefix(line, "-") || cmdline.Inert(line) != line || q.allowed != nil && !q.allowed(line):
			return fmt.Errorf("%q is not allowed here", line)
		}
		*q.answer = line
		return nil
	})
}
