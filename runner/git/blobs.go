package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

// maxGrown is how much a file may grow while it is read, in bytes.
const maxGrown = 16 << 20

// readBlob reads a regular file or the target of a link. idLength is the length of
// object ids; if it is 0, before the first commit, the id stays empty.
func readBlob(name string, info fs.FileInfo, idLength int) (b blob, ok bool) {
	b = blob{mode: fileMode(info), inline: true}
	var err error
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = os.Readlink(name)
		b.mode, b.data = "120000", []byte(target)
	case info.Mode().IsRegular():
		b.data, err = projectfs.Above(name).Read(name, info.Size()+maxGrown)
	default:
		return b, false
	}
	object := append(fmt.Appendf(nil, "blob %d\x00", len(b.data)), b.data...)
	switch idLength {
	case 2 * sha1.Size:
		b.oid = fmt.Sprintf("%x", sha1.Sum(object))
	case 2 * sha256.Size:
		b.oid = fmt.Sprintf("%x", sha256.Sum256(object))
	}
	return b, err == nil
}

func fileMode(info fs.FileInfo) string {
	if info.Mode()&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// filtered reports whether git may store other bytes than those on disk: it may convert line ends or run clean filters.
func (k *Keeper) filtered(ctx context.Context, files map[string]signature) (bool, error) {
	if k.filters == nil {
		config, err := command.Run(ctx, k.root, "config", "--get-regexp", `^core\.(autocrlf|attributesfile)$`)
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		attributes, err := command.Run(ctx, k.root, "ls-files", "--", ".gitattributes", "**/.gitattributes")
		if err != nil {
			return false, err
		}
		is := strings.ReplaceAll(config, "core.autocrlf false\n", "")+attributes != "" ||
			exists(command.MetaDir(k.root), "info", "attributes") ||
			exists(os.Getenv("HOME"), ".config", "git", "attributes")
		k.filters = &is
	}
	if !*k.filters { // it may have changed since
		*k.filters = exists(k.root, ".gitattributes")
		for path := range files {
			*k.filters = *k.filters || filepath.Base(path) == ".gitattributes"
		}
	}
	return *k.filters, nil
}

func exists(path ...string) bool {
	_, err := os.Lstat(filepath.Join(path...))
	return err == nil
}

// Hash returns the mode and object id ("100644 OID") of the regular files among paths, as
// git would store them after filters. The option -w stores them. It runs one git
// process.
func Hash(ctx context.Context, root string, paths []string, options ...string) (map[string]string, error) {
	found := map[string]string{}
	var regular []string
	var in strings.Builder
	for _, path := range paths {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		found[path] = fileMode(info) + " "
		regular = append(regular, path)
		in.WriteString(quote(path) + "\n")
	}
	if len(regular) == 0 {
		return found, nil
	}
	args := append([]string{"hash-object", "--stdin-paths"}, options...)
	out, err := command.Call{Dir: root, Stdin: in.String()}.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	oids := strings.Fields(out)
	if len(oids) != len(regular) {
		return nil, fmt.Errorf("hash files: %d answers for %d files", len(oids), len(regular))
	}
	for i, path := range regular {
		found[path] += oids[i]
	}
	return found, nil
}

// quote quotes a path for git.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
