package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs"
)

// maxCommitted is the size, in bytes, above which ralph commits no file.
const maxCommitted = 1 << 20

// Refusal is a file that ralph does not commit, and why. A File that ends with
// a slash is a whole folder.
type Refusal struct{ File, Why string }

func (r Refusal) covers(file string) bool {
	return r.File == file || strings.HasSuffix(r.File, "/") && strings.HasPrefix(file, r.File)
}

// Guard returns the files, by slash-separated paths relative to the root of the
// repository, that ralph must not commit: a key is in what was added, larger
// than 1 MiB, a link that leads out, or in a folder that the project did not
// write and HEAD does not have, which is one Refusal. It runs at most three git
// processes.
func Guard(ctx context.Context, dir string, files []string) ([]Refusal, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, ErrNoRepository
	}
	refused, err := refusedTrees(ctx, root, files)
	if err != nil {
		return nil, fmt.Errorf("guard commit: %w", err)
	}
	var rest []string
	suspects := map[string][]logs.Secret{} // by file
	for _, f := range files {
		if slices.ContainsFunc(refused, func(r Refusal) bool { return r.covers(f) }) {
			continue
		}
		if strings.HasSuffix(f, "/") {
			refused = append(refused, Refusal{f, "is a repository of its own"})
			continue
		}
		keys, why := suspect(root, f)
		switch {
		case why != "":
			refused = append(refused, Refusal{f, why})
		case len(keys) > 0:
			suspects[f] = keys
			rest = append(rest, f)
		}
	}
	if len(rest) == 0 {
		return refused, nil
	}
	committed, err := blobs(ctx, root, "HEAD", rest)
	if err != nil {
		return nil, fmt.Errorf("guard commit: %w", err)
	}
	for _, f := range rest {
		if i := slices.IndexFunc(suspects[f], func(k logs.Secret) bool { return !strings.Contains(committed[f], k.Text) }); i >= 0 {
			refused = append(refused, Refusal{f, "holds what looks like " + suspects[f][i].Name})
		}
	}
	return refused, nil
}

// suspect looks into a file: the keys in it, and why it is refused whatever HEAD has.
func suspect(root, file string) (keys []logs.Secret, why string) {
	name := filepath.Join(root, filepath.FromSlash(file))
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, ""
	case info.Mode()&fs.ModeSymlink != 0:
		if target, out := leadsOut(root, name); out {
			return nil, fmt.Sprintf("leads out of the repository, to %q", target)
		}
		return nil, ""
	case !info.Mode().IsRegular():
		return nil, ""
	case info.Size() > maxCommitted:
		return nil, fmt.Sprintf("is larger than 1 MiB: %d bytes", info.Size())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	if path.Base(file) == ".env" && strings.Contains(string(data), "=") {
		return []logs.Secret{{Name: "settings with passwords", Text: string(data)}}, ""
	}
	return logs.Secrets(string(data)), ""
}

// leadsOut says where a symbolic link points, and whether that is outside of root.
func leadsOut(root, link string) (target string, out bool) {
	target, err := os.Readlink(link)
	if err != nil {
		return "", false // gone meanwhile
	}
	end := target
	if !filepath.IsAbs(end) {
		end = filepath.Join(filepath.Dir(link), end)
	}
	if real, err := filepath.EvalSymlinks(link); err == nil {
		end = real
	}
	rel, err := filepath.Rel(root, end)
	return target, err != nil || !filepath.IsLocal(rel)
}
