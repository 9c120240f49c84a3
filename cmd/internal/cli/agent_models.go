package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

func newModelsCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "models [NAME]", Short: "Print the models of an agent, one per line",
		Args: cmdline.Takes("at most one name", cobra.MaximumNArgs(1)),
		Long: "Print the models of an agent, one per line: those that its program lists (at most a day old), or else\n" +
			"those that its documentation names. An agent may accept others, too.",
		Example:           "  ralph agent models opencode",
		ValidArgsFunction: cmdline.FirstArg(cmdline.CompleteAgents(f)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return modelsRun(cmd.Context(), f, strings.Join(args, ""))
		},
	}
}

func modelsRun(ctx context.Context, f *cmdline.Factory, name string) error {
	p, loader, err := open(f, nil)
	if err != nil {
		return err
	}
	one, err := p.Find(cmp.Or(name, p.Config.Agent))
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if err := f.Trust(loader); err != nil { //nolint:contextcheck // asks for parents of this process, in milliseconds
		return err
	}
	names := p.Models(ctx, one, loader.StateHome())
	for _, model := range names {
		f.Say("%s", model)
	}
	if len(names) == 0 {
		f.Warn(fmt.Sprintf("the models of %s are not known; any name is passed on to it", one.Spec.Name))
	}
	return nil
}
