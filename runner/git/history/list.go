package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"ralph/runner/git"
	"ralph/runner/git/command"
)

// Kept is a kept state.
type Kept struct {
	git.State
	Ref  string
	OID  string
	Head string // the commit that was checked out; empty before the first
	Time time.Time
}

// List returns the kept states of a run, oldest first. An empty run means all runs.
func List(ctx context.Context, dir, run string) ([]Kept, error) {
	return list(ctx, dir, git.KeptRefs+run)
}

// Containing returns the kept states that have a commit in their history, oldest first. The first of them is the end of
// the iteration that made the commit, or a start, if the commit is older than the run.
func Containing(ctx context.Context, dir, commit string) ([]Kept, error) {
	return list(ctx, dir, "--contains", commit, git.KeptRefs)
}

// list returns the kept states among the refs that these arguments select.
func list(ctx context.Context, dir string, selected ...string) ([]Kept, error) {
	root, ok := git.Root(dir)
	if !ok {
		return nil, nil
	}
	out, err := command.Call{Dir: root}.Run(ctx, append([]string{"for-each-ref",
		"--format=%(refname) %(objectname) %(committerdate:unix) %(parent)%00%(contents)%00"}, selected...)...)
	if err != nil {
		return nil, fmt.Errorf("list kept states: %w", err)
	}
	var all []Kept
	parts := strings.Split(out, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(parts[i])
		_, meta, ok := strings.Cut(parts[i+1], "\n"+git.KeptTrailer)
		if len(f) < 3 || !ok {
			continue // not ours
		}
		var seconds int64
		k := Kept{Ref: f[0], OID: f[1]}
		if _, err := fmt.Sscan(f[2], &seconds); err != nil ||
			json.Unmarshal([]byte(strings.TrimSpace(meta)), &k.State) != nil {
			continue
		}
		k.Time = time.Unix(seconds, 0)
		if k.At > 0 {
			k.Time = time.Unix(0, k.At)
		}
		if len(f) > 3 {
			k.Head = f[3]
		}
		all = append(all, k)
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		start := func(k Kept) int {
			if k.Start {
				return 0
			}
			return 1
		}
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Iteration, b.Iteration),
			cmp.Compare(start(a), start(b))) < 0
	})
	return all, nil
}

// Prune deletes kept states that are older than age, and all but the newest count. With the last state of a run goes
// what the run kept of commits and stash entries that are gone. It returns the number of states. git removes their objects later.
func Prune(ctx context.Context, dir string, age time.Duration, count int) (int, error) {
	all, err := List(ctx, dir, "")
	if err != nil {
		return 0, err
	}
	var in strings.Builder
	pruned, stay := 0, map[string]bool{}
	for i, k := range all {
		if i < len(all)-count || time.Since(k.Time) > age {
			fmt.Fprintf(&in, "delete %s %s\n", k.Ref, k.OID)
			pruned++
		} else {
			stay[k.Run] = true
		}
	}
	if pruned == 0 {
		return 0, nil
	}
	out, err := command.Run(ctx, dir, "for-each-ref", "--format=%(refname) %(objectname)", git.KeptRefs)
	if err != nil {
		return 0, fmt.Errorf("prune kept states: %w", err)
	}
	for line := range strings.Lines(out) { // what a run has lost goes with its last state
		ref, oid, _ := strings.Cut(strings.TrimSpace(line), " ")
		run, name, _ := strings.Cut(strings.TrimPrefix(ref, git.KeptRefs), "/")
		if !stay[run] && (strings.HasPrefix(name, "lost/") || strings.HasPrefix(name, "stash/")) {
			fmt.Fprintf(&in, "delete %s %s\n", ref, oid)
		}
	}
	if _, err := (command.Call{Dir: dir, Stdin: in.String()}).Run(ctx, "update-ref", "--stdin"); err != nil {
		return 0, fmt.Errorf("prune kept states: %w", err)
	}
	return pruned, nil
}

// Diff returns the patch between two kept states or commits. options are those of git
// diff.
func Diff(ctx context.Context, dir string, states [2]string, options ...string) (string, error) {
	root, _ := git.Root(dir)
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"}, options...)
	out, err := command.Call{Dir: root}.Run(ctx, append(args, states[0], states[1], "--")...)
	if err != nil {
		return "", fmt.Errorf("compare states: %w", err)
	}
	return out, nil
}

// Changes returns the names of the files that the iterations of a run changed, as often as they did. With lines, a regular
// expression, it returns only those in which lines that match were added or removed.
func Changes(ctx context.Context, dir, run, lines string) (files []string, err error) {
	all, err := List(ctx, dir, run)
	for _, k := range all {
		if k.Base == "" || k.Undone {
			continue
		}
		options := []string{"--name-only", "-z"}
		if lines != "" {
			options = append(options, "-G", lines)
		}
		out, err := Diff(ctx, dir, [2]string{k.Base, k.OID}, options...)
		if err != nil {
			return nil, err
		}
		files = append(files, strings.FieldsFunc(out, func(r rune) bool { return r == 0 })...)
	}
	return files, err
}

