package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/runner/task"
	"ralph/runner/task/store"
)

func newEditCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "edit ID [TITLE]", Short: "Change the title of a task, or edit all of it in $EDITOR",
		Args:    cmdline.Takes("the id of a task, and perhaps a title", cobra.RangeArgs(1, 2)),
		Example: "  ralph task edit T7\n  ralph task edit T7 'Log every request and its answer'",
		RunE:    func(_ *cobra.Command, args []string) error { return editRun(f, args[0], args[1:]) },
	}
}

// editRun changes the title of a task; without one, an editor opens.
func editRun(f *cmdline.Factory, id string, title []string) error {
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
	return p.record(&t, &now)
}

// edit opens the text of a task. The zero Task: it stayed as it was.
func (p *plan) edit(t task.Task) (task.Task, error) {
	old, err := store.Text(p.file(), t)
	if err != nil {
		return task.Task{}, err
	}
	text, err := p.inEditor(old)
	if err != nil || text == old {
		return task.Task{}, err
	}
	return store.Replace(p.file(), t, old, text)
}

var errNoEditor = errors.New("there is no terminal for an editor; give the text as an argument")

// inEditor lets a person edit a text.
func (p *plan) inEditor(text string) (string, error) {
	if !p.CanAsk() {
		return "", errNoEditor
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
	data, err := os.ReadFile(file.Name()) // file: outside of the project
	return string(data), err
}
