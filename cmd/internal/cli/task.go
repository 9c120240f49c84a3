package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/forge"
	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/act"
	"ralph/state/question"
	"ralph/state/view"
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
	cmd.AddCommand(newTaskListCmd(f), newTaskShowCmd(f), newTaskNextCmd(f), newTaskAddCmd(f), newTaskEditCmd(f),
		newTaskMoveCmd(f), newTaskSkipCmd(f))
	cmd.AddCommand(newTaskStateCmds(f)...)
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
func (p *plan) record(before, after *task.Task, why string) error {
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
		if link, ok := forge.LinkIn(t.Title); ok {
			r.Link = link.String()
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

// newTaskListCmd returns ralph task list.
func newTaskListCmd(f *cmdline.Factory) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "list", Short: "List the tasks of the plan", Args: cmdline.NoArgs,
		Long:    "List the tasks of the plan: ○ open, ▸ active, ⏸ to review, ⊘ blocked, ✓ done, ✗ dropped.",
		Example: "  ralph task list\n  ralph task list --json",
	}, forPrograms, func(_ []string, asJSON bool) error { return taskListRun(f, asJSON) })
}

// taskListRun lists the tasks, and says what a run would say about the plan.
func taskListRun(f *cmdline.Factory, asJSON bool) error {
	p, err := taskOpen(f)
	if err != nil {
		return err
	}
	rows := p.rows(p.Tasks)
	if asJSON {
		return cmdline.NewEncoder(f.Out).Encode(rows)
	}
	for i, r := range rows {
		number := ""
		if task.Hashed(r.ID) { // a number is easier to type
			number = fmt.Sprintf("%*d ", len(strconv.Itoa(len(rows))), i+1)
		}
		f.Say("%s%s", number, p.line(p.Tasks[i], r.Why))
	}
	next, _ := p.next()
	f.Say("%d of %s done%s", p.Done(), termtext.Count(p.Total(), "task"), view.Prefix(", next: ", cmdline.Shorten(next.Title)))
	lines := append(p.List.OddBoxes(), p.Warnings...)
	if problem := preflight.Problem(p.project.Dir, p.List); problem != "" {
		lines = []string{problem}
	}
	for _, line := range lines {
		f.Warn(line)
	}
	return nil
}

func newTaskNextCmd(f *cmdline.Factory) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "next", Short: "Show the task that comes next", Args: cmdline.NoArgs, Example: "  ralph task next",
	}, forPrograms, func(_ []string, asJSON bool) error { return taskNextRun(f, asJSON) })
}

func taskNextRun(f *cmdline.Factory, asJSON bool) error {
	p, err := taskOpen(f)
	if err != nil {
		return err
	}
	t, ok := p.next()
	switch {
	case asJSON && !ok:
		return cmdline.NewEncoder(f.Out).Encode(nil)
	case asJSON:
		return cmdline.NewEncoder(f.Out).Encode(p.rows([]task.Task{t})[0])
	case ok:
		f.Say("%s", p.line(t, ""))
	case p.Remaining() > 0:
		f.Say("none: each open task was put aside, or waits for a person or for another; see: ralph task list")
	default:
		f.Say("none: nothing is open")
	}
	return nil
}

func newTaskShowCmd(f *cmdline.Factory) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "show ID", Short: "Show a task with its criteria", Example: "  ralph task show T7",
		Args: cmdline.Takes("the id of a task", cobra.ExactArgs(1)),
	}, forPrograms, func(args []string, asJSON bool) error { return taskShowRun(f, args[0], asJSON) })
}

