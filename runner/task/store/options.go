package store

import (
	"slices"

	"ralph/state/option"
)

// PlanOptions are the user's options for the plan.
type PlanOptions struct {
	Selection

	PlanFile         string   // empty: the result of Find
	OptionalSections []string // headings with tasks that a run need not finish
}

// Options returns the rows of the option table that fill o.
func (o *PlanOptions) Options() []option.Row {
	return slices.Concat([]option.Row{{
		Group: "Prompt and plan", Key: "PLAN_FILE", Flag: "plan", Arg: "PATH", YAML: "plan.file",
		Kind: option.Path, Field: &o.PlanFile,
		Help: "Plan, a file or folder; empty means the first one found: .ralph/fix_plan.md, fix_plan.md, " +
			"@fix_plan.md, prd.json, .ralph/prd.json, then the other formats (docs/plans.md).",
	}, {
		Group: "Prompt and plan", Key: "OPTIONAL_SECTIONS", YAML: "plan.optional_sections",
		Kind: option.List, Default: "Optional,Future,Future Enhancements,Nice to Have", Field: &o.OptionalSections,
		Help: "Headings in the plan whose open tasks do not keep a run going.",
	}}, o.Selection.Options())
}
