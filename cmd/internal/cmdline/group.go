package cmdline

import "github.com/spf13/cobra"

// The groups of verbs in the help text.
const (
	GroupRun    = "run"
	GroupLook   = "look"
	GroupPlan   = "plan"
	GroupGoBack = "go back"
	GroupSetUp  = "set up"
)

// AddVerbs adds verbs to a group of root.
func AddVerbs(root *cobra.Command, group string, verbs ...*cobra.Command) {
	for _, verb := range verbs {
		verb.GroupID = group
	}
	root.AddCommand(verbs...)
}
