package learncmd

import (
	"slices"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/memory"
)

func newForgetCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{Use: "forget ID...", Short: "Forget lessons",
		Args:              cmdline.Takes("the ids of lessons", cobra.MinimumNArgs(1)),
		ValidArgsFunction: complete(f), Example: "  ralph learn forget 3fa9c1",
		RunE: func(_ *cobra.Command, args []string) error { return forgetRun(f, args) }}
}

func forgetRun(f *cmdline.Factory, ids []string) error {
	return change(f, func(_ string, all []memory.Lesson) ([]memory.Lesson, error) {
		for _, id := range ids {
			i, err := find(all, id)
			if err != nil {
				return nil, err
			}
			f.Say("forgot %s  %s", all[i].ID, cmdline.Inert(all[i].Text))
			all = slices.Delete(all, i, i+1)
		}
		return all, nil
	})
}
