package slots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"ralph/runner/gate"
	"ralph/runner/git/command"
	"ralph/runner/turn"
	"ralph/state"
)

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
