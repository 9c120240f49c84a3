package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"ralph/ptyexec"
)

// Condition is the state of a repository that decides whether a run may start.
type Condition struct {
	Repo bool // false: not in a work tree of git, or git is not installed
	// Operation is the one in progress: "merge", "rebase", "am", "cherry-pick",
	// "revert", "bisect" or empty.
	Operation  string
	Branch     string // empty: HEAD is detached
	Root       string // of the work tree; empty: none
	GitVersion string // "2.39.5"; empty: git is not installed
}

// Inspect returns the condition of the repository of dir. It fails if git does, because
// the repository is damaged or belongs to another user; the Condition is incomplete then.
func Inspect(ctx context.Context, dir string) (Condition, error) {
	var c Condition
	c.Root, _ = Root(dir)
	version, err := run(ctx, dir, "version")
	if errors.Is(err, exec.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("inspect repository: %w", err)
	}
	if f := strings.Fields(version); len(f) > 2 {
		c.GitVersion = f[2]
	}
	if c.Root == "" {
		return c, nil
	}
	c.Operation = operation(c.Root)
	out, err := run(ctx, dir, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-ahead-behind")
	if errors.Is(err, ErrNoRepository) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("inspect repository %q: %w", c.Root, err)
	}
	snap, _, err := parseStatus(out)
	if err != nil {
		return c, fmt.Errorf("inspect repository %q: %w", c.Root, err)
	}
	c.Repo, c.Branch = true, snap.Branch
	return c, nil
}

// Root returns the nearest folder from dir upwards that contains .git, with symbolic
// links resolved. Like git, it ignores a .git folder without HEAD.
func Root(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for err == nil {
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Stat(dotGit)
		if err == nil && info.IsDir() {
			_, err = os.Lstat(filepath.Join(dotGit, "HEAD"))
		}
		if err == nil {
			return dir, true
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", false
}

// metaDir is git's folder for the work tree at root: root/.git, or its target in a linked
// work tree or a submodule.
func metaDir(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := os.ReadFile(dir); err == nil {
		dir = strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	return dir
}

// operation returns the operation in progress in the work tree at root, by git's files.
func operation(root string) string {
	dir := metaDir(root)
	for _, o := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, o.file)); err == nil {
			return o.name
		}
	}
	// Between two commits of a series, only the list of the remaining ones shows it.
	todo, err := os.ReadFile(filepath.Join(dir, "sequencer", "todo"))
	switch {
	case err != nil:
		return ""
	case strings.HasPrefix(string(todo), "revert"):
		return "revert"
	}
	return "cherry-pick"
}

// ErrNoRepository is the error of a folder that is not in a work tree of git.
var ErrNoRepository = errors.New("not a git repository")

// Call is one git process in Dir.
type Call struct {
	Dir   string
	Env   []string // added to the environment
	Stdin string
}

// run runs git in dir and returns what it prints.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	return Call{Dir: dir}.Run(ctx, args...)
}

// Run returns git's output. The error is exec.ErrNotFound if git is not installed. Git
// starts no daemon, runs no hooks and takes no optional locks. It has its own process
// group, so that Ctrl+C in the terminal does not end it.
func (c Call) Run(ctx context.Context, args ...string) (string, error) {
	// Settings on the command line override those of the repository.
	args = append([]string{"-c", "core.quotepath=off", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = c.Dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), pointsElsewhere), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	cmd.Env = append(cmd.Env, c.Env...)
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ptyexec.DieWithParent(cmd.SysProcAttr)
	runtime.LockOSThread() // git dies with this thread
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case err == nil:
		return string(out), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("run git: %w", ctx.Err())
	}
	said, more, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	if strings.HasPrefix(said, "fatal: not a git repository") && !strings.Contains(more, "submodule") {
		return "", ErrNoRepository
	}
	return "", fmt.Errorf("run git: %w: %s", err, said)
}

// pointsElsewhere reports whether a variable points git to another repository than that
// of its folder, as git sets them for hooks.
func pointsElsewhere(env string) bool {
	name, _, _ := strings.Cut(env, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE":
		return true
	}
	return false
}
