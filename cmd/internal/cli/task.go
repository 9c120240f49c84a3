package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/question"
	"ralph/state/view/summary"
)

// newTaskCmd returns the verb with its subcommands.
func newTaskCmd(f *cmdline.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use: "task", Short: "Show and change the tasks of the plan",
		Long: "Show and change the tasks of the plan in its own format, even during a run. Name a task by its id, by its number\n" +
			"(1 for TASK-1 or T001), or by the beginning of its id or title. Your changes count as yours: no run takes them\n" +
			"back.",
		Example: "  ralph task list\n  ralph task add 'Log every request'\n  ralph task move T7 --first",
		RunE:    cmdline.Parent,
	}
	cmd.AddCommand(newTaskListCmd(f), newShowCmd(f), newNextCmd(f), newTaskAddCmd(f), newEditCmd(f), newMoveCmd(f),
		newSkipCmd(f))
	cmd.AddCommand(newStateCmds(f)...)
	return cmd
}

// plan is the project's plan, as a verb needs it.
type plan struct {
	*cmdline.Factory
	project *preflight.Project
	task.List
}

// openTask opens the plan and finds a task of it.
func openTask(f *cmdline.Factory, id string) (*plan, task.Task, error) {
	p, err := taskOpen(f)
	if err != nil {
		return nil, task.Task{}, err
	}
	t, err := p.find(id)
	return p, t, err
}

// taskOpen opens the plan, and says which it is if there are several.
func taskOpen(f *cmdline.Factory) (*plan, error) {
	p, err := opened(f)
	if err == nil && p.project.OtherPlans() != "" {
		f.Note("%s", p.project.OtherPlans())
	}
	return p, err
}

func opened(f *cmdline.Factory) (*plan, error) {
	project, _, err := preflight.Open(f, nil)
	if err != nil {
		return nil, err
	}
	if err := project.FindRunPlan(); err != nil {
		return nil, err
	}
	if project.Plan == "" {
		return nil, cmdline.UsageError("there is no plan in %q; write one with: ralph init", project.Dir)
	}
	return &plan{f, project, project.Tasks}, nil
}

// next is the task that a run would begin with.
func (p *plan) next() (task.Task, bool) {
	return ledger.Next(cmdline.OpenState(p.project.Dir), p.project.Tasks)
}

// find returns the task that a person names: by id or title, by its number, or by the beginning of either.
func (p *plan) find(name string) (task.Task, error) {
	t, err := p.Resolve(name)
	if err != nil {
		return t, cmdline.UsageError("%v", err)
	}
	return t, nil
}

func (p *plan) file() store.File {
	return store.At(p.project.Dir, p.project.Plan, p.project.Config.OptionalSections)
}

// edits is the file of what people changed.
func (p *plan) edits() string { return p.Loader(p.project.Dir, nil).PlanEditsPath() }

// record notes what a person has changed, so that no run takes it for the agent's work. What an
// agent changes with this verb is the agent's.
func (p *plan) record(before, after *task.Task) error { return p.recordWhy(before, after, "") }

// recordWhy also notes a reason.
func (p *plan) recordWhy(before, after *task.Task, why string) error {
	dir := p.project.Dir
	if p.Inside(dir) != "" {
		return nil // its agent is at work
	}
	outdated := before != nil && store.JournalReasons(p.edits())[before.ID] != ""
	if why == "" && !outdated && !cmdline.OpenState(dir).Exists() {
		return nil // no run is alive that could look
	}
	return store.RecordEdit(p.edits(), store.JournalEdit{Before: before, After: after, Why: why})
}

// rows describes tasks.
func (p *plan) rows(tasks []task.Task) []act.Task {
	s, _ := cmdline.OpenState(p.project.Dir).Status() // without it, nothing was attempted
	reasons, asked := store.JournalReasons(p.edits()), p.asked()
	rows := []act.Task{}
	for _, t := range tasks {
		who := t.Choice.Or(p.Choice)
		r := act.Task{
			ID: t.ID, Title: t.Title, State: t.State.String(), Optional: t.Optional,
			DependsOn: append([]string{}, t.DependsOn...),
			Category:  t.Category, Agent: who.Agent, Model: who.Model, Attempts: s.Tasks[t.ID].Attempts, Tags: t.Tags,
			Work: s.Tasks[t.ID].Latest(), Proof: s.Tasks[t.ID].ProofOf(t.Done()),
			File: t.File, Line: t.Line, Word: t.Word, Depth: t.Depth, Section: t.Section, CreatedAt: t.Created, UpdatedAt: t.Updated,
			Description: t.Description, Criteria: append([]string{}, t.Criteria...), Notes: t.Notes,
		}
		switch {
		case t.Choice != (task.Choice{}):
			r.AgentFrom = "task"
		case who != (task.Choice{}):
			r.AgentFrom = "plan"
		}
		if t.Pending() {
			r.Why = cmp.Or(s.Tasks[t.ID].Aside.Why, asked[t.ID])
		}
		if t.State == task.Blocked {
			r.Why = cmp.Or(reasons[t.ID], r.Why)
		}
		if t.Priority != task.NoPriority && (t.Priority != 0 || t.Line == 0) {
			r.Priority = &t.Priority
		}
		rows = append(rows, r)
	}
	return rows
}

// asked says of each task which question of its agent it waits for.
func (p *plan) asked() map[string]string {
	waits := map[string]string{}
	all, _ := question.In(cmdline.OpenState(p.project.Dir)).List() // without them, nothing waits
	for _, q := range all {
		if q.Open() && waits[q.Task] == "" {
			waits[q.Task] = fmt.Sprintf("waits for your answer to %s: %s", q.ID, cmdline.Shorten(q.Text))
		}
	}
	return waits
}

// line is a task in a list.
func (p *plan) line(t task.Task, why string) string {
	mark, _ := summary.TaskMark(t.State.String())
	text := mark + " " + strings.Repeat("  ", t.Depth)
	if !t.InTitle() {
		text += t.ID + "  "
	}
	text += t.Title
	var more []string
	if why != "" {
		more = append(more, why)
	}
	if t.Optional {
		more = append(more, "optional")
	}
	if t.Word != "" {
		more = append(more, fmt.Sprintf("marked %q", t.Word))
	}
	for _, id := range t.DependsOn {
		if other, known := p.Find(id); !known || !other.Done() {
			more = append(more, "waits for "+id)
		}
	}
	if who := t.Choice; who != (task.Choice{}) {
		more = append(more, "agent "+strings.TrimSpace(cmp.Or(who.Agent, "as usual")+" "+who.Model))
	}
	if len(more) > 0 {
		text += "  (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// failed is an error of a change: the plan is as it was.
func failed(err error) error {
	code := state.ExitError
	if _, is := errors.AsType[store.Unsupported](err); is || errors.Is(err, errNoEditor) {
		code = state.ExitUsage
	}
	return &cmdline.ExitError{Code: code, Text: err.Error() + "; the plan was not changed"}
}

// taskEach finds all tasks before it changes the first.
func taskEach(f *cmdline.Factory, names []string, do func(*plan, task.Task) error) error {
	p, err := taskOpen(f)
	if err != nil {
		return err
	}
	var tasks []task.Task
	for _, name := range names {
		t, err := p.find(name)
		if err != nil {
			return err
		}
		tasks = append(tasks, t)
	}
	for _, t := range tasks {
		if err := do(p, t); err != nil {
			return err
		}
	}
	return nil
}
