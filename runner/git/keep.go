package git

import (
	"cmp"
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
	maxKeptFiles = 5000     // new or changed, for one state
	maxKeptBytes = 64 << 20 // new or changed, for one state
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
	// have has the files of the latest state that git has, and last the signatures of all files then.
	have map[string]blob
	last map[string]signature
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
	known := len(k.have) > 0
	oid, err := k.start(ctx, snap, s).Wait()
	if err != nil && known && ctx.Err() == nil { // git may have removed the objects of the latest state
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
			tree, err = CommitTree(ctx, root, tree, head, message)
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

// packBound limits Pack: in a large repository, git looks at all commits.
const packBound = time.Minute

// Pack moves loose objects into a pack, and all refs into one file. Thousands of small files would make git slow. It
// removes nothing, and if it fails, git is only slower.
func Pack(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, packBound)
	defer cancel()
	if _, err := command.Run(ctx, dir, "repack", "-d", "-l", "-n", "-q"); err == nil {
		_, _ = command.Run(ctx, dir, "pack-refs", "--all")
	}
}

// Keeping is a state that is being written.
type Keeping struct {
	keeper *Keeper
	now    chan struct{} // closed: start git now
	ref    string
	done   chan struct{}
	oids   []string // of the state, then of its new files
	fresh  []string // the new files
	err    error
}

// Start is Keep in two steps. When it returns, all files are read and may change; git
// writes a little later. Call Wait before you keep another state.
func (k *Keeper) Start(ctx context.Context, snap Snapshot, s State) *Keeping {
	return k.start(context.WithoutCancel(ctx), snap, s)
}

func (k *Keeper) start(ctx context.Context, snap Snapshot, s State) *Keeping {
	p := &Keeping{keeper: k, ref: s.Ref(), now: make(chan struct{}), done: make(chan struct{})}
	var in string
	var err error
	if in, p.fresh, err = k.prepare(ctx, snap, s); err != nil {
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
		if p.oids = strings.Fields(out); p.err == nil && len(p.oids) != 1+len(p.fresh) {
			p.err = fmt.Errorf("git fast-import: %d answers for %d files", len(p.oids), len(p.fresh))
		}
	}()
	return p
}

// Wait returns the object id of the state. Call it once.
func (p *Keeping) Wait() (string, error) {
	close(p.now)
	<-p.done
	if p.err != nil {
		clear(p.keeper.have)
		return "", fmt.Errorf("keep state %s: %w", p.ref, p.err)
	}
	for i, path := range p.fresh {
		b := p.keeper.have[path]
		b.oid, b.data = p.oids[1+i], nil
		p.keeper.have[path] = b
	}
	return p.oids[0], nil
}

// prepare reads what is new and returns the input of git fast-import, which answers with the object ids of the state
// and of the fresh files.
func (k *Keeper) prepare(ctx context.Context, snap Snapshot, s State) (input string, fresh []string, err error) {
	if s.Run == "" || strings.Trim(s.Run, runLetters) != "" || strings.Contains(s.Run, "..") {
		return "", nil, fmt.Errorf("run %q is not a valid name: only letters, digits, dots and dashes", s.Run)
	}
	if !snap.Repo {
		return "", nil, errors.New("no git repository")
	}
	files := maps.Clone(snap.files)
	maps.Copy(files, snap.own)
	leftOut, err := k.read(ctx, files)
	if err != nil {
		return "", nil, err
	}
	now := time.Now()
	s.LeftOut, s.At = leftOut, now.UnixNano()
	message, err := s.message()
	if err != nil {
		return "", nil, err
	}
	var blobs, in, answers strings.Builder
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
	for _, path := range slices.Sorted(maps.Keys(k.have)) {
		b := k.have[path]
		if b.oid == "" {
			fresh = append(fresh, path)
			b.oid = fmt.Sprintf(":%d", 1+len(fresh))
			fmt.Fprintf(&blobs, "blob\nmark %s\ndata %d\n%s\n", b.oid, len(b.data), b.data)
			fmt.Fprintf(&answers, "get-mark %s\n", b.oid)
		}
		fmt.Fprintf(&in, "M %s %s %s\n", b.mode, b.oid, quote(path))
	}
	return blobs.String() + in.String() + "\nget-mark :1\n" + answers.String() + "done\n", fresh, nil
}

// blob is a file for git fast-import: the object that has it or, as long as git has none, its content.
type blob struct {
	sig       signature
	mode, oid string
	data      []byte
}

// read makes have the files of the next state. It reads those that it does not have, or lets git store those that git
// converts. It leaves out what is gone or no file, and counts what is too large or too much: what has changed since the
// latest state comes first, and then what is small.
func (k *Keeper) read(ctx context.Context, files map[string]signature) (leftOut int, err error) {
	filters, err := k.filtered(ctx, files)
	if err != nil {
		return 0, err
	}
	maps.DeleteFunc(k.have, func(path string, b blob) bool { return b.oid == "" || files[path] != b.sig })
	type candidate struct {
		path, name string
		info       fs.FileInfo
		old        bool // it was like this in the latest state
	}
	var fresh []candidate
	for path, sig := range files {
		if _, ok := k.have[path]; ok {
			continue
		}
		name := filepath.Join(k.root, filepath.FromSlash(path))
		if info, err := os.Lstat(name); err == nil && !info.IsDir() { // else gone, or a nested repository
			was, ok := k.last[path]
			fresh = append(fresh, candidate{path, name, info, ok && was == sig})
		}
	}
	k.last = files
	slices.SortFunc(fresh, func(a, b candidate) int {
		switch {
		case a.old && !b.old:
			return 1
		case b.old && !a.old:
			return -1
		}
		return cmp.Or(cmp.Compare(a.info.Size(), b.info.Size()), cmp.Compare(a.path, b.path))
	})
	var convert []string
	var in strings.Builder
	count, room := 0, maxKeptBytes
	for _, c := range fresh {
		if count == maxKeptFiles || c.info.Size() > maxKeptFile || int(c.info.Size()) > room {
			leftOut++
			continue
		}
		count++
		room -= int(c.info.Size())
		b := blob{sig: files[c.path], mode: "100644"}
		if c.info.Mode()&0o100 != 0 {
			b.mode = "100755"
		}
		var err error
		switch {
		case c.info.Mode()&fs.ModeSymlink != 0:
			target, unread := os.Readlink(c.name)
			b.mode, b.data, err = "120000", []byte(target), unread
		case !c.info.Mode().IsRegular():
			continue
		case filters:
			convert = append(convert, c.path)
			in.WriteString(quote(c.path) + "\n")
		default:
			b.data, err = projectfs.Above(c.name).Read(c.name, c.info.Size()+maxGrown)
		}
		if err == nil {
			k.have[c.path] = b
		}
	}
	if len(convert) == 0 {
		return leftOut, nil
	}
	out, err := command.Call{Dir: k.root, Stdin: in.String()}.Run(ctx, "hash-object", "-w", "--stdin-paths")
	oids := strings.Fields(out)
	if err == nil && len(oids) != len(convert) {
		err = fmt.Errorf("store files: %d answers for %d files", len(oids), len(convert))
	}
	if err != nil {
		clear(k.have)
		return 0, err
	}
	for i, path := range convert {
		b := k.have[path]
		b.oid = oids[i]
		k.have[path] = b
	}
	return leftOut, nil
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
