package historycmd

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/git/history"
)

func (a *verbs) diff(ctx context.Context, run, arg string, stat bool) error {
	p, err := a.past(ctx, run)
	if err != nil {
		return err
	}
	switch {
	case arg != "":
	case len(p.kept) > 0:
		arg = strconv.Itoa(p.kept[len(p.kept)-1].Iteration)
	default:
		arg = strconv.Itoa(p.events[len(p.events)-1].Number)
	}
	if _, err := strconv.Atoi(arg); err != nil && !strings.Contains(arg, "..") {
		return a.diffTask(ctx, p, arg, stat)
	}
	first, second, isRange := strings.Cut(arg, "..")
	if a, err1 := strconv.Atoi(first); isRange && err1 == nil {
		if b, err2 := strconv.Atoi(second); err2 == nil && a > b {
			return cmdline.UsageError("%s goes backwards; what changed from the end of %d to the end of %d: ralph diff %[2]d..%[3]d", arg, b, a)
		}
	}
	to, err := p.number(first)
	if err != nil {
		return err
	}
	from := to.Base
	if isRange {
		from = to.OID
		if to, err = p.number(second); err != nil {
			return err
		}
	}
	if from == "" {
		return cmdline.UsageError("the state before iteration %s is not known", first)
	}
	return a.patch(ctx, p, [2]string{from, to.OID}, stat)
}

func (a *verbs) patch(ctx context.Context, p *past, states [2]string, stat bool) error {
	var options []string
	if stat {
		options = append(options, "--stat")
	}
	patch, err := history.Diff(ctx, p.dir, states, options...)
	if err != nil {
		return err
	}
	if a.IsTerminal() {
		patch = cmdline.Inert(patch) // not in a pipe: a program needs the exact patch
	}
	_, err = io.WriteString(a.Out, patch)
	return err
}

// diffTask shows the patches of a task's iterations, in order. git apply skips the headings
// between them.
func (a *verbs) diffTask(ctx context.Context, p *past, id string, stat bool) error {
	all, err := p.named(id)
	if err != nil {
		return err
	}
	for _, why := range p.unkeptOf(id) {
		a.Say("%s", why)
	}
	for _, k := range slices.Backward(all) {
		if k.Base == "" {
			return cmdline.UsageError("the state before iteration %d is not known", k.Iteration)
		}
		a.Say("iteration %d: %s", k.Iteration, p.task(k))
		if err := a.patch(ctx, p, [2]string{k.Base, k.OID}, stat); err != nil {
			return err
		}
	}
	return nil
}
