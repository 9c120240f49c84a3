package slots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ralph/runner/gate"
	"ralph/runner/git/command"
	plans "ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/projectfs"
)

// Include names the file that lists, like .gitignore, which untracked files a worktree needs.
const Include = ".worktreeinclude"

// copyFiles copies files that git does not have: the plan and the user's other files in .ralph, and those that
// .worktreeinclude names.
func (s *Slot) copyFiles(ctx context.Context) error {
	tree, err := os.OpenRoot(s.Root) // it follows no link that leads out
	if err != nil {
		return err
	}
	defer tree.Close()
	s.copied, s.leftOut = nil, nil
	put := func(from, to string) error {
		rel, err := filepath.Rel(s.Root, to)
		if err != nil || !filepath.IsLocal(rel) {
			return err
		}
		if info, err := os.Lstat(from); err == nil && !info.Mode().IsRegular() { // an agent may have made a link
			if _, err := tree.Lstat(rel); err != nil { // else git has it
				s.leftOut = append(s.leftOut, rel)
			}
			return nil
		}
		s.copied = append(s.copied, rel)
		return copyTo(tree, from, rel)
	}
	for _, from := range append(s.userFiles(), s.ofPlan()...) {
		if err := put(from, s.Path(from)); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(s.home.root, Include)); err != nil {
		return nil
	}
	out, err := command.Run(ctx, s.home.root, "ls-files", "--others", "--ignored",
		"--exclude-from="+filepath.Join(s.home.root, Include), "-z")
	if err != nil {
		return err
	}
	for _, name := range command.Entries(out) {
		if strings.HasPrefix(name, ".ralph/") {
			continue
		}
		if err := put(filepath.Join(s.home.root, name), filepath.Join(s.Root, name)); err != nil {
			return err
		}
	}
	return nil
}

// userFiles returns the user's files in .ralph: prompts, specs, settings.
func (s *Slot) userFiles() (all []string) {
	dir := filepath.Join(s.home.project, ".ralph")
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		top, inSub := filepath.Split(rel)
		switch {
		case err != nil:
			return nil
		case d.IsDir():
			if inSub != "" && rel != "." && top == "" && rel != "specs" {
				return fs.SkipDir
			}
			return nil
		case state.OfUser(filepath.ToSlash(rel)):
			all = append(all, path)
		}
		return nil
	})
	return all
}

// ofPlan returns the files of the plan in the user's project.
func (s *Slot) ofPlan() (all []string) {
	f := s.home.Plan
	if f.Path == "" {
		return nil
	}
	_ = filepath.WalkDir(f.Path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, path)
		}
		return nil
	})
	if len(all) == 0 {
		all = append(all, f.Path) // a link
	}
	plan := plans.Read(f)
	if info, err := os.Stat(f.Path); err == nil && !info.IsDir() {
		for _, name := range plan.List.Files {
			all = append(all, filepath.Join(filepath.Dir(f.Path), filepath.FromSlash(name)))
		}
	}
	return all
}

// planFiles returns the files of the plan in the slot.
func (s *Slot) planFiles() (all []string) {
	for _, path := range s.ofPlan() {
		all = append(all, s.Path(path))
	}
	return all
}

const maxCopied = 1 << 30 // bytes of a file

// copyTo copies a file of the user into the tree. A file that is gone is not an error.
func copyTo(tree *os.Root, from, rel string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	data, err := projectfs.Above(from).Read(from, maxCopied)
	if err == nil {
		err = tree.MkdirAll(filepath.Dir(rel), 0o755)
	}
	if err != nil {
		return err
	}
	return tree.WriteFile(rel, data, info.Mode().Perm()|0o600)
}

// manifests returns the names of files that list what a project needs, in any folder.
func manifests() []string {
	return []string{"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml",
		"bun.lock", "go.mod", "go.sum",
		"Cargo.toml", "Cargo.lock", "pyproject.toml", "poetry.lock", "uv.lock", "requirements*.txt", "Pipfile.lock",
		"setup.py",
		"Gemfile", "Gemfile.lock", "composer.json", "composer.lock", "pom.xml", "build.gradle*", "mix.lock",
		".gitmodules"}
}

// Setup prepares a worktree with the user's command.
type Setup struct {
	Line string // the command; empty: none
	Root string // of the worktree
	Done string // path of the file that stores what ran last
}

// Setup is that of the slot.
func (s *Slot) Setup(line string) Setup {
	return Setup{Line: line, Root: s.Root, Done: filepath.Join(s.top, "setup")}
}

// needed reports whether the command must run: it never did, or a manifest has changed since. stamp is what to store then.
func (s Setup) needed(ctx context.Context) (needed bool, stamp string, err error) {
	if s.Line == "" {
		return false, "", nil
	}
	args := []string{"ls-files", "-s", "--"}
	for _, name := range manifests() {
		args = append(args, ":(glob)**/"+name)
	}
	out, err := command.Run(ctx, s.Root, args...)
	sum := sha256.Sum256([]byte(s.Line + "\x00" + out))
	stamp = hex.EncodeToString(sum[:])
	was, _ := os.ReadFile(s.Done) // file: in the cache; missing: it never ran
	return string(was) != stamp, stamp, err
}

// Run runs the command, if it is needed. a is an assignment in the worktree.
func (s Setup) Run(ctx context.Context, w *turn.Worker, a turn.Assignment, emit func(state.Event)) error {
	needed, stamp, err := s.needed(ctx)
	if err != nil || !needed {
		return err
	}
	a.Part, a.Checks = turn.Check, turn.Checks{Mode: gate.ModeGate, Everything: true,
		Rows: []gate.Check{{Name: "worktree setup", Command: s.Line, Kind: gate.KindBuild}}}
	res, err := w.Run(ctx, a, emit)
	switch {
	case err != nil || ctx.Err() != nil:
		return err
	case res.Proof.Report.Blocked():
		return fmt.Errorf("WORKTREE_SETUP %q fails: %s", s.Line, res.Proof.Report.Cause())
	}
	return os.WriteFile(s.Done, []byte(stamp), 0o600) // file: in the cache
}
