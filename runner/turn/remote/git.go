package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ralph/runner/git/command"
)

// Pack returns a pack with the commits and everything that they need, except what the other side has. Empty: it has
// everything.
func Pack(ctx context.Context, root string, commits, has []string) (string, error) {
	in := strings.Join(commits, "\n") + "\n"
	for _, oid := range has {
		if !isOID(oid) {
			continue
		}
		if _, err := command.Run(ctx, root, "cat-file", "-e", oid+"^{commit}"); err == nil {
			in += "^" + oid + "\n"
		}
	}
	count, err := command.Call{Dir: root, Stdin: in}.Run(ctx, "rev-list", "--count", "--stdin")
	if err != nil || strings.TrimSpace(count) == "0" {
		return "", err
	}
	pack, err := command.Call{Dir: root, Stdin: in}.Run(ctx, "pack-objects", "--revs", "--stdout", "--thin", "--quiet",
		"--delta-base-offset")
	if err != nil {
		return "", fmt.Errorf("pack commits: %w", err)
	}
	return pack, nil
}

// Unpack adds the objects of a pack and checks that the commits are complete. ^COMMIT stands for
// a commit that was complete before.
func Unpack(ctx context.Context, root, pack string, commits ...string) error {
	if pack != "" {
		call := command.Call{Dir: root, Stdin: pack}
		if _, err := call.Run(ctx, "index-pack", "--stdin", "--fix-thin", "--strict"); err != nil {
			return fmt.Errorf("unpack commits: %w", err)
		}
	}
	args := []string{"rev-list", "--objects", "--quiet"}
	for _, oid := range commits {
		if !isOID(strings.TrimPrefix(oid, "^")) {
			return fmt.Errorf("unpack commits: the other side sent %.80q, which is no commit", oid)
		}
		args = append(args, oid)
	}
	if _, err := command.Run(ctx, root, args...); err != nil {
		return fmt.Errorf("unpack commits: they are not complete: %w", err)
	}
	return nil
}

func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Fit returns an error if ralph cannot send the commits of a repository.
func Fit(ctx context.Context, root string) error {
	if out, err := command.Run(ctx, root, "rev-parse", "--is-shallow-repository"); err != nil ||
		strings.TrimSpace(out) == "true" {
		return errors.Join(err,
			errors.New("a shallow clone cannot be sent to other machines; complete it with: git fetch --unshallow"))
	}
	if out, err := command.Run(ctx, root, "config", "--get-regexp",
		`^(extensions\.partialclone|remote\..*\.promisor)$`); err == nil && out != "" {
		return errors.New("a partial clone cannot be sent to other machines; " +
			"complete it with: git fetch --refetch --no-filter")
	}
	out, err := command.Run(ctx, root, "ls-files", "-s", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if name, sub := strings.CutPrefix(entry, "160000 "); sub {
			_, name, _ = strings.Cut(name, "\t")
			return fmt.Errorf("the submodule %q cannot be sent to other machines; work with local slots only", name)
		}
	}
	if out, err := command.Run(ctx, root, "grep", "--cached", "-l", "filter=lfs", "--",
		":(glob)**/.gitattributes"); err == nil && out != "" {
		return fmt.Errorf("files in git LFS (%s) cannot be sent to other machines; work with local slots only",
			strings.TrimSpace(strings.SplitN(out, "\n", 2)[0]))
	}
	return nil
}
