package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

// Kept states are commits below KeptRefs. Their message contains the State as JSON after
// KeptTrailer.
const (
	KeptRefs    = "refs/ralph/"
	KeptTrailer = "Ralph-State: "
)

const (
	maxKeptFile  = 8 << 20  // bytes
	maxKeptFiles = 5000     // written for one state
	maxKeptBytes = 64 << 20 // written for one state
	maxGrown     = 16 << 20 // by how many bytes a file may grow while it is read
	// keepDelay is how long git waits after Start, so that it does not slow down the next agent's start.
	keepDelay  = 200 * time.Millisecond
	runLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
)

// State describes a kept state.
type State struct {
	Run       string `json:"run"`       // letters, digits, dots and dashes
	Iteration int    `json:"iteration"` // of a start: the next iteration
	// Start marks the state before the first iteration of a run, or after a resume.
	Start bool `json:"start,omitempty"`
	// Undone marks the state after an undo that made no commit.
	Undone bool  `json:"undone,omitempty"`
	At     int64 `json:"at,omitempty"` // Unix nanoseconds, set by Keep: git stores only seconds
	// Base is the object id of the state before the iteration, or before the undo; empty
	// for a start.
	Base    string `json:"base,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Task    string `json:"task,omitempty"` // its id
	// Plan is the slash-separated path of the plan, relative to the project or absolute;
	// empty: none.
	Plan    string          `json:"plan,omitempty"`
	Checks  map[string]bool `json:"checks,omitempty"` // name -> passed
	CostUSD float64         `json:"cost_usd,omitempty"`
	Files   int             `json:"files,omitempty"`    // changed in the iteration
	LeftOut int             `json:"left_out,omitempty"` // files too large or too many, set by Keep
}

// Ref is the name of the state's ref.
func (s State) Ref() string {
	name := fmt.Sprintf("%s%s/%d", KeptRefs, s.Run, s.Iteration)
	switch {
	case s.Start:
		name += "-start"
	case s.Undone:
		name += "-undone"
	}
	return name
}

// message returns the message of the state's commit.
func (s State) message() (string, error) {
	meta, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("describe state: %w", err)
	}
	return fmt.Sprintf("ralph: run %s, iteration %d\n\n%s%s\n", s.Run, s.Iteration, KeptTrailer, meta), nil
}

// Keeper keeps states of one repository. It is for one goroutine.
type Keeper struct {
	root    string
	filters *bool // whether git converts content; nil: unknown
}

// NewKeeper returns a Keeper for the repository of dir, or false if there is none.
func NewKeeper(dir string) (*Keeper, bool) {
	root, ok := Root(dir)
	return &Keeper{root: root}, ok
}

// Keep writes the state of a current snapshot as a commit below refs/ralph/ on top of
// HEAD, and returns its object id. The tree is HEAD's with the changed, removed and
// untracked files, without ignored ones. It replaces the state of the same run and
// iteration. It runs one git process, or two if git converts content (line ends,
// filters), and touches neither the index nor the work tree.
func (k *Keeper) Keep(ctx context.Context, snap Snapshot, s State) (string, error) {
	return k.start(ctx, snap, s).Wait()
}

// Tree writes the files of a current snapshot as a tree and returns its object id. No ref points to it. A file that is
// too large to keep has its content from HEAD.
func (s Snapshot) Tree(ctx context.Context) (string, error) {
	var files []string
	for path := range s.files {
		info, err := os.Lstat(filepath.Join(s.root, filepath.FromSlash(path)))
		if err != nil || !info.IsDir() && info.Size() <= maxKeptFile {
			files = append(files, path)
		}
	}
	if len(files) > maxKeptFiles {
		return "", fmt.Errorf("too many files differ from HEAD: %d", len(files))
	}
	return TreeWith(ctx, s.root, s.Head, files)
}

// KeepFiles keeps the states, all or none: of each, the tree of its Base with the given files as they are in the work
// tree at root. What changes the refs keeps hold open.
func KeepFiles(ctx context.Context, root string, files []string, hold *os.File, states ...State) error {
	head, _, err := headOf(ctx, root)
	if err != nil {
		return err
	}
	var in strings.Builder
	for _, s := range states {
		s.At = time.Now().UnixNano()
		message, err := s.message()
		tree := ""
		if err == nil {
			tree, err = TreeWith(ctx, root, s.Base, files)
		}
		if err == nil {
			tree, err = commitTree(ctx, root, tree, head, message)
		}
		if err != nil {
			return fmt.Errorf("keep state %s: %w", s.Ref(), err)
		}
		fmt.Fprintf(&in, "update %s %s\n", s.Ref(), tree)
	}
	if _, err := (command.Call{Dir: root, Stdin: in.String(), Hold: hold}).Run(ctx, "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("keep states: %w", err)
	}
	return nil
}

// Keeping is a state that is being written.
type Keeping struct {
	now  chan struct{} // closed: start git now
	ref  string
	done chan struct{}
	oid  string
	err  error
}

// Start is Keep in two steps. When it returns, all files are read and may change; git
// writes a little later. Call Wait before you keep another state.
func (k *Keeper) Start(ctx context.Context, snap Snapshot, s State) *Keeping {
	return k.start(context.WithoutCancel(ctx), snap, s)
}

func (k *Keeper) start(ctx context.Context, snap Snapshot, s State) *Keeping {
	p := &Keeping{ref: s.Ref(), now: make(chan struct{}), done: make(chan struct{})}
	in, err := k.prepare(ctx, snap, s)
	if err != nil {
		p.err = err
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		patience := time.NewTimer(keepDelay)
		defer patience.Stop()
		select {
		case <-p.now:
		case <-patience.C:
		}
		// Without fsync, a crash of the machine may lose the latest states. Up to 20
		// objects are written loose; a pack of many takes a tenth of the time. --force
		// replaces the ref of the same iteration.
		var out string
		out, p.err = command.Call{Dir: k.root, Stdin: in}.Run(ctx, "-c", "core.fsync=none",
			"-c", "fastimport.unpackLimit=20", "fast-import", "--quiet", "--done", "--force")
		p.oid = strings.TrimSpace(out)
	}()
	return p
}

// Wait returns the object id of the state. Call it once.
func (p *Keeping) Wait() (string, error) {
	close(p.now)
	<-p.done
	if p.err != nil {
		return "", fmt.Errorf("keep state %s: %w", p.ref, p.err)
	}
	return p.oid, nil
}

// prepare reads the files and returns the input of git fast-import.
func (k *Keeper) prepare(ctx context.Context, snap Snapshot, s State) (string, error) {
	if s.Run == "" || strings.Trim(s.Run, runLetters) != "" || strings.Contains(s.Run, "..") {
		return "", fmt.Errorf("run %q is not a valid name: only letters, digits, dots and dashes", s.Run)
	}
	if !snap.Repo {
		return "", errors.New("no git repository")
	}
	files := maps.Clone(snap.files)
	maps.Copy(files, snap.own)
	blobs, leftOut, err := k.read(ctx, files)
	if err != nil {
		return "", err
	}
	now := time.Now()
	s.LeftOut, s.At = leftOut, now.UnixNano()
	message, err := s.message()
	if err != nil {
		return "", err
	}
	var in strings.Builder
	fmt.Fprintf(&in, "commit %s\nmark :1\ncommitter ralph <ralph@localhost> %d +0000\ndata %d\n%s\n",
		s.Ref(), now.Unix(), len(message), message)
	if snap.Head != "" {
		fmt.Fprintf(&in, "from %s\n", snap.Head)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if files[path] == (signature{}) {
			fmt.Fprintf(&in, "D %s\n", quote(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(blobs)) {
		if b := blobs[path]; b.oid != "" {
			fmt.Fprintf(&in, "M %s %s %s\n", b.mode, b.oid, quote(path))
		} else {
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", b.mode, quote(path), len(b.data), b.data)
		}
	}
	in.WriteString("\nget-mark :1\ndone\n")
	return in.String(), nil
}

// blob is a file for git fast-import: its content, or the object that has it.
type blob struct {
	mode, oid string
	data      []byte
}

// read reads the files, or lets git store those that it converts. It leaves out what is gone or no file, and counts
// what is too large or too much.
func (k *Keeper) read(ctx context.Context, files map[string]signature) (blobs map[string]blob, leftOut int, err error) {
	filters, err := k.filtered(ctx, files)
	if err != nil {
		return nil, 0, err
	}
	blobs = map[string]blob{}
	var convert []string
	var in strings.Builder
	room := maxKeptBytes
	for _, path := range slices.Sorted(maps.Keys(files)) {
		name := filepath.Join(k.root, filepath.FromSlash(path))
		info, err := os.Lstat(name)
		if err != nil || info.IsDir() { // gone, or a nested repository
			continue
		}
		if len(blobs) == maxKeptFiles || info.Size() > maxKeptFile || int(info.Size()) > room {
			leftOut++
			continue
		}
		room -= int(info.Size())
		b := blob{mode: "100644"}
		if info.Mode()&0o100 != 0 {
			b.mode = "100755"
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, unread := os.Readlink(name)
			b.mode, b.data, err = "120000", []byte(target), unread
		case !info.Mode().IsRegular():
			continue
		case filters:
			convert = append(convert, path)
			in.WriteString(quote(path) + "\n")
		default:
			b.data, err = projectfs.Above(name).Read(name, info.Size()+maxGrown)
		}
		if err == nil {
			blobs[path] = b
		}
	}
	if len(convert) == 0 {
		return blobs, leftOut, nil
	}
	out, err := command.Call{Dir: k.root, Stdin: in.String()}.Run(ctx, "hash-object", "-w", "--stdin-paths")
	oids := strings.Fields(out)
	if err == nil && len(oids) != len(convert) {
		err = fmt.Errorf("store files: %d answers for %d files", len(oids), len(convert))
	}
	if err != nil {
		return nil, 0, err
	}
	for i, path := range convert {
		blobs[path] = blob{mode: blobs[path].mode, oid: oids[i]}
	}
	return blobs, leftOut, nil
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

// quote quotes a path for git.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
