package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/memory"
	"ralph/state"
	"ralph/state/projectfs"
)

const (
	minUsers    = 3 // tasks that must have used a lesson
	section     = "## Learned"
	maxDocument = 8 << 20 // bytes
)

type proposeOptions struct {
	*cmdline.Factory
	yes bool
}

func newProposeCmd(f *cmdline.Factory) *cobra.Command {
	o := &proposeOptions{Factory: f}
	cmd := &cobra.Command{Use: "propose", Short: "Propose lessons that many tasks used for AGENTS.md or CLAUDE.md",
		Args: cmdline.NoArgs, Example: "  ralph learn propose",
		Long: "Show the lessons that at least three tasks used, as a change of AGENTS.md or CLAUDE.md in the folder " +
			"they concern, and ask.\nPrompts no longer repeat what you accept.",
		RunE: func(*cobra.Command, []string) error { return proposeRun(o) }}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "Do not ask.")
	return cmd
}

func proposeRun(o *proposeOptions) error {
	dir, all, err := load(o.Factory)
	if err != nil {
		return err
	}
	if err := o.RefuseAgent(dir, "accept a proposal"); err != nil {
		return err
	}
	list, err := proposals(projectfs.In(dir), all)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		o.Say("nothing to propose: no lesson was used by three tasks yet")
	}
	for _, p := range list {
		for line := range strings.Lines(p.diff()) {
			o.Say("%s", cmdline.Inert(strings.TrimRight(line, "\n")))
		}
		if !o.yes && !o.CanAsk() {
			return cmdline.UsageError("nobody can be asked here; agree with: ralph learn propose --yes")
		}
		if !o.yes && !o.Agree(fmt.Sprintf("Change %s?", p.name)) {
			return &cmdline.ExitError{Code: state.ExitError, Text: p.name + " was not changed"}
		}
		if err := p.accept(dir); err != nil {
			return err
		}
		o.Say("changed %s", p.name)
	}
	return nil
}

// proposal is a change of a document that a person may accept.
type proposal struct {
	name    string // relative to the project
	before  string
	lessons []memory.Lesson
}

// proposals groups the lessons that many tasks have used by the document that should have them.
func proposals(in projectfs.Dir, all []memory.Lesson) (list []proposal, err error) {
	for _, l := range all {
		if l.In != "" || l.Kind != memory.Pattern || len(l.UsedBy) < minUsers {
			continue
		}
		p := proposal{name: document(in, l.Paths)}
		i := slices.IndexFunc(list, func(o proposal) bool { return o.name == p.name })
		if i < 0 {
			if p.before, err = p.read(in); err != nil {
				return nil, err
			}
			i, list = len(list), append(list, p)
		}
		list[i].lessons = append(list[i].lessons, l)
	}
	return list, nil
}

// document returns the AGENTS.md or CLAUDE.md of the innermost folder that contains all paths and
// has one; else the project's AGENTS.md, which may not exist yet.
func document(in projectfs.Dir, paths []string) string {
	folder := "."
	if len(paths) > 0 {
		folder = path.Dir(paths[0])
	}
	for ; folder != "." && folder != "/"; folder = path.Dir(folder) {
		outside := slices.ContainsFunc(paths, func(p string) bool { return !strings.HasPrefix(p, folder+"/") })
		if name := documentIn(in, folder); !outside && name != "" {
			return name
		}
	}
	if name := documentIn(in, "."); name != "" {
		return name
	}
	return "AGENTS.md"
}

func documentIn(in projectfs.Dir, folder string) string {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		if name = path.Join(folder, name); in.IsPlain(in.Path(name)) {
			return name
		}
	}
	return ""
}

// read returns the document; empty: there is none.
func (p proposal) read(in projectfs.Dir) (string, error) {
	data, err := in.Read(in.Path(p.name), maxDocument)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %q: %w", p.name, err)
	}
	return string(data), nil
}

// change returns the lines of the document, those to add, and how many lines come before them.
func (p proposal) change() (old, added []string, at int) {
	if p.before != "" {
		old = strings.Split(strings.TrimRight(p.before, "\n"), "\n")
	}
	switch at = slices.Index(old, section) + 1; {
	case at > 0 && at < len(old) && old[at] == "":
		at++
	case at == 0 && len(old) > 0:
		at, added = len(old), []string{"", section, ""}
	case at == 0:
		added = []string{section, ""}
	}
	for _, l := range p.lessons {
		added = append(added, "- "+l.Text)
	}
	return old, added, at
}

// diff returns the change as a patch without context.
func (p proposal) diff() string {
	from := "a/" + p.name
	if p.before == "" {
		from = "/dev/null"
	}
	_, added, at := p.change()
	return fmt.Sprintf("--- %s\n+++ b/%s\n@@ -%d,0 +%d,%d @@\n+%s\n", from, p.name, at, at+1, len(added),
		strings.Join(added, "\n+"))
}

// accept writes the document and records in the lessons where they are now.
func (p proposal) accept(dir string) error {
	in := projectfs.In(dir)
	if now, err := p.read(in); err != nil {
		return err
	} else if now != p.before {
		return fmt.Errorf("%s has changed meanwhile; run ralph learn propose again", p.name)
	}
	was, err := memory.Load(dir) // a run may have learned something meanwhile
	if err != nil {
		return err
	}
	old, added, at := p.change()
	text := strings.Join(slices.Insert(old, at, added...), "\n") + "\n"
	if err := in.Update(in.Path(p.name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %q: %w", p.name, err)
	}
	all := slices.Clone(was)
	for i, l := range all {
		if slices.ContainsFunc(p.lessons, func(o memory.Lesson) bool { return o.ID == l.ID }) {
			all[i].In = p.name
		}
	}
	_, err = memory.Save(dir, was, all)
	return err
}
