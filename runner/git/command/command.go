// Package command runs git for ralph: in the intended repository, and without the programs that an agent could make git
// start.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"ralph/logs/lazy"
	"ralph/ptyexec"
)

// ErrNoRepository is the error of a folder that is not in a work tree of git.
var ErrNoRepository = errors.New("not a git repository")

// Call is one git process in Dir.
type Call struct {
	Dir   string
	Env   []string // added to the environment
	Stdin string
	// Discover lets git find the repository by itself. Only then does it refuse a
	// repository that belongs to another user.
	Discover bool
	// Script is run by sh, with the arguments, in place of git. Like update-ref, it finishes even if ralph is killed.
	Script string
	// Program is run in place of git, with the arguments, and without a terminal that it could ask on.
	Program string
	// Hold stays open in what finishes, so that a lock on it tells whether that has ended.
	Hold *os.File
}

// Run runs git in dir and returns what it prints.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	return Call{Dir: dir}.Run(ctx, args...)
}

// Line is Run without the blanks around the output.
func Line(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := Run(ctx, dir, args...)
	return strings.TrimSpace(out), err
}

// Entries returns what git prints with -z.
func Entries(out string) []string {
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\x00' })
}

// Run returns git's output. The error is exec.ErrNotFound if git is not installed. Git works in the repository of Dir,
// whatever core.worktree says. It starts no daemon, talks to no server unless Env allows it, takes no optional locks,
// and runs no hooks and only those filter drivers that the context trusts. It gets no secrets, and has its own process
// group, so that Ctrl+C in the terminal does not end it.
func (c Call) Run(ctx context.Context, args ...string) (string, error) {
	env := c.env(userEnv(ctx))
	pins, err := pinsOf(ctx, c.Dir, env)
	if err != nil {
		return "", err
	}
	env = append(env, pins...)
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		out, err := c.start(ctx, env, args)
		if err == nil || wait > time.Second || c.Script != "" || c.Program != "" || !halfMade().MatchString(err.Error()) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("run git: %w", ctx.Err())
		case <-time.After(wait):
		}
	}
}

// halfMade is in what git says when it reads the worktrees while another git makes one: that one's file is empty for a moment.
var halfMade = lazy.Regexp(`^run git: .*failed to read \S*worktrees/[^/]+/commondir`)

// workBound is how long a process that was asked to end may wait for a git command.
const workBound = 20 * time.Second

// refTimeout limits a change of refs. Only a hook that the user set before the run takes long.
const refTimeout = 10 * time.Second

// fixed are settings that override those of the repository.
func fixed() []string {
	return []string{"-c", "core.quotepath=off", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "log.showSignature=false", "-c", "diff.external="}
}

func (c Call) start(ctx context.Context, env, args []string) (string, error) {
	mustFinish := (args[0] == "update-ref" || c.Script != "") && ctx.Err() == nil
	if mustFinish { // it is short, and if it is killed, its lock keeps everybody from changing branches
		var end context.CancelFunc
		ctx, end = context.WithTimeout(context.WithoutCancel(ctx), refTimeout)
		defer end()
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed(), args...)...)
	if c.Script != "" {
		cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", c.Script, "sh"}, args...)...)
		env = append(env, "PATH="+absolutePath())
	}
	if c.Program != "" {
		cmd = exec.CommandContext(ctx, c.Program, args...)
	}
	cmd.Dir, cmd.Env = c.Dir, env
	if c.Hold != nil && mustFinish {
		cmd.ExtraFiles = []*os.File{c.Hold}
	}
	switch {
	case c.Stdin == "":
	case mustFinish:
		input, err := whole(MetaDir(c.Dir), c.Stdin)
		if err != nil {
			return "", fmt.Errorf("run git: %w", err)
		}
		defer input.Close()
		cmd.Stdin = input
	default:
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: c.Program == "", Setsid: c.Program != ""}
	if !mustFinish {
		ptyexec.EndWithParent(cmd.SysProcAttr, syscall.SIGTERM)
		runtime.LockOSThread() // git ends with this thread, and removes most of its locks
		defer runtime.UnlockOSThread()
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	defer ptyexec.Working(workBound)()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var full atomic.Bool
	if c.Program != "" {
		cmd.Stdout, cmd.Stderr = bounded{&stdout, &full}, bounded{&stderr, &full}
	}
	err := cmd.Run()
	out := stdout.String()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what git started and did not end when asked to
	}
	switch {
	case full.Load():
		return "", fmt.Errorf("%s prints more than %d MiB", filepath.Base(c.Program), maxPrinted>>20)
	case err == nil:
		return out, nil
	case mustFinish && ctx.Err() != nil:
		return "", fmt.Errorf("git update-ref did not end within %s: a hook of yours or a slow disk may hold it: %w",
			refTimeout, ctx.Err())
	case ctx.Err() != nil:
		return "", fmt.Errorf("run git: %w", ctx.Err())
	case c.Program != "":
		return out, fmt.Errorf("%s: %w: %s", filepath.Base(c.Program), err, strings.TrimSpace(stderr.String()))
	}
	said, more, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	if strings.HasPrefix(said, "fatal: not a git repository") && !strings.Contains(more, "submodule") {
		return "", ErrNoRepository
	}
	if file := locked(said); file != "" {
		return "", fmt.Errorf("another git is running, or was killed: %q exists", file)
	}
	return "", fmt.Errorf("run git: %w: %s", err, said)
}

