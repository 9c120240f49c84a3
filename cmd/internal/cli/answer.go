package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/question"
)

// newAnswerCmd returns ralph answer.
func newAnswerCmd(f *cmdline.Factory) *cobra.Command {
	option, by := "", ""
	cmd := &cobra.Command{
		Use: "answer ID [TEXT...]", Short: "Answer an agent's question; its task continues",
		Args: cmdline.Takes("the id of a question", cobra.MinimumNArgs(1)),
		Long: "Answer a question that ralph questions lists. The answer goes into the next prompt of its task, once. The task\n" +
			"continues when all its questions are answered. If no run is active, the next run takes the answer.",
		Example: "  ralph answer q1 Use PostgreSQL 16\n  ralph answer q2 --option 1",
		RunE: func(_ *cobra.Command, args []string) error {
			return answerRun(f, args[0], strings.Join(args[1:], " "), option, by)
		},
	}
	cmd.Flags().StringVar(&option, "option", "", "Choose option `N` of the question.")
	cmd.Flags().StringVar(&by, "by", "ralph answer", "Where the answer comes from.")
	_ = cmd.Flags().MarkHidden("by") // for ralph-hub; fails only for an unknown flag
	return cmd
}

// answerRun answers with a text, or with the number of an option; by says where the answer comes from.
func answerRun(f *cmdline.Factory, id, text, option, by string) error {
	r, dir, err := f.AsPerson("answer a question that is put to a person")
	if err != nil {
		return err
	}
	store := question.In(r)
	switch {
	case option != "" && text != "":
		return cmdline.UsageError("answer takes a text or --option, not both")
	case option != "":
		q, err := store.Get(id)
		if err == nil {
			n, bad := strconv.Atoi(option)
			if bad != nil {
				return cmdline.UsageError("--option %q is not allowed: the number of an option, "+
					"as ralph questions %s shows it", option, q.ID)
			}
			text, err = q.Option(n)
		}
		if err != nil {
			return cmdline.UsageError("%v", err)
		}
	}
	q, err := store.Answered(id, text, termtext.Unwrap(by))
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	f.Wrote(dir, state.QuestionFile(q.ID))
	next := "the next run takes it: ralph resume"
	if owner, alive := r.Owner(); alive {
		next = "run " + owner.RunID + " takes it"
	} else if err := tellAnswered(f, r, store); err != nil {
		f.Warn(err)
	}
	f.Say("answered %s: %s; %s", q.ID, termtext.Line(q.Answer), next)
	return nil
}

// tellAnswered records in status.json that the run that ended to wait for answers has them all. How it ended does not change.
func tellAnswered(f *cmdline.Factory, r *state.Reader, store question.Store) error {
	all, err := store.List()
	if s, _ := r.Status(); err != nil || s.Rule != state.RuleQuestion ||
		slices.ContainsFunc(all, question.Question.Open) {
		return err // without a status, no run waits for anything
	}
	return goOn(f, r, func(s *state.Status) bool {
		s.Reason = "the questions that it waited for are answered"
		return s.Rule == state.RuleQuestion
	})
}

// goOn records in status.json that ralph resume comes next, if the latest run has ended and what it waits for is true now.
func goOn(f *cmdline.Factory, r *state.Reader, is func(*state.Status) bool) error {
	w, err := f.Lock(r.Dir(), "resume")
	if _, locked := errors.AsType[*state.LockedError](err); locked { // a run that starts now, or another verb
		return nil
	} else if err != nil {
		return err
	}
	defer w.Release()
	s, err := w.Status()
	if err != nil || s.Active() || !is(&s) {
		return err
	}
	next := "ralph resume"
	if reset := "ralph reset --circuit && "; strings.Contains(s.Next, reset) {
		next = reset + next
	}
	s.Next = next
	return w.SaveStatus(s)
}
