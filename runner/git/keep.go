package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
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
)

// The kept states are commits below KeptRefs, with their State as JSON behind
// KeptTrailer in the message.
const (
	KeptRefs    = "refs/ralph/"
	KeptTrailer = "Ralph-State: "
)

const (
	maxKeptFile  = 8 << 20  // bytes
	maxKeptFiles = 5000     // written for one state
	maxKeptBytes = 64 << 20 // written for one state
)

// State says what a kept state is. It is written into the message of its commit.
type State struct {
	Run       string `json:"run"`       // letters, digits, dots and dashes
	Iteration int    `json:"iteration"` // of a start: the iteration that begins
	// Start is true for the state before an iteration that does not follow
	// directly on the end of the one before: the first of a run or of its
	// continuation.
	Start bool `json:"start,omitempty"`
	// Undone is true for the state after the iteration was taken back without a
	// commit.
	Undone bool `json:"undone,omitempty"`
	// At is when the state was kept, in Unix nanoseconds: git knows seconds only.
	// It is set when the state is kept.
	At int64 `json:"at,omitempty"`
	// Base is the object id of the state that the iteration began with; empty
	// for a start. After an undo: of the state that was the newest.
	Base    string `json:"base,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Task    string `json:"task,omitempty"` // its id
	// Plan is the slash-separated path of the plan, relative to the project or
	// absolute; empty: none.
	Plan    string          `json:"plan,omitempty"`
	Checks  map[string]bool `json:"checks,omitempty"` // name -> passed
	CostUSD float64         `json:"cost_usd,omitempty"`
	Files   int             `json:"files,omitempty"` // changed in the iteration
	// LeftOut counts the files that are too large, or too many, to be kept.
	// Keep sets it.
	LeftOut int `json:"left_out,omitempty"`
}

func (s State) ref() string {
	name := fmt.Sprintf("%s%s/%d", KeptRefs, s.Run, s.Iteration)
	switch {
	case s.Start:
		name += "-start"
	case s.Undone:
		name += "-undone"
	}
	return name
}

// message is that of the state's commit.
func (s State) message() (string, error) {
	meta, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("describe state: %w", err)
	}
	return fmt.Sprintf("ralph: run %s, iteration %d\n\n%s%s\n", s.Run, s.Iteration, KeptTrailer, meta), nil
}

// Keeper keeps states of one repository. It remembers what it has written, so
// that an iteration costs only what it changed. Not for several goroutines.
type Keeper struct {
	root    string
	have    map[string]blob // by path
	filters *bool           // whether git converts contents; nil: not known yet
}

// blob is the object of one file, or its content when that is still to be written.
type blob struct {
	sig       signature
	mode, oid string
	data      []byte
	inline    bool
}

// NewKeeper returns a Keeper for the repository that dir is in; false when
// there is none.
func NewKeeper(dir string) (*Keeper, bool) {
	root, ok := Root(dir)
	return &Keeper{root: root, have: map[string]blob{}}, ok
}

// Keep writes the state of the snapshot, which must be of this moment, as a
// commit below refs/ralph/ whose parent is HEAD, and returns its object id. The
// tree is HEAD's with all that differs from it: changed, removed and untracked
// files, not ignored ones. A state of the same run and iteration is replaced.
// It runs one git process, two where git converts contents (line ends, filters),
// and touches neither an index nor the work tree.
func (k *Keeper) Keep(ctx context.Context, snap Snapshot, s State) (string, error) {
	first := len(k.have) == 0
	oid, err := k.start(ctx, snap, s).Wait()
	if err != nil && !first && ctx.Err() == nil {
		oid, err = k.start(ctx, snap, s).Wait()
	}
	return oid, err
}

// keepPatience is how long git waits after Start: a process that begins just
// then would slow down the start of the next agent.
const keepPatience = 200 * time.Millisecond

// Keeping is a state on its way into the repository.
type Keeping struct {
	keeper *Keeper
	now    chan struct{} // closed: no more patience
	ref    string
	done   chan struct{}
	oid    string
	err    error
}

// Start is Keep in two steps: when it returns, everything is read from the
// disk, and the files may change; git writes a little later. Wait has to be
// called before the next state is kept.
func (k *Keeper) Start(ctx context.Context, snap Snapshot, s State) *Keeping {
	return k.start(context.WithoutCancel(ctx), snap, s)
}

func (k *Keeper) start(ctx context.Context, snap Snapshot, s State) *Keeping {
	p := &Keeping{keeper: k, ref: s.ref(), now: make(chan struct{}), done: make(chan struct{})}
	in, err := k.prepare(ctx, snap, s)
	if err != nil {
		p.err = err
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		patience := time.NewTimer(keepPatience)
		defer patience.Stop()
		select {
		case <-p.now:
		case <-patience.C:
		}
		// Without fsync a crash of the machine may cost the last states, as it may
		// cost what git add has written. Few objects are written one by one, many as
		// a pack, which takes a tenth of the time. --force: the ref of a state that
		// is kept again is replaced.
		var out string
		out, p.err = Call{Dir: k.root, Stdin: in}.Run(ctx, "-c", "core.fsync=none", "-c", "fastimport.unpackLimit=20",
			"fast-import", "--quiet", "--done", "--force")
		p.oid = strings.TrimSpace(out)
	}()
	return p
}

// Wait returns the object id of the state. It is called once.
func (p *Keeping) Wait() (string, error) {
	close(p.now)
	<-p.done
	if p.err != nil {
		clear(p.keeper.have) // objects that nothing refers to any more may have been collected
		return "", fmt.Errorf("keep state %s: %w", p.ref, p.err)
	}
	for path, b := range p.keeper.have {
		b.data, b.inline = nil, b.inline && b.oid == ""
		p.keeper.have[path] = b
	}
	return p.oid, nil
}

const runLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// prepare reads what is new and says it in the language of fast-import.
func (k *Keeper) prepare(ctx context.Context, snap Snapshot, s State) (string, error) {
	if s.Run == "" || strings.Trim(s.Run, runLetters) != "" || strings.Contains(s.Run, "..") {
		return "", fmt.Errorf("run %q is not a name", s.Run)
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
	fmt.Fprintf(&in, "commit %s\nmark :1\ncommitter ralph <ralph@localhost> %d +0000\ndata %d\n%s\n", s.ref(), now.Unix(), len(message), message)
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
		switch {
		case !ok:
		case b.inline:
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", b.mode, quote(path), len(b.data), b.data)
		default:
			fmt.Fprintf(&in, "M %s %s %s\n", b.mode, b.oid, quote(path))
		}
	}
	in.WriteString("\nget-mark :1\ndone\n")
	return in.String(), nil
}

// write finds the objects of the files, and forgets those of files that are no
// longer there. It returns how many it left out.
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
		if err != nil || info.IsDir() { // gone meanwhile; a repository of its own
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

// readBlob takes a file, or where a link points, from the disk. idLength is
// that of object ids, 0 before the first commit: then the id stays empty.
func readBlob(name string, info fs.FileInfo, idLength int) (b blob, ok bool) {
	b = blob{mode: fileMode(info), inline: true}
	var err error
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = os.Readlink(name)
		b.mode, b.data = "120000", []byte(target)
	case info.Mode().IsRegular():
		b.data, err = os.ReadFile(name)
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

// filtered says whether git may store other bytes than those on the disk:
// line ends, clean filters.
func (k *Keeper) filtered(ctx context.Context, files map[string]signature) (bool, error) {
	if k.filters == nil {
		config, err := run(ctx, k.root, "config", "--get-regexp", `^core\.(autocrlf|attributesfile)$`)
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		attributes, err := run(ctx, k.root, "ls-files", "--", ".gitattributes", "**/.gitattributes")
		if err != nil {
			return false, err
		}
		config = strings.ReplaceAll(config, "core.autocrlf false\n", "")
		is := config != "" || attributes != ""
		for _, name := range []string{filepath.Join(metaDir(k.root), "info", "attributes"), os.Getenv("HOME") + "/.config/git/attributes"} {
			_, err := os.Stat(name)
			is = is || err == nil
		}
		k.filters = &is
	}
	if !*k.filters {
		_, err := os.Lstat(filepath.Join(k.root, ".gitattributes"))
		*k.filters = err == nil
		for path := range files {
			*k.filters = *k.filters || filepath.Base(path) == ".gitattributes"
		}
	}
	return *k.filters, nil
}

// Hash returns mode and object id, "100644 OID", of files of the work tree at
// root as git would store them, filters applied. One git process; what is no
// regular file is missing. The option -w stores them.
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
	out, err := Call{Dir: root, Stdin: in.String()}.Run(ctx, args...)
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

// quote writes a path in the way that git reads whatever it holds.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
