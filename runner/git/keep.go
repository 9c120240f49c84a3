package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/git/command"
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

// Keeper keeps states of one repository. It remembers which objects exist, so that it
// writes only what has changed. It is for one goroutine.
type Keeper struct {
	root    string
	have    map[string]blob // by path
	filters *bool           // whether git converts content; nil: unknown
}

// blob is the object of a file, or its content until git has it.
type blob struct {
	sig       signature
	mode, oid string
	data      []byte
	inline    bool
}

// NewKeeper returns a Keeper for the repository of dir, or false if there is none.
func NewKeeper(dir string) (*Keeper, bool) {
	root, ok := Root(dir)
	return &Keeper{root: root, have: map[string]blob{}}, ok
}

// Keep writes the state of a current snapshot as a commit below refs/ralph/ on top of
// HEAD, and returns its object id. The tree is HEAD's with the changed, removed and
// untracked files, without ignored ones. It replaces the state of the same run and
// iteration. It runs one git process, or two if git converts content (line ends,
// filters), and touches neither the index nor the work tree.
func (k *Keeper) Keep(ctx context.Context, snap Snapshot, s State) (string, error) {
	first := len(k.have) == 0
	oid, err := k.start(ctx, snap, s).Wait()
	if err != nil && !first && ctx.Err() == nil {
		oid, err = k.start(ctx, snap, s).Wait()
	}
	return oid, err
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
	return newBuilder(s.root, files).tree(ctx, s.Head)
}

// KeepFiles keeps the states, all or none: of each, the tree of its Base with the given files as they are in the work
// tree at root. What changes the refs keeps hold open.
func KeepFiles(ctx context.Context, root string, files []string, hold *os.File, states ...State) error {
	var in strings.Builder
	for _, s := range states {
		s.At = time.Now().UnixNano()
		oid, err := newBuilder(root, files).state(ctx, s)
		if err != nil {
			return fmt.Errorf("keep state %s: %w", s.Ref(), err)
		}
		fmt.Fprintf(&in, "update %s %s\n", s.Ref(), oid)
	}
	_, err := command.Call{Dir: root, Stdin: in.String(), Hold: hold}.Run(ctx, "update-ref", "--stdin")
	if err != nil {
		return fmt.Errorf("keep states: %w", err)
	}
	return nil
}

func (b builder) state(ctx context.Context, s State) (string, error) {
	message, err := s.message()
	if err != nil {
		return "", err
	}
	head, _, err := b.head(ctx)
	if err != nil {
		return "", err
	}
	tree, err := b.tree(ctx, s.Base)
	if err != nil {
		return "", err
	}
	return b.write(ctx, tree, head, message)
}

// Keeping is a state that is being written.
type Keeping struct {
	keeper *Keeper
	now    chan struct{} // closed: start git now
	ref    string
	done   chan struct{}
	oid    string
	err    error
}

// Start is Keep in two steps. When it returns, all files are read and may change; git
// writes a little later. Call Wait before you keep another state.
func (k *Keeper) Start(ctx context.Context, snap Snapshot, s State) *Keeping {
	return k.start(context.WithoutCancel(ctx), snap, s)
}

func (k *Keeper) start(ctx context.Context, snap Snapshot, s State) *Keeping {
	p := &Keeping{keeper: k, ref: s.Ref(), now: make(chan struct{}), done: make(chan struct{})}
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
		clear(p.keeper.have) // git may have collected unreferenced objects
		return "", fmt.Errorf("keep state %s: %w", p.ref, p.err)
	}
	for path, b := range p.keeper.have {
		b.data, b.inline = nil, b.inline && b.oid == ""
		p.keeper.have[path] = b
	}
	return p.oid, nil
}

// prepare reads new files and returns the input of git fast-import.
func (k *Keeper) prepare(ctx context.Context, snap Snapshot, s State) (string, error) {
	if s.Run == "" || strings.Trim(s.Run, runLetters) != "" || strings.Contains(s.Run, "..") {
		return "", fmt.Errorf("run %q is not a valid name: only letters, digits, dots and dashes", s.Run)
	}
	if !snap.Repo {
		return "", errors.New("no git repository")
	}
	files := maps.Clone(snap.files)
	maps.Copy(files, snap.own)
	leftOut, err := k.write(ctx, snap, files)
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
	for _, path := range slices.Sorted(maps.Keys(files)) {
		b, ok := k.have[path]
		if ok && b.inline {
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", b.mode, quote(path), len(b.data), b.data)
		} else if ok {
			fmt.Fprintf(&in, "M %s %s %s\n", b.mode, b.oid, quote(path))
		}
	}
	in.WriteString("\nget-mark :1\ndone\n")
	return in.String(), nil
}

// write updates the objects of the files. It returns how many files it left out.
func (k *Keeper) write(ctx context.Context, snap Snapshot, files map[string]signature) (leftOut int, err error) {
	maps.DeleteFunc(k.have, func(path string, _ blob) bool { _, ok := files[path]; return !ok })
	filters, err := k.filtered(ctx, files)
	if err != nil {
		return 0, err
	}
	var convert []string
	count, room := 0, maxKeptBytes
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sig := files[path]
		if b, ok := k.have[path]; sig == (signature{}) || ok && b.sig == sig && !b.inline {
			continue
		}
		delete(k.have, path)
		name := filepath.Join(k.root, filepath.FromSlash(path))
		info, err := os.Lstat(name)
		if err != nil || info.IsDir() { // gone, or a nested repository
			continue
		}
		if count++; count > maxKeptFiles || info.Size() > maxKeptFile || int(info.Size()) > room {
			leftOut++
			continue
		}
		room -= int(info.Size())
		if filters && info.Mode().IsRegular() {
			convert = append(convert, path)
		} else if b, ok := readBlob(name, info, len(snap.Head)); ok {
			b.sig = sig
			k.have[path] = b
		}
	}
	found, err := Hash(ctx, k.root, convert, "-w")
	if err != nil {
		return 0, err
	}
	for path, entry := range found {
		mode, oid, _ := strings.Cut(entry, " ")
		k.have[path] = blob{sig: files[path], mode: mode, oid: oid}
	}
	return leftOut, nil
}
