package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/ptyexec"
	"ralph/runner/agenthooks"
	"ralph/runner/gate/report"
)

const (
	// inputMost bounds what an agent CLI says: a tool call may hold a whole file.
	inputMost = 64 << 20
	// lintTime ends a linter before the CLI would end the hook.
	lintTime = 50 * time.Second
)

// newHookCmd returns ralph hook: what an agent CLI runs within a call. People do not type it.
func newHookCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{Use: "hook", Short: "Answer a hook of an agent CLI", Hidden: true,
		Example: "  echo '{}' | ralph hook stop --facts '{}'",
		Long: "Answer a hook of an agent CLI. What the CLI says is read from stdin as JSON, and the answer is written to stdout.\n" +
			"ralph hands these commands over with each call: HOOK_STOP, HOOK_LINT, HOOK_AUTO_APPROVE.",
		RunE: cmdline.Parent,
	}
	for _, one := range []struct {
		name, short string
		answer      func(agenthooks.Input, agenthooks.Facts) any
	}{
		{agenthooks.Stop, "Say whether the agent may stop", agenthooks.AtStop},
		{agenthooks.PostToolUse, "Look at an edited file",
			func(in agenthooks.Input, facts agenthooks.Facts) any { return lint(f, in, facts) }},
		{agenthooks.PreToolUse, "Allow or refuse a tool call", agenthooks.BeforeTool},
	} {
		var facts string
		verb := &cobra.Command{Use: one.name, Short: one.short, Args: cmdline.NoArgs,
			Example: "  echo '{}' | ralph hook " + one.name,
			RunE:    func(*cobra.Command, []string) error { return hookRun(f, facts, one.answer) }}
		verb.Flags().StringVar(&facts, "facts", "{}", "What ralph knows about the call, as `JSON`.")
		cmd.AddCommand(verb)
	}
	return cmd
}

func hookRun(f *cmdline.Factory, text string, answer func(agenthooks.Input, agenthooks.Facts) any) error {
	facts, err := agenthooks.ReadFacts(text)
	if err != nil {
		return cmdline.UsageError("--facts: %v", err)
	}
	data, err := io.ReadAll(io.LimitReader(f.In, inputMost))
	if err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	in, err := agenthooks.ReadInput(data)
	if err != nil {
		return err
	}
	said := answer(in, facts)
	if said == nil {
		return nil
	}
	return json.NewEncoder(f.Out).Encode(said)
}

// lint runs the linter of a file. What cannot run finds nothing.
func lint(f *cmdline.Factory, in agenthooks.Input, facts agenthooks.Facts) any {
	file := in.Path()
	line := agenthooks.Linter(facts.Lint, file)
	if file == "" || line == "" {
		return nil
	}
	out := &report.Excerpt{Head: 2 << 10, Tail: 2 << 10}
	exit, err := ptyexec.Run(context.Background(),
		ptyexec.Command{Args: []string{"/bin/sh", "-c", line}, Dir: in.Dir, Env: f.Env, Pipe: true, Timeout: lintTime},
		func(p []byte) bool { _, _ = out.Write(p); return false })
	if err != nil || exit.Cause != ptyexec.CauseExited || exit.Code == 0 {
		return nil
	}
	return agenthooks.AfterTool(file, out.String())
}
