package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"ralph/runner/git/command"
)

// takeBack takes what iteration k changed in a file of notes back from what the file is by now.
func (u *Undo) takeBack(ctx context.Context, file string, k Kept) error {
	now, known := u.merged[file]
	if !known {
		data, err := os.ReadFile(filepath.Join(u.root, filepath.FromSlash(file)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("undo: %w", err)
		}
		now = string(data)
	}
	at := func(commit string) string {
		text, _ := command.Run(ctx, u.root, "show", commit+":"+file) // none is as good as an empty one
		return text
	}
	left, ok := u.r.TakeBack(now, at(k.OID), at(k.Base))
	if !ok {
		return errors.Join(ctx.Err(), &ConflictError{file + " has changed since"})
	}
	u.merged[file] = left
	return nil
}

func (u *Undo) writeMerged() error {
	for file, text := range u.merged {
		path := filepath.Join(u.root, filepath.FromSlash(file))
		var err error
		if text == "" {
			if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		} else {
			err = renameio.WriteFile(path, []byte(text), 0o644, renameio.WithExistingPermissions())
		}
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	return nil
}
