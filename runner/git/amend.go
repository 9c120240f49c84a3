package git

import (
	"context"
	"fmt"
	"time"
)

// KeepFiles keeps the state s, which is the kept state s.Base but for these
// files: they are taken from the work tree at root as they are now.
func KeepFiles(ctx context.Context, root string, files []string, s State) error {
	s.At = time.Now().UnixNano()
	message, err := s.message()
	if err != nil {
		return err
	}
	b := newBuilder(root, files)
	oid, err := b.amend(ctx, s.Base, message)
	if err == nil {
		_, err = run(ctx, root, "update-ref", s.ref(), oid)
	}
	if err != nil {
		return fmt.Errorf("keep state %s: %w", s.ref(), err)
	}
	return nil
}

// amend writes a commit on HEAD of the files of another one, with the paths as
// they are on disk.
func (b builder) amend(ctx context.Context, other, message string) (string, error) {
	head, _, err := b.head(ctx)
	if err != nil {
		return "", err
	}
	tree, err := b.tree(ctx, other)
	if err != nil {
		return "", err
	}
	return b.write(ctx, tree, head, message)
}
