package cmdline

// The groups of verbs in the help text.
const (
	GroupRun    = "run"
	GroupLook   = "look"
	GroupPlan   = "plan"
	GroupGoBack = "go back"
	GroupSetUp  = "set up"
)
