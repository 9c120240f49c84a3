package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

const maxNotes = 16 << 20 // bytes

// revertNotes takes what iteration k changed in a notes file out of its current text.
func (u *Undo) revertNotes(ctx context.Context, file string, k Kept) error {
	now, known := u.merged[file]
	if !known {
		root := projectfs.In(u.root)
		data, err := root.Read(root.Path(file), maxNotes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("undo: %w", err)
		}
		now = string(data)
	}
	at := func(commit string) string {
		text, _ := command.Run(ctx, u.root, "show", commit+":"+file) // a missing file reads as empty
		return text
	}
	left, ok := u.r.Revert(now, at(k.OID), at(k.Base))
	if !ok {
		return errors.Join(ctx.Err(), &ConflictError{file + " has changed since"})
	}
	u.merged[file] = left
	return nil
}
