package taskcmd

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
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/config"
	"ralph/logs/termtext"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state/view"
)

// failed is an error of a change: the plan is as it was.
func failed(err error) error {
	code := rules.ExitError
	if _, is := errors.AsType[store.Unsupported](err); is {
		code = rules.ExitUsage
	}
	return &cmdline.ExitError{Code: code, Text: err.Error() + "; the plan was not changed"}
}

// newStateCmds returns the verbs that give a task another state.
func newStateCmds(f *cmdline.Factory) []*cobra.Command {
	var all []*cobra.Command
	for _, v := range []struct {
		name, short, did string
		state            task.State
		fits             func(task.Task) bool
	}{
		{"done", "Mark tasks as done", "done", task.Done, task.Task.Pending},
		{"reopen", "Open tasks again", "open", task.Open, func(t task.Task) bool { return t.State != task.Open }},
		{"block", "Keep a run from working on tasks", "blocked", task.Blocked, task.Task.Pending},
		{"drop", "Drop tasks, so that they no longer have to be done", "dropped", task.Dropped, task.Task.Pending},
	} {
		why := ""
		cmd := &cobra.Command{
			Use: v.name + " ID...", Short: v.short, Args: cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
			Example: "  ralph task " + v.name + " T7", ValidArgsFunction: complete(f, v.fits),
			RunE: func(_ *cobra.Command, args []string) error {
				return each(f, args, func(p *plan, t task.Task) error { return p.set(t, v.state, why) })
			},
		}
		if v.state == task.Blocked {
			cmd.Flags().StringVar(&why, "reason", "", "`WHY`, for people; ralph task show prints it.")
			cmd.Example += " --reason 'waits for the design'"
		}
		all = append(all, cmd)
	}
	return append(all, &cobra.Command{
		Use: "skip ID...", Short: "Move tasks to the end of the plan",
		Args:              cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
		Long:              "Move tasks to the end of the plan. To end what an agent is doing right now, use ralph skip.",
		Example:           "  ralph task skip T7",
		ValidArgsFunction: complete(f, task.Task.Pending),
		RunE: func(_ *cobra.Command, args []string) error {
			return each(f, args, func(p *plan, t task.Task) error { return p.move(t, store.Last, task.Task{}) })
		},
	})
}

// each finds all tasks before it changes the first.
func each(f *cmdline.Factory, names []string, do func(*plan, task.Task) error) error {
	p, err := open(f)
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

// set gives a task another state.
func (p *plan) set(t task.Task, s task.State, why string) error {
	err := store.SetWithReason(p.project.Plan, t, s, cmdline.OneLine(why))
	if errors.Is(err, store.ErrNoWord) {
		return cmdline.UsageError("%s plans cannot mark a task as %s; the plan was not changed", p.Format, s)
	}
	if err != nil {
		return failed(err)
	}
	now := t
	now.State, now.Word = s, ""
	why = cmdline.OneLine(why)
	p.Say("%s: %s -> %s%s", cmdline.Shorten(t.Title), t.State, s, view.Prefix(": ", cmdline.Shorten(why)))
	if s == task.Dropped || s == task.Blocked {
		p.sayWaiting(t)
	}
	return p.recordWhy(&t, &now, why)
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

func newAddCmd(f *cmdline.Factory) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "add [TEXT | -]", Short: "Add a task at the end of the plan",
		Args: cmdline.Takes("one text at most", cobra.MaximumNArgs(1)),
		Long: "Add a task at the end of the plan. - reads a task from each line of standard input. Without a text, $EDITOR opens.\n" +
			"--json prints the new task with its id (with -, a list of tasks).",
		Example: "  ralph task add 'Log every request'\n  ralph task add - < ideas.txt",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := open(f)
			if err != nil {
				return err
			}
			text := ""
			switch {
			case len(args) == 0:
				text, err = p.inEditor("")
			case args[0] == "-":
				var data []byte
				data, err = io.ReadAll(io.LimitReader(f.In, store.MaxSize))
				text = string(data)
			default:
				text = cmdline.OneLine(args[0])
			}
			if err != nil {
				return failed(err)
			}
			added, err := p.add(strings.Split(text, "\n"), asJSON)
			switch {
			case !asJSON:
				return err
			case err == nil && len(added) == 1 && (len(args) == 0 || args[0] != "-"):
				return cmdline.NewEncoder(f.Out).Encode(p.rows(added)[0])
			}
			return errors.Join(cmdline.NewEncoder(f.Out).Encode(p.rows(added)), err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON for programs.")
	return cmd
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
		t, err := store.Add(p.project.Plan, title, p.project.Config.OptionalSections)
		if err != nil {
			return added, failed(err)
		}
		if added = append(added, t); !quietly {
			p.Say("added %s: %s", t.ID, t.Title)
		}
		if err := p.record(nil, &t); err != nil {
			return added, err
		}
	}
	return added, nil
}

// patterns match what a person may write around a title: a list marker and a box, and a comment.
var patterns = sync.OnceValue(func() (p struct{ marker, box, comment *regexp.Regexp }) {
	p.marker = regexp.MustCompile(`^[-*+]\s+`)
	p.box = regexp.MustCompile(`^(?:[-*+]|\d+[.)])?\s*\[([^\pL\pN]?|[xX])\](?:\s+|$)`)
	p.comment = regexp.MustCompile(`<!--.*?-->`)
	return p
})

// titleOf is the title in a text; empty if it has none. A box says that the task is open, and is no part of it.
func titleOf(text string) (string, error) {
	text = cmdline.OneLine(text)
	title := patterns().marker.ReplaceAllString(text, "")
	if box := patterns().box.FindStringSubmatch(text); box != nil {
		if strings.TrimSpace(box[1]) != "" {
			return "", cmdline.UsageError("%q has the box of another task state; a title may begin with [ ] at most, and ralph task done marks a task as done; the plan was not changed", text)
		}
		title = text[len(box[0]):]
	}
	if strings.TrimSpace(patterns().comment.ReplaceAllString(title, "")) == "" {
		return "", nil
	}
	return title, nil
}

func newEditCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "edit ID [TITLE]", Short: "Change the title of a task, or edit all of it in $EDITOR",
		Args:              cmdline.Takes("the id of a task, and perhaps a title", cobra.RangeArgs(1, 2)),
		Example:           "  ralph task edit T7\n  ralph task edit T7 'Log every request and its answer'",
		ValidArgsFunction: cmdline.FirstArg(complete(f, all)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, t, err := openTask(f, args[0])
			if err != nil {
				return err
			}
			now := t
			if len(args) == 2 {
				title, bad := titleOf(args[1])
				if bad != nil {
					return bad
				}
				now, err = store.Rename(p.project.Plan, t, title)
			} else if now, err = p.edit(t); err == nil && now.ID == "" {
				f.Say("nothing was changed")
				return nil
			}
			if err != nil {
				return failed(err)
			}
			f.Say("now: %s", now.Title)
			return p.record(&t, &now)
		},
	}
}