// taskShowRun prints what there is to say about a task.
func taskShowRun(f *cmdline.Factory, id string, asJSON bool) error {
	p, t, err := openTask(f, id)
	if err != nil {
		return err
	}
	r := p.rows([]task.Task{t})[0]
	if asJSON {
		return cmdline.NewEncoder(f.Out).Encode(r)
	}
	f.Say("%s", p.line(t, ""))
	field := func(name, value string) {
		if value != "" {
			f.Say("%-11s %s", name, value)
		}
	}
	field("id", t.ID)
	field("link", r.Link)
	field("category", t.Category)
	field("tags", strings.Join(t.Tags, ", "))
	field("depends on", strings.Join(t.DependsOn, ", "))
	field("section", t.Section)
	field("judges", strings.Join(t.Judges, ", "))
	field("file", t.File)
	field("created", t.Created)
	field("updated", t.Updated)
	field("agent", strings.TrimSpace(r.Agent+" "+r.Model))
	field("why", r.Why)
	if r.Attempts > 0 {
		field("attempts", strconv.Itoa(r.Attempts))
	}
	s, _ := cmdline.OpenState(p.project.Dir).Status() // without it, nothing is known of its work
	for _, w := range s.Tasks[t.ID].Work {
		said := fmt.Sprintf("iteration %d of run %s", w.Iteration, w.Run)
		if w.What != "" {
			said += fmt.Sprintf(" (%s: %s)", w.By, cmdline.Shorten(w.What))
		}
		field("work", said)
	}
	if t.Done() {
		field("proof", view.Join("; ", r.Proof, view.Prefix("it changed existing tests: ", strings.Join(s.Tasks[t.ID].ChangedTests, ", "))))
	}
	text := t.Description
	if len(t.Criteria) > 0 {
		text = strings.TrimPrefix(text+"\n\nIt is done when:", "\n\n")
	}
	for _, c := range t.Criteria {
		text += "\n- " + strings.ReplaceAll(c, "\n", "\n  ")
	}
	if text = strings.TrimPrefix(text+view.Prefix("\n\n", t.Notes), "\n\n"); text != "" {
		f.Say("\n%s", text)
	}
	return nil
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

func newTaskAddCmd(f *cmdline.Factory) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "add [TEXT | -]", Short: "Add a task at the end of the plan",
		Args: cmdline.Takes("one text at most", cobra.MaximumNArgs(1)),
		Long: "Add a task at the end of the plan. - reads a task from each line of standard input. Without a text, $EDITOR opens.\n" +
			"--json prints the new task with its id (with -, a list of tasks).",
		Example: "  ralph task add 'Log every request'\n  ralph task add - < ideas.txt",
	}, forPrograms, func(args []string, asJSON bool) error { return taskAddRun(f, args, asJSON) })
}

func taskAddRun(f *cmdline.Factory, args []string, asJSON bool) error {
	p, err := taskOpen(f)
	if err != nil {
		return err
	}
	text, lines := "", false
	switch {
	case len(args) == 0:
		err = p.inEditor("", func(typed string) error {
			text = typed
			return nil
		})
	case args[0] == "-":
		var data []byte
		data, err = io.ReadAll(io.LimitReader(f.In, store.MaxSize))
		text, lines = string(data), true
	default:
		text = termtext.Unwrap(args[0])
	}
	if err != nil {
		return failed(err)
	}
	added, err := p.add(strings.Split(text, "\n"), asJSON)
	switch {
	case !asJSON:
		return err
	case err == nil && len(added) == 1 && !lines:
		return cmdline.NewEncoder(f.Out).Encode(p.rows(added)[0])
	}
	return errors.Join(cmdline.NewEncoder(f.Out).Encode(p.rows(added)), err)
}

// add adds a task for each text, or none if one of them is no title.
func (p *plan) add(texts []string, quietly bool) (added []task.Task, err error) {
	var titles []string
	for _, text := range texts {
		title, err := titleOf(text)
		if err != nil {
			return nil, err
		}
		if title != "" {
			titles = append(titles, title)
		}
	}
	if len(titles) == 0 {
		return nil, cmdline.UsageError("the new task needs a text: ralph task add TEXT")
	}
	for _, title := range titles {
		t, err := store.Add(p.file(), title)
		if err != nil {
			return added, failed(err)
		}
		if added = append(added, t); !quietly {
			p.Say("added %s: %s", t.ID, t.Title)
		}
		if err := p.record(nil, &t, ""); err != nil {
			return added, err
		}
	}
	return added, nil
}

