package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"ralph/cmd/internal/drill"
	"ralph/logs"
	"ralph/ptyexec"
	"ralph/runner"
	"ralph/runner/agent"
	"ralph/runner/rules"
)

const (
	// testPrompt is the harmless turn.
	testPrompt = "Answer with the single word ok."
	// testBound is what it may take: an agent that retries by itself for longer is of no use now.
	testBound = 2 * time.Minute
	testGrace = 10 * time.Second // for its own end after its answer
)

func (a *app) agentTestCommand() *cobra.Command {
	var yes bool
	var model string
	cmd := &cobra.Command{
		Use: "test [NAME]", Short: "Ask one agent one harmless question; costs one call", Args: takes("one name at most", cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			flags := map[string]string{}
			if model != "" {
				flags["MODEL"] = model
			}
			return a.agentTest(args, flags, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before the call")
	cmd.Flags().StringVar(&model, "model", "", "`model` to ask for; default: as in a run")
	return cmd
}

func (a *app) agentTest(args []string, flags map[string]string, yes bool) error {
	s, loader, err := a.configured(flags)
	if err != nil {
		return err
	}
	name := s.cfg.Agent
	if len(args) > 0 {
		name = args[0]
	}
	one, err := s.find(name)
	if err != nil {
		return usageError("%v", err)
	}
	if err := a.askTrust(loader); err != nil {
		return err
	}
	if err := s.installed(one); err != nil {
		return err
	}
	a.say("%s", costOf(one))
	if !yes {
		if !isatty.IsTerminal(a.in.Fd()) {
			return usageError("agent test asks before it makes the call, and there is no terminal; agree with: ralph agent test %s --yes", name)
		}
		fmt.Fprint(a.err, "Make this call? [y/N] ")
		answer, _ := bufio.NewReader(a.in).ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return &exitError{rules.ExitInterrupted, "no call was made"}
		}
	}
	t, err := a.askOnce(s, one)
	if err != nil {
		return err
	}
	t.print(a)
	if code := t.code(); code != rules.ExitComplete {
		return &exitError{code, fmt.Sprintf("%s did not answer: %s", name, inert(t.scene.Outcome.Reason))}
	}
	a.say("%s works", name)
	return nil
}

// costOf says what a trial costs, before it is made.
func costOf(one runner.Agent) string {
	return fmt.Sprintf("asks %s once, in an empty temporary project: %q. It costs one call on your account: some words, and the agent's own instructions.", one.Spec.Name, testPrompt)
}

// trial is one real call, and what a run would do after it.
type trial struct {
	scene drill.Scene
	final string
	exit  ptyexec.Exit
}

// askOnce makes one call with the options of a run, away from the project.
func (a *app) askOnce(s *setup, one runner.Agent) (trial, error) {
	var t trial
	dir, err := os.MkdirTemp("", "ralph-agent-test-")
	if err != nil {
		return t, fmt.Errorf("make temporary project: %w", err)
	}
	defer os.RemoveAll(dir)
	sig := handleSignals(a.in)
	defer sig.stop()
	initCtx, cancel := context.WithTimeout(sig.ctx, 10*time.Second)
	defer cancel()
	// Without git the agent is asked all the same.
	_ = exec.CommandContext(initCtx, "git", "-C", dir, "-c", "init.defaultBranch=main", "init", "-q").Run()
	cmd, done, err := one.Spec.Prepare(agent.Request{
		Prompt: testPrompt, Model: s.cfg.Model, AllowedTools: s.cfg.AllowedTools, PermissionMode: s.cfg.PermissionMode,
		Program: s.program(one), Dir: dir, Env: a.env, Filter: s.cfg.EnvFilter(), Root: os.Geteuid() == 0,
	})
	if err != nil {
		return t, err
	}
	defer done()
	cmd.Timeout, cmd.FinalGrace, cmd.Kill = min(testBound, s.cfg.Timeout), testGrace, sig.kill
	transcript := &agent.Transcript{}
	decoder := one.Spec.NewDecoder(transcript.Add)
	t.exit, err = ptyexec.Run(sig.ctx, cmd, func(p []byte) bool {
		_, _ = decoder.Write(p) // never fails
		return decoder.Final()
	})
	decoder.Close()
	if err != nil {
		return t, &exitError{rules.ExitAgent, err.Error()}
	}
	if interrupt, ok := context.Cause(sig.ctx).(*rules.Interrupt); ok { //nolint:errorlint // the cause is set, never wrapped
		return t, &exitError{interrupt.Exit, "interrupted: " + interrupt.Why}
	}
	now := time.Now()
	t.final = transcript.Final
	t.scene = drill.Answer(transcript, one.Spec.Classify(transcript, t.exit, now), t.exit, drill.Setting{Spec: one.Spec, Options: s.cfg.Options, Now: now})
	return t, nil
}

// program is the user's own command line for the agent, as it works in any folder.
func (s *setup) program(one runner.Agent) []string {
	program := append([]string(nil), one.Program...)
	if len(program) > 0 && strings.Contains(program[0], "/") && !filepath.IsAbs(program[0]) {
		program[0] = filepath.Join(s.dir, program[0])
	}
	return program
}

// installed is the check of a run, for a program relative to the project.
func (s *setup) installed(one runner.Agent) error {
	one.Program = s.program(one)
	return installed(one)
}

// lookProgram finds a program as a run in dir does.
func lookProgram(dir, name string) (string, error) {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return exec.LookPath(name)
}

// code is the exit code: that of a run which stops there; a limit is no answer either.
func (t trial) code() int {
	d := t.scene.Decision
	switch {
	case t.scene.Outcome.Class.Success():
		return rules.ExitComplete
	case d.Rule == "usage_limit":
		return rules.ExitLimited
	case d.Action == rules.ActionStop:
		return d.Exit
	}
	return rules.ExitError
}

// summary is the answer in one line.
func (t trial) summary() string {
	cost := "no cost told"
	if usd := t.scene.Usage.CostUSD; usd > 0 {
		cost = fmt.Sprintf("about %.4f USD by its own estimate", usd)
	}
	return fmt.Sprintf("%s in %.1f s, %s tokens, %s", t.scene.Outcome.Class, t.exit.Duration.Seconds(), humanize.Comma(t.scene.Usage.Total()), cost)
}

func (t trial) print(a *app) {
	o := t.scene.Outcome
	a.say("class     %s", o.Class)
	a.say("answer    %s", orDash(shorten(strings.Join(strings.Fields(inert(logs.Redact(t.final))), " "))))
	a.say("session   %s", orDash(inert(t.scene.Session)))
	a.say("took      %s", t.summary())
	a.say("why       %s", inert(o.Reason))
	a.say("record    %s", orDash(inert(o.Evidence)))
}
