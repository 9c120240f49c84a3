package hub

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/hub/acp"
	"ralph/runner/agent/argv"
)

func newACPCmd() *cobra.Command {
	var c acp.Call
	cmd := &cobra.Command{
		Use:   "acp AGENT [ARG...] -- [FLAG...]",
		Short: "Make one call to an agent that speaks the Agent Client Protocol", Hidden: true,
		Long: "Make one call to an agent that speaks the Agent Client Protocol. The prompt comes on standard input; what the agent\n" +
			"does goes to standard output as JSON lines. ralph calls it for AGENT=acp.",
		Example:            "  ralph-hub acp gemini --acp -- --permit allowed-tools --allow Edit --model flash",
		DisableFlagParsing: true, // those before -- are the agent's
		RunE: func(cmd *cobra.Command, args []string) error {
			split := slices.Index(args, "--")
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if split < 1 {
				return usageError{errors.New("it takes the agent's command line, then -- and flags")}
			}
			c.Args = args[:split]
			flags := cmd.Flags()
			if err := flags.Parse(args[split+1:]); err != nil {
				return usageError{err}
			}
			modes := []string{argv.PermitAllowedTools, argv.PermitBypass, argv.PermitReadOnly}
			if !slices.Contains(modes, c.Policy.Mode) || flags.NArg() > 0 {
				return usageError{fmt.Errorf("after -- it takes flags only; --permit is one of %s",
					strings.Join(modes, ", "))}
			}
			prompt, err := io.ReadAll(os.Stdin)
			if err == nil {
				c.Dir, err = os.Getwd()
			}
			if err != nil {
				return fmt.Errorf("read prompt: %w", err)
			}
			c.Prompt = string(prompt)
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if c.Run(ctx, os.Stdout) != nil {
				return exited(1) // the last record says why
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Policy.Mode, "permit", argv.PermitAllowedTools, "What it may do that asks first: `MODE`.")
	f.StringArrayVar(&c.Policy.Allowed, "allow", nil, "An `ENTRY` of ALLOWED_TOOLS.")
	f.StringVar(&c.Model, "model", "", "The `NAME` of a model.")
	f.StringVar(&c.Session, "resume", "", "The `ID` of a session to resume.")
	return cmd
}
