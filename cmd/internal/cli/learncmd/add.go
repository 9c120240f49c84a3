package learncmd

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs"
	"ralph/runner/memory"
)

type addOptions struct {
	*cmdline.Factory
	text  string
	paths []string
}

func newAddCmd(f *cmdline.Factory) *cobra.Command {
	o := &addOptions{Factory: f}
	cmd := &cobra.Command{Use: "add TEXT", Short: "Add a lesson", Args: cmdline.Takes("a text", cobra.MinimumNArgs(1)),
		Example: "  ralph learn add 'Run npm run gen after changing the schema'",
		RunE: func(_ *cobra.Command, args []string) error {
			o.text = strings.Join(args, " ")
			return addRun(o)
		}}
	cmd.Flags().StringArrayVar(&o.paths, "path", nil, "`FILE` that the lesson is about; may be given more than once.")
	return cmd
}

func addRun(o *addOptions) error {
	l, ok := memory.New(logs.Redact(o.text), memory.Pattern, time.Now())
	if !ok {
		return cmdline.UsageError("the lesson is empty")
	}
	for _, p := range o.paths {
		if filepath.IsAbs(p) || !filepath.IsLocal(p) {
			return cmdline.UsageError("--path %q: a path in the project, relative to its folder", p)
		}
		l.Paths = append(l.Paths, filepath.ToSlash(filepath.Clean(p)))
	}
	return change(o.Factory, func(_ string, all []memory.Lesson) ([]memory.Lesson, error) {
		n := len(all)
		all, l = memory.Add(all, l)
		if len(all) == n {
			more := ""
			if len(o.paths) > 0 {
				more = "; it is about " + strings.Join(l.Paths, ", ")
			}
			o.Say("%s says so already: %s%s", l.ID, cmdline.Inert(l.Text), cmdline.Inert(more))
			return all, nil
		}
		o.Say("added %s", l.ID)
		if why := memory.Refuse(l.Text); why != "" {
			o.Note("%s", "kept because a person says it; from an agent it would not be: "+why)
		}
		return all, nil
	})
}
