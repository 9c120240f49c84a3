package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state/question"
)

type questionsOptions struct {
	*cmdline.Factory
	id        []string // of one question; none: list them
	all, json bool
}

// newQuestionsCmd returns ralph questions.
func newQuestionsCmd(f *cmdline.Factory) *cobra.Command {
	o := &questionsOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "questions [ID]", Short: "List what agents ask you, or show one question with its context",
		Args: cmdline.Takes("one question at most", cobra.MaximumNArgs(1)),
		Long: "List the questions of agents that wait for an answer. The task of a question waits; other tasks continue. With ID,\n" +
			"show one question with its options and what the agent said around it.",
		Example: "  ralph questions\n  ralph questions q1\n  ralph questions --all --json",
		RunE: func(_ *cobra.Command, args []string) error {
			o.id = args
			return questionsRun(o)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "Also list questions that have an answer.")
	cmd.Flags().BoolVar(&o.json, "json", false, "Print an array of objects.")
	return cmd
}

func questionsRun(o *questionsOptions) error {
	r, _, err := o.Reader()
	if err != nil {
		return err
	}
	store := question.In(r)
	if len(o.id) > 0 {
		return o.show(store)
	}
	list, err := store.List()
	if err != nil {
		return err
	}
	return o.list(wanted(list, o.all))
}

func wanted(list []question.Question, all bool) []question.Question {
	kept := []question.Question{} // in JSON: never null
	for _, q := range list {
		if all || q.Open() {
			kept = append(kept, q)
		}
	}
	return kept
}

func (o *questionsOptions) list(list []question.Question) error {
	if o.json {
		return cmdline.NewEncoder(o.Out).Encode(list)
	}
	if len(list) == 0 {
		o.Say("no question waits for an answer")
	}
	for _, q := range list {
		o.Say("%s  %s", q.ID, termtext.Line(q.Text))
		for i, option := range q.Options {
			o.Say("    %d  %s", i+1, option)
		}
		if q.Title != "" {
			o.Say("    task: %s", termtext.Line(q.Title))
		}
		if q.Open() {
			o.Say("    answer: %s", howTo(q))
		} else {
			o.Say("    answered (%s): %s", q.AnsweredBy, termtext.Line(q.Answer))
		}
	}
	return nil
}

// howTo is the command that answers a question.
func howTo(q question.Question) string {
	if len(q.Options) > 0 {
		return fmt.Sprintf("ralph answer %s --option N, or ralph answer %[1]s TEXT", q.ID)
	}
	return fmt.Sprintf("ralph answer %s TEXT", q.ID)
}

func (o *questionsOptions) show(store question.Store) error {
	q, err := store.Get(o.id[0])
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if err := o.list([]question.Question{q}); err != nil || o.json {
		return err
	}
	o.Say("    asked: %s, in iteration %d of run %s", q.AskedAt.Local().Format("2006-01-02 15:04"), q.Iteration, q.Run)
	if q.Context != "" {
		o.Say("\n%s", q.Context)
	}
	return nil
}