func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// titleOf is the title in a text, without a list marker; empty if it has none. A box says that the task is open, and is
// no part of it. The plan gets no control characters: people print it in terminals, and the text may be that of another
// agent.
func titleOf(text string) (string, error) {
	text = withoutControls(termtext.Unwrap(text))
	title := regexp.MustCompile(`^[-*+]\s+`).ReplaceAllString(text, "")
	box := regexp.MustCompile(`^(?:[-*+]|\d+[.)])?\s*\[([^\pL\pN]?|[xX])\](?:\s+|$)`).FindStringSubmatch(text)
	if box != nil {
		title = text[len(box[0]):]
	}
	switch {
	case box != nil && strings.TrimSpace(box[1]) != "":
		return "", cmdline.UsageError("%q has the box of another task state; a title may begin with [ ] at "+
			"most, and ralph task done marks a task as done; the plan was not changed", text)
	case strings.TrimSpace(regexp.MustCompile(`<!--.*?-->`).ReplaceAllString(title, "")) == "":
		return "", nil
	}
	return title, nil
}

func newTaskEditCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "edit ID [TITLE]", Short: "Change the title of a task, or edit all of it in $EDITOR",
		Args:    cmdline.Takes("the id of a task, and perhaps a title", cobra.RangeArgs(1, 2)),
		Example: "  ralph task edit T7\n  ralph task edit T7 'Log every request and its answer'",
		RunE:    func(_ *cobra.Command, args []string) error { return taskEditRun(f, args[0], args[1:]) },
	}
}

// taskEditRun changes the title of a task; without one, an editor opens.
func taskEditRun(f *cmdline.Factory, id string, title []string) error {
	p, t, err := openTask(f, id)
	if err != nil {
		return err
	}
	now := t
	if len(title) > 0 {
		text, bad := titleOf(title[0])
		if bad != nil {
			return bad
		}
		now, err = store.Rename(p.file(), t, text)
	} else if now, err = p.edit(t); err == nil && now.ID == "" {
		f.Say("nothing was changed")
		return nil
	}
	if err != nil {
		return failed(err)
	}
	f.Say("now: %s", now.Title)
	return p.record(&t, &now, "")
}

// edit opens the text of a task. The zero Task: it stayed as it was.
func (p *plan) edit(t task.Task) (task.Task, error) {
	old, err := store.Text(p.file(), t)
	if err != nil {
		return task.Task{}, err
	}
	var now task.Task
	err = p.inEditor(old, func(text string) (err error) {
		if text != old {
			now, err = store.Replace(p.file(), t, old, text)
		}
		return err
	})
	return now, err
}

var errNoEditor = errors.New("there is no terminal for an editor; give the text as an argument")

// inEditor lets a person edit a text, in a temporary file. If use cannot use it, the file stays.
func (p *plan) inEditor(text string, use func(text string) error) error {
	if !p.CanAsk() {
		return errNoEditor
	}
	words, err := config.Words(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"), p.Env)
	if err != nil || len(words) == 0 {
		return fmt.Errorf("run EDITOR: %w", cmp.Or(err, errors.New("it is empty")))
	}
	file, err := os.CreateTemp("", "ralph-task-*.md")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), words[0], append(words[1:], file.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	if err := cmd.Run(); err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("%s: %w", words[0], err)
	}
	data, err := os.ReadFile(file.Name()) // file: outside of the project
	if err == nil {
		err = use(string(data))
	}
	if err != nil {
		return fmt.Errorf("%w; your text is kept in %s", err, file.Name())
	}
	return os.Remove(file.Name())
}

func newTaskMoveCmd(f *cmdline.Factory) *cobra.Command {
	var before, after string
	var first, last bool
	cmd := &cobra.Command{
		Use: "move ID", Short: "Move a task to another place in the plan",
		Args:    cmdline.Takes("the id of a task", cobra.ExactArgs(1)),
		Example: "  ralph task move T7 --first\n  ralph task move T7 --after T2",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(given(cmd)) != 1 {
				return cmdline.UsageError("move needs one of --before ID, --after ID, --first, --last")
			}
			p, t, err := openTask(f, args[0])
			if err != nil {
				return err
			}
			switch {
			case first:
				return p.move(t, store.First, task.Task{})
			case last:
				return p.move(t, store.Last, task.Task{})
			}
			other, err := p.find(before + after)
			switch {
			case err != nil:
				return err
			case before != "":
				return p.move(t, store.Before, other)
			}
			return p.move(t, store.After, other)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&before, "before", "", "Before the task `ID`.")
	fs.StringVar(&after, "after", "", "After the task `ID`.")
	fs.BoolVar(&first, "first", false, "Before all others.")
	fs.BoolVar(&last, "last", false, "After all others.")
	return cmd
}

