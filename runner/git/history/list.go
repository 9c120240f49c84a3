package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sort"
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
