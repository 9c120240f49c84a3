package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// newControlCmds returns the verbs that ask a running ralph for something,
// except resume, which can also start one.
func newControlCmds(f *cmdline.Factory) []*cobra.Command {
	var verbs []*cobra.Command
	for _, row := range []struct {
		request state.Request
		help    string
	}{
		{state.RequestPause, "Pause the run after its current iteration"},
		{state.RequestSkip, "End the current iteration and take the next task; the skipped one comes last"},
		{state.RequestStop, "End the run after its current iteration (exit code 130, or 0 and 9 if that completes it)"},
		{state.RequestAbort, "End the run and its agent now (exit code 130)"},
	} {
		verbs = append(verbs, &cobra.Command{
			Use: string(row.request), Short: row.help, Args: cmdline.NoArgs, Example: "  ralph " + string(row.request),
			RunE: func(*cobra.Command, []string) error { return controlRun(f, row.request) },
		})
	}
	return verbs
}

func controlRun(f *cmdline.Factory, q state.Request) error {
	r, dir, err := f.Reader()
	if err != nil {
		return err
	}
	owner, alive := r.Owner()
	if !alive {
		return cmdline.UsageError("no ralph is running in %q, so there is nothing to %s; see: ralph status", dir, q)
	}
	return send(f, r, owner, q)
}

func send(f *cmdline.Factory, r *state.Reader, owner state.Owner, q state.Request) error {
	sent := q
	if f.Inside(filepath.Dir(r.Dir())) != "" {
		sent = q.OfAgent()
	}
	if err := state.Send(r.Dir(), sent); err != nil {
		return err
	}
	f.Say("asked run %s (pid %d) to %s%s", owner.RunID, owner.PID, q, about(q, r))
	return nil
}

// about says when a request is obeyed that waits, and names the task that a skip is about.
func about(q state.Request, r *state.Reader) string {
	s, err := r.Status()
	if err == nil && s.Status == state.StatusRunning && (q == state.RequestPause || q == state.RequestStop) {
		return " after this iteration"
	}
	if err != nil || q != state.RequestSkip || s.Task.Title == "" {
		return ""
	}
	next := ""
	if s.Status != state.StatusRunning {
		next = ", which comes next"
	}
	return fmt.Sprintf(" %.80q%s", s.Task.Title, next)
}
