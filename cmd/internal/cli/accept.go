package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
)

func newAcceptCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "accept [N]", Short: "Accept what a run left for your review",
		Args: cmdline.Takes("one item at most", cobra.MaximumNArgs(1)),
		Long: "Accept item N of a run that ended with review, or all items. ralph status lists each item with the command that\n" +
			"shows it. When no item is left, the run counts as completed. To allow settings of the project before a run, use\n" +
			"ralph trust.",
		Example: "  ralph status\n  ralph accept 1\n  ralph accept",
		RunE: func(_ *cobra.Command, args []string) error {
			return f.WithLock("accept", "accept its own work", func(w *state.Writer) error {
				return acceptRun(f, w, strings.Join(args, ""))
			})
		},
	}
}

// acceptRun accepts an item; empty: all.
func acceptRun(f *cmdline.Factory, w *state.Writer, item string) error {
	s, err := w.Status()
	if err != nil {
		return err
	}
	if s.ExitReason == "questions" || s.ExitReason == state.RuleBlocked {
		return cmdline.UsageError("nothing to accept in the last run: %s; %s", s.Reason, s.Next)
	}
	if s.Status != state.StatusReview {
		return cmdline.UsageError("nothing to accept: the last run did not end with review; see: ralph status")
	}
	if s.Undone > 0 {
		return cmdline.UsageError("nothing to accept yet: iterations were undone since; continue first: %s", s.Next)
	}
	n, err := strconv.Atoi(item)
	known := slices.ContainsFunc(s.Review, func(i state.ReviewItem) bool { return i.N == n })
	if item != "" && (err != nil || !known) {
		return cmdline.UsageError("there is no item %q; ralph status lists them", item)
	}
	all := s.Review
	s.Review = nil
	for _, i := range all {
		if item != "" && i.N != n {
			s.Review = append(s.Review, i)
			continue
		}
		s.Accepted = append(s.Accepted, i.Text)
		f.Say("accepted: %s", i.Text)
	}
	if len(s.Review) == 0 {
		s.Status, s.ExitReason, s.ExitCode, s.Next = state.StatusCompleted, "plan_complete", state.ExitComplete, ""
		s.Rule, s.Reason = state.RulePlanComplete, "everything is done, and a person has accepted what was left to look at"
		s.Unproven = cmp.Or(s.Unproven, "a person accepted what was left")
		if err := closeBreaker(w, &s); err != nil {
			return err
		}
	}
	if err := w.SaveStatus(s); err != nil {
		return err
	}
	if len(s.Review) == 0 {
		f.Say("nothing is left to look at: the run is completed")
	} else {
		f.Say("%s left; see: ralph status", termtext.Count(len(s.Review), "item"))
	}
	return nil
}

// closeBreaker closes the breaker, as the end of a completed run does: idle iterations of this
// plan say nothing about the next one.
func closeBreaker(w *state.Writer, s *state.Status) error {
	b, err := w.Breaker()
	if err != nil {
		return err
	}
	s.Breaker = state.BreakerStatus{State: state.BreakerClosed}
	return w.SaveBreaker(b.Closed())
}