// maxPrinted bounds what a Program may print, in bytes: it may pass on what strangers wrote.
const maxPrinted = 64 << 20

// bounded passes at most so much on. A program that prints more is ended by the pipe that nobody reads.
type bounded struct {
	to   *bytes.Buffer
	full *atomic.Bool
}

func (b bounded) Write(p []byte) (int, error) {
	if len(p) > maxPrinted-b.to.Len() {
		b.full.Store(true)
		return 0, io.ErrShortWrite
	}
	return b.to.Write(p)
}

// whole returns a nameless file in dir with the text. Unlike a pipe, it ends where the text ends even if ralph is killed
// before everything is written: a part of it would be carried out as if it were all.
func whole(dir, text string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "ralph-index-") // swept by the next index, should ralph be killed here
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// absolutePath is PATH without its relative folders, in which a project could have programs.
func absolutePath() string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")),
		func(dir string) bool { return !filepath.IsAbs(dir) }), string(filepath.ListSeparator))
}

// Program returns a command line of git with the settings that Run gives it, for a Script.
func Program(args ...string) ([]string, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	return slices.Concat([]string{git}, fixed(), args), nil
}

// env returns the environment of the process, made from the user's or from that of the Trust.
func (c Call) env(user []string) []string {
	env := slices.DeleteFunc(slices.Clone(user), pointsElsewhere)
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	if root, ok := Root(c.Dir); ok {
		env = append(env, "GIT_WORK_TREE="+root)
		if !c.Discover {
			env = append(env, "GIT_DIR="+MetaDir(root))
		}
	}
	return append(env, c.Env...)
}

// pointsElsewhere reports whether a variable points git to another repository than that
// of its folder. Git sets such variables for hooks.
func pointsElsewhere(env string) bool {
	name, _, _ := strings.Cut(env, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE"}, name)
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

// Relative returns a function that makes paths of the repository relative to a project in it.
func Relative(project string) func(path string) string {
	root, ok := Root(project)
	return func(path string) string {
		if !ok {
			return path
		}
		rel, err := filepath.Rel(project, filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return path
		}
		return filepath.ToSlash(rel)
	}
}

// MetaDir returns git's folder for the work tree at root: root/.git, or its target in a linked
// work tree or a submodule.
func MetaDir(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := os.ReadFile(dir); err == nil { // file: in the folder of git
		dir = strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	return dir
}

// Unlock removes the locks of these files of the work tree at root, which a killed git has left. No other git may be
// running there.
func Unlock(root string, names ...string) {
	for _, name := range names {
		_ = os.Remove(filepath.Join(MetaDir(root), filepath.FromSlash(name)+".lock"))
	}
	if slices.Contains(names, "index") { // commit --only writes a second index, with its pid in the name
		found, _ := fs.Glob(os.DirFS(MetaDir(root)), "next-index-*.lock")
		for _, name := range found {
			_ = os.Remove(filepath.Join(MetaDir(root), name))
		}
	}
}

// CommonDir returns the folder that the work tree at root shares with the linked ones.
func CommonDir(root string) string { return commonDir(MetaDir(root)) }

// commonDir returns the folder that the linked work trees of a repository share.
func commonDir(meta string) string {
	link, err := os.ReadFile(filepath.Join(meta, "commondir")) // file: in the folder of git
	if err != nil {
		return meta
	}
	dir := strings.TrimSpace(string(link))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(meta, dir)
	}
	return dir
}

// Contents returns the given files of a commit, without those that it does not have. A
// path that ends with a slash asks for a folder. It runs one git process, none if there
// is nothing to ask.
func Contents(ctx context.Context, root, commit string, files []string) (map[string]string, error) {
	var asked []string
	var in strings.Builder
	for _, f := range files {
		if commit != "" && !strings.Contains(f, "\n") { // the protocol cannot express such a name
			asked = append(asked, f)
			fmt.Fprintf(&in, "%s:%s\n", commit, f)
		}
	}
	found := map[string]string{}
	if len(asked) == 0 {
		return found, nil
	}
	out, err := Call{Dir: root, Stdin: in.String()}.Run(ctx, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for _, f := range asked {
		header, rest, _ := strings.Cut(out, "\n")
		out = rest
		fields := strings.Fields(strings.TrimPrefix(header, commit+":"+f))
		if len(fields) != 3 { // "missing"
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size+1 > len(out) {
			return nil, fmt.Errorf("read files of a commit: unknown answer %q", header)
		}
		if fields[1] == "blob" || strings.HasSuffix(f, "/") {
			found[f] = out[:size]
		}
		out = out[size+1:]
	}
	return found, nil
}

// Identity returns variables that give git an author, if none is configured.
func Identity(ctx context.Context, root string) []string {
	if _, err := Run(ctx, root, "var", "GIT_AUTHOR_IDENT"); err == nil {
		if _, err = Run(ctx, root, "var", "GIT_COMMITTER_IDENT"); err == nil {
			return nil
		}
	}
	return Ralph()
}

// Ralph returns variables that make ralph the author.
func Ralph() []string {
	return []string{"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_COMMITTER_NAME=ralph",
		"GIT_COMMITTER_EMAIL=ralph@localhost"}
}

// locked returns the lock file that stopped git; empty if its error is a different one. It reads git's message because
// the file may be gone by now.
func locked(said string) string {
	_, file, found := strings.Cut(said, "Unable to create '")
	file, _, exists := strings.Cut(file, "': File exists")
	if !found || !exists || !strings.HasSuffix(file, ".lock") {
		return ""
	}
	return file
}