// move moves a task.
func (p *plan) move(t task.Task, where store.Place, other task.Task) error {
	if err := store.Move(p.file(), t, where, other); err != nil {
		return failed(err)
	}
	if err := p.project.FindPlan(); err != nil {
		return err
	}
	coming := "no task can start"
	if next, open := p.next(); open {
		coming = "next: " + cmdline.Shorten(next.Title)
	}
	p.Say("moved %s; %s", cmdline.Shorten(t.Title), coming)
	now, _ := p.project.Tasks.Find(t.ID)
	return p.record(&t, &now, "")
}

func newTaskSkipCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "skip ID...", Short: "Move tasks to the end of the plan",
		Args:    cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
		Long:    "Move tasks to the end of the plan. To end what an agent is doing right now, use ralph skip.",
		Example: "  ralph task skip T7",
		RunE: func(_ *cobra.Command, args []string) error {
			return taskEach(f, args, func(p *plan, t task.Task) error { return p.move(t, store.Last, task.Task{}) })
		},
	}
}

// newTaskStateCmds returns the verbs that give a task another state. They differ by a row: the state.
func newTaskStateCmds(f *cmdline.Factory) []*cobra.Command {
	var cmds []*cobra.Command
	for _, v := range []struct {
		name, short string
		state       task.State
	}{
		{"done", "Mark tasks as done", task.Done},
		{"reopen", "Open tasks again", task.Open},
		{"block", "Keep a run from working on tasks", task.Blocked},
		{"drop", "Drop tasks, so that they no longer have to be done", task.Dropped},
	} {
		why := ""
		cmd := &cobra.Command{
			Use: v.name + " ID...", Short: v.short, Args: cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
			Example: "  ralph task " + v.name + " T7",
			RunE: func(_ *cobra.Command, args []string) error {
				return taskEach(f, args, func(p *plan, t task.Task) error { return p.set(t, v.state, why) })
			},
		}
		if v.state == task.Blocked {
			cmd.Flags().StringVar(&why, "reason", "", "`WHY`, for people; ralph task show prints it.")
			cmd.Example += " --reason 'waits for the design'"
		}
		cmds = append(cmds, cmd)
	}
	return cmds
}

// set gives a task another state.
func (p *plan) set(t task.Task, s task.State, why string) error {
	why = withoutControls(termtext.Unwrap(why))
	err := store.Set(p.file(), t, s)
	if errors.Is(err, task.ErrNoWord) {
		return cmdline.UsageError("%s plans cannot mark a task as %s; the plan was not changed", p.Format, s)
	}
	if err != nil {
		return failed(err)
	}
	now := t
	now.State, now.Word = s, ""
	p.Say("%s: %s -> %s%s", cmdline.Shorten(t.Title), t.State, s, view.Prefix(": ", cmdline.Shorten(why)))
	if s == task.Dropped || s == task.Blocked {
		p.sayWaiting(t)
	}
	if err := p.record(&t, &now, why); err != nil {
		return err
	}
	// What the latest run advised is done now.
	r, typed := cmdline.OpenState(p.project.Dir), map[task.State]string{task.Done: "done ", task.Open: "reopen "}[s]
	was, _ := r.Status() // without a status, no run has advised anything
	_, ids, advised := strings.Cut(was.Next, "ralph task "+typed)
	if typed == "" || !advised || !slices.Contains(strings.FieldsFunc(ids, func(r rune) bool { return strings.ContainsRune(" ,;", r) }), t.ID) {
		return nil
	}
	return goOn(p.Factory, r, func(*state.Status) bool { return true })
}

// sayWaiting names the open tasks that depend on one that nobody will work on.
func (p *plan) sayWaiting(on task.Task) {
	var waiting []string
	for _, t := range p.Tasks {
		if t.Pending() && slices.Contains(t.DependsOn, on.ID) {
			waiting = append(waiting, t.ID)
		}
	}
	if len(waiting) > 0 {
		p.Warn(fmt.Sprintf("tasks that depend on %s cannot start now: %s", on.ID, termtext.Some(waiting, 5)))
	}
}