// Undone returns the undone iterations of a run: those undone in the work tree only, or by
// a commit in HEAD that was not reverted. kept are the states of all runs.
func Undone(ctx context.Context, dir, run string, kept []Kept) (map[int]bool, error) {
	undone := map[int]bool{}
	for _, k := range kept {
		if k.Undone && k.Run == run {
			undone[k.Iteration] = true
		}
	}
	root, _ := git.Root(dir)
	if _, err := (command.Call{Dir: root}).Run(ctx, "rev-parse", "-q", "--verify", "HEAD"); err != nil ||
		len(kept) == 0 {
		return undone, ctx.Err() // no commit yet
	}
	since := "HEAD"
	if kept[0].Head != "" {
		since = kept[0].Head + "..HEAD"
	}
	out, err := command.Call{Dir: root}.Run(ctx, "log", "-z", "--reverse", "--format=%H%n%B", since)
	if err != nil {
		return nil, fmt.Errorf("find undone iterations: %w", err)
	}
	commits := map[string]map[int]bool{} // what each says of iterations
	for _, record := range command.Entries(out) {
		oid, text, _ := strings.Cut(record, "\n")
		says := map[int]bool{}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if n, ok := strings.CutPrefix(line, undoTrailer+": "+run+"/"); ok {
				if i, err := strconv.Atoi(n); err == nil {
					says[i] = true
				}
			}
			for i, was := range commits[strings.TrimSuffix(strings.TrimPrefix(line, "This reverts commit "), ".")] {
				says[i] = !was
			}
		}
		maps.Copy(undone, says)
		commits[oid] = says
	}
	return undone, nil
}

// Cut is an iteration that was cut off and that the resumed run repeats.
type Cut struct {
	Run       string
	Iteration int
	// Killed is the last sign of life of a killed runner; zero: it recorded its end itself.
	Killed time.Time
}

// Begun returns the state in which the iteration began, so that diff and undo also cover what the interrupted call did,
// but not what people have changed since. The zero State: it was not kept.
func Begun(ctx context.Context, dir string, c Cut) (git.State, error) {
	all, err := List(ctx, dir, c.Run)
	if err != nil || len(all) == 0 {
		return git.State{}, err
	}
	root, _ := git.Root(dir)
	last := all[len(all)-1]
	base, left := last.OID, last.OID
	ended := func(k Kept) bool { return k.Iteration == c.Iteration && !k.Start && !k.Undone }
	if i := slices.IndexFunc(all, ended); i >= 0 {
		base, left = all[i].Base, all[i].OID
	} else if c.Killed.IsZero() {
		return git.State{}, nil
	}
	edited, err := edited(ctx, root, left)
	if err != nil {
		return git.State{}, err
	}
	if left == base { // nothing recorded what the killed call left, so go by the times of files
		ended := c.Killed.Add(git.KillGrace)
		edited = slices.DeleteFunc(edited, func(path string) bool { return !git.ChangedSince(root, path, ended) })
	}
	s := git.State{Run: c.Run, Iteration: c.Iteration, Start: true, Base: base}
	if len(edited) > 0 {
		if err := git.KeepFiles(ctx, root, edited, nil, s); err != nil {
			return git.State{}, err
		}
		out, err := command.Call{Dir: root}.Run(ctx, "rev-parse",
			fmt.Sprintf("%s%s/%d-start", git.KeptRefs, c.Run, c.Iteration))
		if err != nil {
			return git.State{}, fmt.Errorf("find where iteration %d began: %w", c.Iteration, err)
		}
		s.Base = out[:len(base)]
	}
	// The resumed run keeps its own start under the same name. Without a second ref, git would collect this one.
	_, err = command.Call{Dir: root}.Run(ctx, "update-ref",
		fmt.Sprintf("%s%s/%d-begun", git.KeptRefs, c.Run, c.Iteration), s.Base)
	return s, err
}

// edited returns the files of the work tree that differ from a kept state.
func edited(ctx context.Context, root, kept string) ([]string, error) {
	changed, err := command.Call{Dir: root}.Run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--name-only", "-z", kept, "--")
	if err != nil {
		return nil, fmt.Errorf("compare with a kept state: %w", err)
	}
	untracked, err := command.Call{Dir: root}.Run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, fmt.Errorf("compare with a kept state: %w", err)
	}
	files := slices.DeleteFunc(append(command.Entries(changed), command.Entries(untracked)...),
		func(f string) bool { return strings.HasSuffix(f, "/") }) // a nested repository
	return differing(ctx, root, kept, files)
}
