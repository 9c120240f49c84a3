// Package touchcmd has the verbs by which a run and a person stay in touch: questions,
// answers, notifications.
package touchcmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
	"ralph/state/question"
)

// NewQuestionsCmd returns ralph questions.
func NewQuestionsCmd(f *cmdline.Factory) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "questions [ID]", Short: "List what agents ask you, or show one question with its context",
		Args: cmdline.Takes("one question at most", cobra.MaximumNArgs(1)),
		Long: "List the questions of agents that wait for an answer. The task of a question waits; other tasks continue. With ID,\n" +
			"show one question with its options and what the agent said around it.",
		Example: "  ralph questions\n  ralph questions q1\n  ralph questions --all --json",
		RunE: func(_ *cobra.Command, args []string) error {
			r, _, err := f.Reader()
			if err != nil {
				return err
			}
			store := question.In(r)
			if len(args) > 0 {
				return showQuestion(f, store, args[0], asJSON)
			}
			list, err := store.List()
			if err != nil {
				return err
			}
			return listQuestions(f, wanted(list, all), asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "Also list questions that have an answer.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print an array of objects.")
	cmd.ValidArgsFunction = cmdline.FirstArg(completeQuestions(f, true))
	return cmd
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

func listQuestions(f *cmdline.Factory, list []question.Question, asJSON bool) error {
	if asJSON {
		return cmdline.NewEncoder(f.Out).Encode(list)
	}
	if len(list) == 0 {
		f.Say("no question waits for an answer")
	}
	for _, q := range list {
		f.Say("%s  %s", q.ID, cmdline.OneLine(q.Text))
		for i, option := range q.Options {
			f.Say("    %d  %s", i+1, option)
		}
		if q.Title != "" {
			f.Say("    task: %s", cmdline.OneLine(q.Title))
		}
		if q.Advice != "" {
			f.Say("    analyst: %s", cmdline.OneLine(q.Advice))
		}
		if q.Open() {
			f.Say("    answer: %s", howTo(q))
		} else {
			f.Say("    answered (%s): %s", q.AnsweredBy, cmdline.OneLine(q.Answer))
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

func showQuestion(f *cmdline.Factory, store question.Store, id string, asJSON bool) error {
	q, err := store.Get(id)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if asJSON {
		return listQuestions(f, []question.Question{q}, true)
	}
	if err := listQuestions(f, []question.Question{q}, false); err != nil {
		return err
	}
	f.Say("    asked: %s, in iteration %d of run %s", q.AskedAt.Local().Format("2006-01-02 15:04"), q.Iteration, q.Run)
	if q.Context != "" {
		f.Say("\n%s", q.Context)
	}
	return nil
}

// completeQuestions completes ids. answered: those that are answered, too.
func completeQuestions(f *cmdline.Factory, answered bool) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if r, _, err := f.Reader(); err == nil {
			list, _ := question.In(r).List()
			for _, q := range wanted(list, answered) {
				ids = append(ids, cobra.CompletionWithDesc(q.ID, cmdline.Shorten(cmdline.OneLine(q.Text))))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// answerOptions are what a person answers.
type answerOptions struct {
	*cmdline.Factory
	option string // its number, from 1; empty: the answer is a text
	by     string // where it comes from
}

// NewAnswerCmd returns ralph answer.
func NewAnswerCmd(f *cmdline.Factory) *cobra.Command {
	o := &answerOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "answer ID [TEXT...]", Short: "Answer an agent's question; its task continues",
		Args: cmdline.Takes("the id of a question", cobra.MinimumNArgs(1)),
		Long: "Answer a question that ralph questions lists. The answer goes into the next prompt of its task, once. The task\n" +
			"continues when all its questions are answered. If no run is active, the next run takes the answer.",
		Example: "  ralph answer q1 Use PostgreSQL 16\n  ralph answer q2 --option 1",
		RunE: func(_ *cobra.Command, args []string) error {
			return answerRun(o, args[0],
				strings.Join(args[1:], " "))
		},
	}
	cmd.Flags().StringVar(&o.option, "option", "", "Choose option `N` of the question.")
	cmd.Flags().StringVar(&o.by, "by", "ralph answer", "Where the answer comes from.")
	_ = cmd.Flags().MarkHidden("by") // for ralph-hub; fails only for an unknown flag
	cmd.ValidArgsFunction = cmdline.FirstArg(completeQuestions(f, false))
	_ = cmd.RegisterFlagCompletionFunc("option", completeOptions(f)) // fails only for an unknown flag
	return cmd
}

func completeOptions(f *cmdline.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var numbers []string
		if r, _, err := f.Reader(); err == nil && len(args) > 0 {
			if q, err := question.In(r).Get(args[0]); err == nil {
				for i, option := range q.Options {
					numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(i+1), cmdline.Shorten(option)))
				}
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func answerRun(o *answerOptions, id, text string) error {
	r, dir, err := o.Reader()
	if err != nil {
		return err
	}
	if err := o.RefuseAgent(dir, "answer a question that is put to a person"); err != nil {
		return err
	}
	store := question.In(r)
	switch {
	case o.option != "" && text != "":
		return cmdline.UsageError("answer takes a text or --option, not both")
	case o.option != "":
		q, err := store.Get(id)
		if err == nil {
			n, bad := strconv.Atoi(o.option)
			if bad != nil {
				return cmdline.UsageError("--option %q is not allowed: the number of an option, as ralph questions %s shows it", o.option, q.ID)
			}
			text, err = q.Option(n)
		}
		if err != nil {
			return cmdline.UsageError("%v", err)
		}
	}
	q, err := store.Answered(id, text, cmdline.OneLine(o.by))
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	o.Wrote(dir, state.QuestionFile(q.ID))
	next := "the next run takes it: ralph resume"
	if owner, alive := r.Owner(); alive {
		next = "run " + owner.RunID + " takes it"
	}
	o.Say("answered %s: %s; %s", q.ID, cmdline.OneLine(q.Answer), next)
	return nil
}
