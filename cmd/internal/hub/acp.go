package hub

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/hub/acp"
	"ralph/runner/agent"
	"ralph/state"
)

type acpOptions struct{ acp.Call }

func newACPCmd() *cobra.Command {
	o := &acpOptions{}
	cmd := &cobra.Command{
		Use: "acp AGENT [ARG...] -- [FLAG...]", Hidden: true,
		Short: "Make one call to an agent that speaks the Agent Client Protocol",
		Long: "Make one call to an agent that speaks the Agent Client Protocol. The prompt comes on standard input; what the agent\n" +
			"does goes to standard output as JSON lines. ralph calls it for AGENT=acp.",
		Example:            "  ralph-hub acp gemini --acp -- --permit allowed-tools --allow Edit --model flash",
		DisableFlagParsing: true, // those before -- are the agent's
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			return acpRun(cmd.Context(), o, cmd.Flags(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Policy.Mode, "permit", agent.PermitAllowedTools, "What it may do that asks first: `MODE`.")
	f.StringArrayVar(&o.Policy.Allowed, "allow", nil, "An `ENTRY` of ALLOWED_TOOLS.")
	f.StringVar(&o.Model, "model", "", "The `NAME` of a model.")
	f.StringVar(&o.Session, "resume", "", "The `ID` of a session to resume.")
	return cmd
}

func acpRun(ctx context.Context, o *acpOptions, flags *pflag.FlagSet, args []string) error {
	split := slices.Index(args, "--")
	if split < 1 {
		return cmdline.UsageError("it takes the agent's command line, then -- and flags")
	}
	o.Args = args[:split]
	if err := flags.Parse(args[split+1:]); err != nil {
		return cmdline.UsageError("%v", err)
	}
	modes := []string{agent.PermitAllowedTools, agent.PermitBypass, agent.PermitReadOnly}
	if !slices.Contains(modes, o.Policy.Mode) || flags.NArg() > 0 {
		return cmdline.UsageError("after -- it takes flags only; --permit is one of %s", strings.Join(modes, ", "))
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err == nil {
		o.Dir, err = os.Getwd()
	}
	if err != nil {
		return fmt.Errorf("read prompt: %w", err)
	}
	o.Prompt = string(prompt)
	ctx, stop := untilSignal(ctx)
	defer stop()
	if o.Run(ctx, os.Stdout) != nil {
		return &cmdline.ExitError{Code: state.ExitError} // the last record says why
	}
	return nil
}