// edit opens the text of a task. The zero Task: it stayed as it was.
func (p *plan) edit(t task.Task) (task.Task, error) {
	old, err := store.Text(p.project.Plan, t)
	if err != nil {
		return task.Task{}, err
	}
	text, err := p.inEditor(old)
	if err != nil || text == old {
		return task.Task{}, err
	}
	return store.Replace(p.project.Plan, t, old, text)
}

// inEditor lets a person edit a text.
func (p *plan) inEditor(text string) (string, error) {
	if !p.CanAsk() {
		return "", errors.New("there is no terminal for an editor; give the text as an argument")
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		for _, pair := range p.Env {
			if value, ok := strings.CutPrefix(pair, name+"="); ok && value != "" {
				editor = value
			}
		}
	}
	words, err := config.Words(editor, p.Env)
	if err != nil || len(words) == 0 {
		return "", fmt.Errorf("run EDITOR: %w", cmp.Or(err, errors.New("it is empty")))
	}
	file, err := os.CreateTemp("", "ralph-task-*.md")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := file.WriteString(text); err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(context.Background(), words[0], append(words[1:], file.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", words[0], err)
	}
	data, err := os.ReadFile(file.Name())
	return string(data), err
}

func newMoveCmd(f *cmdline.Factory) *cobra.Command {
	var before, after string
	var first, last bool
	cmd := &cobra.Command{
		Use: "move ID", Short: "Move a task to another place in the plan",
		Args:              cmdline.Takes("the id of a task", cobra.ExactArgs(1)),
		Example:           "  ralph task move T7 --first\n  ralph task move T7 --after T2",
		ValidArgsFunction: cmdline.FirstArg(complete(f, all)),
		RunE: func(_ *cobra.Command, args []string) error {
			given := 0
			for _, is := range []bool{before != "", after != "", first, last} {
				if is {
					given++
				}
			}
			if given != 1 {
				return cmdline.UsageError("move needs one of --before ID, --after ID, --first, --last")
			}
			p, t, err := openTask(f, args[0])
			if err != nil {
				return err
			}
			var other task.Task
			if name := before + after; name != "" {
				if other, err = p.find(name); err != nil {
					return err
				}
			}
			where := store.First
			switch {
			case before != "":
				where = store.Before
			case after != "":
				where = store.After
			case last:
				where = store.Last
			}
			return p.move(t, where, other)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&before, "before", "", "Before the task `ID`.")
	fs.StringVar(&after, "after", "", "After the task `ID`.")
	fs.BoolVar(&first, "first", false, "Before all others.")
	fs.BoolVar(&last, "last", false, "After all others.")
	for _, name := range []string{"before", "after"} {
		_ = cmd.RegisterFlagCompletionFunc(name, complete(f, all)) // fails only for an unknown flag
	}
	return cmd
}

// move moves a task.
func (p *plan) move(t task.Task, where store.Place, other task.Task) error {
	if err := store.Move(p.project.Plan, t, where, other); err != nil {
		return failed(err)
	}
	if err := p.project.FindPlan(); err != nil {
		return err
	}
	list := p.project.Tasks
	next, open := p.next()
	if open {
		p.Say("moved %s; next: %s", cmdline.Shorten(t.Title), cmdline.Shorten(next.Title))
	} else {
		p.Say("moved %s; no task can start", cmdline.Shorten(t.Title))
	}
	now, known := list.Find(t.ID)
	if !known {
		return nil
	}
	return p.record(&t, &now)
}
