package git

import (
	"cmp"
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
)

const (
	keptRefs     = "refs/ralph/"
	keptTrailer  = "Ralph-State: "
	maxKeptFile  = 8 << 20
	maxKeptFiles = 5000
)

// State says what a kept state is. It is written into the message of its commit.
type State struct {
	Run       string `json:"run"`       // letters, digits, dots and dashes
	Iteration int    `json:"iteration"` // of a start: the iteration that begins
	// Start is true for the state before an iteration that does not follow
	// directly on the end of the one before: the first of a run or of its
	// continuation.
	Start bool `json:"start,omitempty"`
	// Base is the object id of the state that the iteration began with; empty
	// for a start.
	Base    string          `json:"base,omitempty"`
	Outcome string          `json:"outcome,omitempty"`
	Rule    string          `json:"rule,omitempty"`
	Task    string          `json:"task,omitempty"`
	Checks  map[string]bool `json:"checks,omitempty"` // name -> passed
	CostUSD float64         `json:"cost_usd,omitempty"`
	Files   int             `json:"files,omitempty"` // changed in the iteration
	// LeftOut counts the files that are too large, or too many, to be kept.
	// Keep sets it.
	LeftOut int `json:"left_out,omitempty"`
}

func (s State) ref() string {
	name := fmt.Sprintf("%s%s/%d", keptRefs, s.Run, s.Iteration)
	if s.Start {
		name += "-start"
	}
	return name
}

// Keeper keeps states of one repository. It remembers what it has written, so
// that an iteration costs only what it changed. Not for several goroutines.
type Keeper struct {
	root string
	have map[string]blob // by path
}

