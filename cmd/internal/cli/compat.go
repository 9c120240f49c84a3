package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
)

// addCompatFlags adds verbs that existing tools have as flags. They win over
// the run that the root command would start.
func addCompatFlags(root *cobra.Command, f *cmdline.Factory) {
	var status, circuitStatus, showVersion bool
	reset := &resetOptions{Factory: f}
	root.Flags().BoolVarP(&status, "status", "s", false, "Same as: ralph status.")
	root.Flags().BoolVar(&reset.circuit, "reset-circuit", false, "Same as: ralph reset --circuit.")
	root.Flags().BoolVar(&reset.session, "reset-session", false, "Same as: ralph reset --session.")
	root.Flags().BoolVar(&circuitStatus, "circuit-status", false, "Show the circuit breaker.")
	root.Flags().BoolVar(&showVersion, "version", false, "Print the version.")
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case showVersion:
			return newVersionCmd(f).RunE(cmd, args)
		case status:
			return newStatusCmd(f).RunE(cmd, args)
		case reset.circuit || reset.session:
			return resetRun(reset)
		case circuitStatus:
			return circuitStatusRun(f)
		}
		return run(cmd, args)
	}
}
