// Package learncmd has the verb learn: show and change what earlier iterations learned.
package learncmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/git"
	"ralph/runner/lessons"
	"ralph/runner/memory"
	"ralph/runner/rules"
	"ralph/state"
)

type learnOptions struct {
	*cmdline.Factory
	paths []string
	yes   bool
}

// NewLearnCmd returns ralph learn.
func NewLearnCmd(f *cmdline.Factory) *cobra.Command {
	o := &learnOptions{Factory: f}
	cmd := &cobra.Command{Use: "learn", Short: "Show and change what earlier iterations learned", Args: cmdline.NoArgs,
		Long:    "Show and change what earlier iterations learned about this project. docs/memory.md describes it.",
		Example: "  ralph learn\n  ralph learn add 'Dates are stored in UTC' --path src/db.go\n  ralph learn forget 3fa9c1",
		RunE:    func(*cobra.Command, []string) error { return o.list() },
	}
	add := &cobra.Command{Use: "add TEXT", Short: "Add a lesson", Args: cmdline.Takes("a text", cobra.MinimumNArgs(1)),
		Example: "  ralph learn add 'Run npm run gen after changing the schema'",
		RunE:    func(_ *cobra.Command, args []string) error { return o.add(strings.Join(args, " ")) }}
	add.Flags().StringArrayVar(&o.paths, "path", nil, "`FILE` that the lesson is about; may be given more than once.")
	propose := &cobra.Command{Use: "propose", Short: "Propose lessons that many tasks used for AGENTS.md or CLAUDE.md",
		Args: cmdline.NoArgs, Example: "  ralph learn propose",
		Long: "Show the lessons that at least three tasks used, as a change of AGENTS.md or CLAUDE.md in the folder they concern, and ask.\nPrompts no longer repeat what you accept.",
		RunE: func(*cobra.Command, []string) error { return o.propose() }}
	propose.Flags().BoolVar(&o.yes, "yes", false, "Do not ask.")
	cmd.AddCommand(add, propose,
		&cobra.Command{Use: "list", Short: "List all lessons", Args: cmdline.NoArgs, Example: "  ralph learn list",
			RunE: func(*cobra.Command, []string) error { return o.list() }},
		&cobra.Command{Use: "forget ID...", Short: "Forget lessons", Args: cmdline.Takes("the ids of lessons", cobra.MinimumNArgs(1)),
			ValidArgsFunction: o.complete, Example: "  ralph learn forget 3fa9c1",
			RunE: func(_ *cobra.Command, args []string) error { return o.forget(args) }},
		&cobra.Command{Use: "why ID", Short: "Show where a lesson comes from", Args: cmdline.Takes("the id of a lesson", cobra.ExactArgs(1)),
			ValidArgsFunction: o.complete, Example: "  ralph learn why 3fa9c1",
			RunE: func(_ *cobra.Command, args []string) error { return o.why(args[0]) }})
	return cmd
}

func (o *learnOptions) load() (dir string, all []memory.Lesson, err error) {
	if dir, err = o.Project(); err != nil {
		return "", nil, err
	}
	all, err = lessons.Load(dir)
	return dir, all, err
}

func (o *learnOptions) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	_, all, _ := o.load()
	var ids []string
	for _, l := range all {
		ids = append(ids, l.ID+"\t"+cmdline.Inert(l.Text))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (o *learnOptions) list() error {
	_, all, err := o.load()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		o.Say("nothing was learned yet")
	}
	for _, l := range memory.ByWeight(all, time.Now()) {
		extra := string(l.Kind)
		if l.Uses > 0 {
			extra += ", used " + termtext.Count(l.Uses, "time")
		}
		if l.In != "" {
			extra += ", in " + l.In
		}
		o.Say("%s  %s (%s)", l.ID, cmdline.Inert(l.Text), cmdline.Inert(extra))
	}
	return nil
}

// change does something to the lessons. A run that is alive reads them anew before each turn.
func (o *learnOptions) change(do func(dir string, all []memory.Lesson) ([]memory.Lesson, error)) error {
	dir, _, err := o.load()
	if err != nil {
		return err
	}
	if err := o.RefuseAgent(dir, "change what ralph has learned"); err != nil {
		return err
	}
	w, aside, err := state.Acquire(filepath.Join(dir, state.DirName),
		state.Owner{PID: os.Getpid(), RunID: "learn", StartedAt: time.Now()})
	for _, e := range aside {
		o.Warn(e)
	}
	if locked := (*state.LockedError)(nil); err != nil && !errors.As(err, &locked) {
		return err
	}
	if err == nil {
		defer w.Release()
	}
	if err == nil { // else a run is alive, which has done it
		o.followBranch(dir)
	}
	all, err := lessons.Load(dir)
	if err != nil {
		return err
	}
	left, err := do(dir, slices.Clone(all))
	if err != nil {
		return err
	}
	_, err = lessons.Save(dir, all, left)
	o.Wrote(dir, state.LessonsFile)
	return err
}