// blob is the object of one file.
type blob struct {
	sig       signature
	mode, oid string
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
// It runs one git process when no file changed since the last call, else two,
// and touches neither an index nor the work tree.
func (k *Keeper) Keep(ctx context.Context, snap Snapshot, s State) (string, error) {
	if s.Run == "" || strings.Trim(s.Run, runLetters) != "" || strings.Contains(s.Run, "..") {
		return "", fmt.Errorf("keep state: run %q is not a name", s.Run)
	}
	if !snap.Repo {
		return "", errors.New("keep state: no git repository")
	}
	oid, err := k.keep(ctx, snap, s)
	if err != nil && len(k.have) > 0 && ctx.Err() == nil {
		clear(k.have) // objects that nothing refers to any more may have been collected
		oid, err = k.keep(ctx, snap, s)
	}
	if err != nil {
		return "", fmt.Errorf("keep state %s: %w", s.ref(), err)
	}
	return oid, nil
}

const runLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

func (k *Keeper) keep(ctx context.Context, snap Snapshot, s State) (string, error) {
	files := maps.Clone(snap.files)
	maps.Copy(files, snap.own)
	leftOut, err := k.write(ctx, files)
	if err != nil {
		return "", err
	}
	s.LeftOut = leftOut
	meta, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("describe state: %w", err)
	}
	message := fmt.Sprintf("ralph: run %s, iteration %d\n\n%s%s\n", s.Run, s.Iteration, keptTrailer, meta)
	var in strings.Builder
	fmt.Fprintf(&in, "commit %s\nmark :1\ncommitter ralph <ralph@localhost> %d +0000\ndata %d\n%s\n", s.ref(), time.Now().Unix(), len(message), message)
	if snap.Head != "" {
		fmt.Fprintf(&in, "from %s\n", snap.Head)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if files[path] == (signature{}) {
			fmt.Fprintf(&in, "D %s\n", quote(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if b, ok := k.have[path]; ok && b.sig == files[path] {
			fmt.Fprintf(&in, "M %s %s %s\n", b.mode, b.oid, quote(path))
		}
	}
	in.WriteString("\nget-mark :1\ndone\n")
	// --force: the ref of a state that is kept again is replaced.
	out, err := call{dir: k.root, stdin: in.String()}.run(ctx, "fast-import", "--quiet", "--done", "--force")
	return strings.TrimSpace(out), err
}

// write makes objects of the files whose signature is not known, and forgets
// those that are no longer there. It returns how many it left out.
func (k *Keeper) write(ctx context.Context, files map[string]signature) (leftOut int, err error) {
	maps.DeleteFunc(k.have, func(path string, _ blob) bool { _, ok := files[path]; return !ok })
	var fresh []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sig := files[path]
		if b, ok := k.have[path]; sig == (signature{}) || ok && b.sig == sig {
			continue
		}
		delete(k.have, path)
		info, err := os.Lstat(filepath.Join(k.root, filepath.FromSlash(path)))
		switch {
		case err != nil, info.IsDir(): // gone meanwhile; a repository of its own
		case info.Size() > maxKeptFile || len(fresh) == maxKeptFiles:
			leftOut++
		case info.Mode()&os.ModeSymlink != 0 || info.Mode().IsRegular():
			fresh = append(fresh, path)
		}
	}
	found, err := hash(ctx, k.root, fresh, true)
	if err != nil {
		return 0, err
	}
	for path, b := range found {
		b.sig = files[path]
		k.have[path] = b
	}
	return leftOut, nil
}

// hash returns mode and object id of files and symbolic links as git would
// store them, filters applied; with write it stores them. One git process for
// the files, and one for each link.
func hash(ctx context.Context, root string, paths []string, write bool) (map[string]blob, error) {
	found := map[string]blob{}
	var regular []string
	var in strings.Builder
	args := []string{"hash-object"}
	if write {
		args = append(args, "-w")
	}
	for _, path := range paths {
		name := filepath.Join(root, filepath.FromSlash(path))
		info, err := os.Lstat(name)
		switch {
		case err != nil:
			continue
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				continue
			}
			oid, err := call{dir: root, stdin: target}.run(ctx, append(args, "--stdin")...)
			if err != nil {
				return nil, err
			}
			found[path] = blob{mode: "120000", oid: strings.TrimSpace(oid)}
			continue
		case !info.Mode().IsRegular():
			continue
		}
		mode := "100644"
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		found[path] = blob{mode: mode}
		regular = append(regular, path)
		in.WriteString(quote(path) + "\n")
	}
	if len(regular) == 0 {
		return found, nil
	}
	out, err := call{dir: root, stdin: in.String()}.run(ctx, append(args, "--stdin-paths")...)
	if err != nil {
		return nil, err
	}
	oids := strings.Fields(out)
	if len(oids) != len(regular) {
		return nil, fmt.Errorf("hash files: %d answers for %d files", len(oids), len(regular))
	}
	for i, path := range regular {
		found[path] = blob{mode: found[path].mode, oid: oids[i]}
	}
	return found, nil
}

// quote writes a path in the way that git reads whatever it holds.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// Kept is one kept state.
type Kept struct {
	State
	Ref  string
	OID  string
	Head string // the commit that was checked out; empty before the first
	Time time.Time
}

// List returns the kept states of a run, or of all runs when run is empty,
// oldest first.
func List(ctx context.Context, dir, run string) ([]Kept, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, nil
	}
	out, err := call{dir: root}.run(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(committerdate:unix) %(parent)%00%(contents)%00", keptRefs+run)
	if err != nil {
		return nil, fmt.Errorf("list kept states: %w", err)
	}
	var all []Kept
	parts := strings.Split(out, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(parts[i])
		_, meta, ok := strings.Cut(parts[i+1], "\n"+keptTrailer)
		if len(f) < 3 || !ok {
			continue // not ours
		}
		var seconds int64
		k := Kept{Ref: f[0], OID: f[1]}
		if _, err := fmt.Sscan(f[2], &seconds); err != nil || json.Unmarshal([]byte(strings.TrimSpace(meta)), &k.State) != nil {
			continue
		}
		k.Time = time.Unix(seconds, 0)
		if len(f) > 3 {
			k.Head = f[3]
		}
		all = append(all, k)
	}
	slices.SortStableFunc(all, func(a, b Kept) int {
		start := func(k Kept) int {
			if k.Start {
				return 0
			}
			return 1
		}
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Iteration, b.Iteration), cmp.Compare(start(a), start(b)))
	})
	return all, nil
}

// Prune forgets the kept states that are older than age, and the oldest above
// count, and returns how many. git removes their objects in its own time.
func Prune(ctx context.Context, dir string, age time.Duration, count int) (int, error) {
	all, err := List(ctx, dir, "")
	if err != nil {
		return 0, err
	}
	var in strings.Builder
	pruned := 0
	for i, k := range all {
		if i < len(all)-count || time.Since(k.Time) > age {
			fmt.Fprintf(&in, "delete %s %s\n", k.Ref, k.OID)
			pruned++
		}
	}
	if pruned == 0 {
		return 0, nil
	}
	if _, err := (call{dir: dir, stdin: in.String()}).run(ctx, "update-ref", "--stdin"); err != nil {
		return 0, fmt.Errorf("prune kept states: %w", err)
	}
	return pruned, nil
}

// Diff returns the patch from one kept state, or commit, to another.
func Diff(ctx context.Context, dir, from, to string, options ...string) (string, error) {
	root, _ := Root(dir)
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"}, options...)
	out, err := run(ctx, root, append(args, from, to, "--")...)
	if err != nil {
		return "", fmt.Errorf("compare states: %w", err)
	}
	return out, nil
}
