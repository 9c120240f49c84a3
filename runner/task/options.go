package task

// PlanOptions is what a user can say about the plan.
type PlanOptions struct {
	PlanFile         string   // empty: found
	OptionalSections []string // headings whose open boxes keep no run going
}