// followBranch begins with the memory of the branch that is checked out, as a run does.
func (o *learnOptions) followBranch(dir string) {
	p, _, err := preflight.Open(o.Factory, nil)
	if err != nil || !p.Config.ArchiveBranch {
		return
	}
	_ = p.FindPlan() // without one, the archive gets none
	c, err := git.Inspect(context.Background(), dir)
	if err != nil {
		return
	}
	said, err := lessons.OnBranch(dir, c.Branch, p.Plan, time.Now())
	if err != nil {
		o.Warn(err)
	}
	if said != "" {
		o.Note("%s", cmdline.Inert(said))
	}
}

func (o *learnOptions) add(text string) error {
	l, ok := memory.New(logs.Redact(text), memory.Pattern, time.Now())
	if !ok {
		return cmdline.UsageError("the lesson is empty")
	}
	for _, p := range o.paths {
		if filepath.IsAbs(p) || !filepath.IsLocal(p) {
			return cmdline.UsageError("--path %q: a path in the project, relative to its folder", p)
		}
		l.Paths = append(l.Paths, filepath.ToSlash(filepath.Clean(p)))
	}
	return o.change(func(_ string, all []memory.Lesson) ([]memory.Lesson, error) {
		n := len(all)
		all, l = memory.Add(all, l)
		if len(all) == n {
			more := ""
			if len(o.paths) > 0 {
				more = "; it is about " + strings.Join(l.Paths, ", ")
			}
			o.Say("%s says so already: %s%s", l.ID, cmdline.Inert(l.Text), cmdline.Inert(more))
			return all, nil
		}
		o.Say("added %s", l.ID)
		if why := memory.Refuse(l.Text); why != "" {
			o.Note("%s", "kept because a person says it; from an agent it would not be: "+why)
		}
		return all, nil
	})
}

func (o *learnOptions) forget(ids []string) error {
	return o.change(func(_ string, all []memory.Lesson) ([]memory.Lesson, error) {
		for _, id := range ids {
			i, err := find(all, id)
			if err != nil {
				return nil, err
			}
			o.Say("forgot %s  %s", all[i].ID, cmdline.Inert(all[i].Text))
			all = slices.Delete(all, i, i+1)
		}
		return all, nil
	})
}

func (o *learnOptions) why(id string) error {
	_, all, err := o.load()
	if err != nil {
		return err
	}
	i, err := find(all, id)
	if err != nil {
		return err
	}
	for line := range strings.Lines(all[i].Describe()) {
		o.Say("%s", cmdline.Inert(strings.TrimRight(line, "\n")))
	}
	return nil
}

func find(all []memory.Lesson, id string) (int, error) {
	i := slices.IndexFunc(all, func(l memory.Lesson) bool { return l.ID == id })
	if i < 0 {
		return 0, cmdline.UsageError("no lesson has the id %q; see: ralph learn list", id)
	}
	return i, nil
}

func (o *learnOptions) propose() error {
	dir, all, err := o.load()
	if err != nil {
		return err
	}
	if err := o.RefuseAgent(dir, "accept a proposal"); err != nil {
		return err
	}
	list, err := lessons.Proposals(dir, all)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		o.Say("nothing to propose: no lesson was used by three tasks yet")
	}
	for _, p := range list {
		for line := range strings.Lines(p.Diff()) {
			o.Say("%s", cmdline.Inert(strings.TrimRight(line, "\n")))
		}
		if !o.yes && !o.CanAsk() {
			return cmdline.UsageError("nobody can be asked here; agree with: ralph learn propose --yes")
		}
		if !o.yes && !o.Agree(fmt.Sprintf("Change %s?", p.Name)) {
			return &cmdline.ExitError{Code: rules.ExitError, Text: p.Name + " was not changed"}
		}
		if all, err = lessons.Load(dir); err != nil { // a run may have learned something meanwhile
			return err
		}
		if err := p.Accept(dir, all); err != nil {
			return err
		}
		o.Say("changed %s", p.Name)
	}
	return nil
}
