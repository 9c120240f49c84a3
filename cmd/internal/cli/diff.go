package cli

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/runner/git/history"
)

type diffOptions struct {
	pastOptions
	arg  string // which iterations; empty: the last one
	stat bool
}

// newDiffCmd returns ralph diff.
func newDiffCmd(f *cmdline.Factory) *cobra.Command {
	o := &diffOptions{pastOptions: pastOptions{Factory: f}}
	cmd := &cobra.Command{
		Use: "diff [N|A..B|TASK]", Short: "Show what an iteration, a range of them or a task changed",
		Args: cmdline.Takes("at most one iteration, range or task", cobra.MaximumNArgs(1)),
		Long: "Show as a patch what iteration N changed, what changed between the end of iteration A and the end of B, or what each\n" +
			"iteration of a task changed. Without an argument, show the last iteration. If A is 0, it means the start of the run.\n" +
			"A terminal or pipe gets the patch without characters that control a terminal, a file gets the exact one.",
		Example: "  ralph diff         # of the last iteration\n  ralph diff 3\n  ralph diff 2..5 --stat\n" +
			"  ralph diff T4      # of all iterations of task T4",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.arg = strings.Join(args, "")
			return diffRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.stat, "stat", false, "Show only the names of the files, and how many lines changed.")
	o.flag(cmd)
	return cmd
}

func diffRun(ctx context.Context, o *diffOptions) error {
	p, err := o.read(ctx)
	if err != nil {
		return err
	}
	arg := o.arg
	switch {
	case arg != "":
	case len(p.kept) > 0:
		arg = strconv.Itoa(p.kept[len(p.kept)-1].Iteration)
	default:
		arg = strconv.Itoa(p.events[len(p.events)-1].Number)
	}
	if first, second, isRange := strings.Cut(arg, ".."); isRange {
		return o.between(ctx, p, first, second)
	}
	n, err := strconv.Atoi(arg)
	if err != nil {
		return o.task(ctx, p, arg)
	}
	k, err := p.iteration(n)
	if err != nil {
		return err
	}
	if k.Base == "" {
		return cmdline.UsageError("the state before iteration %d is not known", n)
	}
	return o.patch(ctx, p, [2]string{k.Base, k.OID})
}

// between shows what changed from the end of one iteration to that of another.
func (o *diffOptions) between(ctx context.Context, p *past, first, second string) error {
	a, err := p.number(first)
	if err != nil {
		return err
	}
	b, err := p.number(second)
	if err != nil {
		return err
	}
	if a > b {
		return cmdline.UsageError("%d..%d goes backwards; what changed from the end of %[2]d to the end of %[1]d: "+
			"ralph diff %[2]d..%[1]d%[3]s", a, b, p.flag)
	}
	from, err := p.end(a)
	if err != nil {
		return err
	}
	to, err := p.end(b)
	if err != nil {
		return err
	}
	return o.patch(ctx, p, [2]string{from.OID, to.OID})
}

func (o *diffOptions) patch(ctx context.Context, p *past, states [2]string) error {
	var options []string
	if o.stat {
		options = append(options, "--stat")
	}
	patch, err := history.Diff(ctx, p.dir, states, options...)
	if err != nil {
		return err
	}
	switch file, _ := o.Out.(*os.File); {
	case o.IsTerminal():
		patch = cmdline.Inert(patch)
	case file == nil || !isRegular(file): // a pager or a program; a file gets the exact patch
		exact := patch
		if patch = termtext.Defuse(exact); patch != exact {
			o.Warn("the patch has characters that control a terminal, and a pipe gets it without them; " +
				"for the exact patch write it to a file: ralph diff ... >FILE")
		}
	}
	_, err = io.WriteString(o.Out, patch)
	return err
}

func isRegular(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// task shows the patches of a task's iterations, in order. git apply skips the headings
// between them.
func (o *diffOptions) task(ctx context.Context, p *past, id string) error {
	all, err := p.named(id)
	if err != nil {
		return err
	}
	for _, why := range p.unkeptOf(id) {
		o.Say("%s", why)
	}
	for _, k := range slices.Backward(all) {
		if k.Base == "" {
			return cmdline.UsageError("the state before iteration %d is not known", k.Iteration)
		}
		o.Say("iteration %d: %s", k.Iteration, p.task(k))
		if err := o.patch(ctx, p, [2]string{k.Base, k.OID}); err != nil {
			return err
		}
	}
	return nil
}
