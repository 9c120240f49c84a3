package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state/question"
)

// newQuestionsCmd returns ralph questions.
func newQuestionsCmd(f *cmdline.Factory) *cobra.Command {
	all, asJSON := false, false
	cmd := &cobra.Command{
		Use: "questions [ID]", Short: "List what agents ask you, or show one question with its context",
		Args: cmdline.Takes("one question at most", cobra.MaximumNArgs(1)),
		Long: "List the questions of agents that wait for an answer. The task of a question waits; other tasks continue. With ID,\n" +
			"show one question with its options and what the agent said around it.",
		Example: "  ralph questions\n  ralph questions q1\n  ralph questions --all --json",
		RunE: func(_ *cobra.Command, args []string) error {
			return questionsRun(f, strings.Join(args, ""), all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "Also list questions that have an answer.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print an array of objects.")
	return cmd
}

// questionsRun shows one question, with what the agent said around it, or lists those that wait for an answer.
func questionsRun(f *cmdline.Factory, id string, all, asJSON bool) error {
	r, _, err := f.Reader()
	if err != nil {
		return err
	}
	store, list := question.In(r), []question.Question{} // in JSON: never null
	if id != "" {
		q, err := store.Get(id)
		if err != nil {
			return cmdline.UsageError("%v", err)
		}
		list = append(list, q)
	} else {
		known, err := store.List()
		if err != nil {
			return err
		}
		for _, q := range known {
			if all || q.Open() {
				list = append(list, q)
			}
		}
	}
	if asJSON {
		return cmdline.NewEncoder(f.Out).Encode(list)
	}
	if len(list) == 0 {
		f.Say("no question waits for an answer")
	}
	for _, q := range list {
		f.Say("%s  %s", q.ID, termtext.Line(q.Text))
		for i, option := range q.Options {
			f.Say("    %d  %s", i+1, option)
		}
		if q.Title != "" {
			f.Say("    task: %s", termtext.Line(q.Title))
		}
		if q.Open() {
			f.Say("    answer: %s", howTo(q))
		} else {
			f.Say("    answered (%s): %s", q.AnsweredBy, termtext.Line(q.Answer))
		}
		if id != "" {
			f.Say("    asked: %s, in iteration %d of run %s", q.AskedAt.Local().Format("2006-01-02 15:04"), q.Iteration, q.Run)
			if q.Context != "" {
				f.Say("\n%s", q.Context)
			}
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
