package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
)

// newNoteCmd returns ralph note.
func newNoteCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "note [TEXT...]", Short: "Tell the agent something in the next prompt", Args: cobra.ArbitraryArgs,
		Long: "Put a note into the next prompt, once. If no run is active, the next run takes it. Without TEXT, list the notes, and\n" +
			"which iteration got each.",
		Example: "  ralph note The staging database is read-only today\n  ralph note",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listNotes(f)
			}
			return addNote(f, strings.Join(args, " "))
		},
	}
}

func addNote(f *cmdline.Factory, text string) error {
	r, dir, err := f.AsPerson("write a note into the next prompt")
	if err != nil {
		return err
	}
	n, err := state.Notes(r).Add(text)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("write note: %w", err)
	}
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	f.Wrote(dir, state.NoteFile(n.ID))
	f.Say("note %s waits for the next prompt: %s", n.ID, cmdline.Shorten(n.Text))
	return nil
}

func listNotes(f *cmdline.Factory) error {
	r, _, err := f.Reader()
	if err != nil {
		return err
	}
	all, err := state.Notes(r).List()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		f.Say("no notes; write one with: ralph note TEXT")
	}
	for _, n := range all {
		f.Say("%s  %s: %s", n.ID, n.Where(), termtext.Line(n.Text))
	}
	return nil
}
