package git

// This file finds files that git does not show.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/git/command"
)

// HiddenView has the tracked files whose changes git does not show. The zero value: none.
type HiddenView struct {
	root     string
	flags    map[string]string // marked files
	ignored  map[string]bool   // tracked files that an ignore rule matches
	index    string            // changes whenever the index does
	settings string            // the ignore rules that are not in the work tree
	standIns map[string]string // what decides how tests run and git ignores: its content
}

// LookForHidden takes a HiddenView of the repository of dir. It runs three git processes, none without a
// repository.
func LookForHidden(ctx context.Context, dir string) (HiddenView, error) {
	root, ok := command.Root(dir)
	if !ok {
		return HiddenView{}, nil
	}
	v := HiddenView{root: root, ignored: map[string]bool{}}
	if err := v.readFlags(ctx); err != nil {
		return HiddenView{}, err
	}
	out, err := command.Run(ctx, root, "ls-files", "--ignored", "--cached", "--exclude-standard", "-z")
	if err != nil {
		return HiddenView{}, fmt.Errorf("list ignored files: %w", err)
	}
	for file := range strings.SplitSeq(out, "\x00") {
		v.ignored[file] = true
	}
	v.settings = v.readSettings()
	if out, err = v.ignoredOthers(ctx); err != nil {
		return HiddenView{}, err
	}
	v.standIns = findStandIns(root, out)
	return v, nil
}

// ignoredOthers lists what is ignored and not tracked. A folder stands for all that is in it.
func (v HiddenView) ignoredOthers(ctx context.Context) (string, error) {
	out, err := command.Run(ctx, v.root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return "", fmt.Errorf("list ignored files: %w", err)
	}
	return out, nil
}

// Since returns what is hidden now and was not in v, and the HiddenView of now. head is the
// commit that was checked out for v; the files of its tree count as tracked. rules is true
// if an ignore file of the work tree changed. It runs one git process, another if the index changed, and two more if
// ignore rules did.
func (v HiddenView) Since(ctx context.Context, head string, rules bool) (HiddenView, []HiddenFile, error) {
	if v.root == "" {
		return v, nil, nil
	}
	now := v
	if now.indexStamp() != v.index {
		if err := now.readFlags(ctx); err != nil {
			return v, nil, err
		}
	}
	var found []HiddenFile
	for file, flag := range now.flags {
		if v.flags[file] == "" {
			found = append(found, HiddenFile{File: file, Flag: flag})
		}
	}
	others, err := v.ignoredOthers(ctx)
	if err != nil {
		return v, found, err
	}
	now.standIns = findStandIns(v.root, others)
	for _, file := range slices.Sorted(maps.Keys(now.standIns)) {
		if was, old := v.standIns[file]; !old || was != now.standIns[file] {
			found = append(found, HiddenFile{File: file, StandIn: true})
		}
	}
	now.settings = v.readSettings()
	if head == "" || !rules && now.settings == v.settings {
		return now, found, nil
	}
	tracked, err := command.Run(ctx, v.root, "ls-tree", "-r", "--full-tree", "--name-only", "-z", head)
	if err != nil {
		return v, found, fmt.Errorf("list tracked files: %w", err)
	}
	ignored, err := v.matched(ctx, tracked)
	if err != nil {
		return v, found, err
	}
	now.ignored = map[string]bool{}
	for _, e := range ignored {
		if !v.ignored[e.File] && !now.ignored[e.File] {
			found = append(found, e)
		}
		now.ignored[e.File] = true
	}
	return now, found, nil
}

// matched returns those of the files that an ignore rule matches.
func (v HiddenView) matched(ctx context.Context, files string) ([]HiddenFile, error) {
	out, err := command.Call{Dir: v.root, Stdin: files}.Run(ctx, "check-ignore", "--no-index", "--verbose", "-z",
		"--stdin")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // none
	}
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	var found []HiddenFile
	fields := strings.Split(out, "\x00") // place, line, rule, file
	for i := 0; i+3 < len(fields); i += 4 {
		place, rule := fields[i], fields[i+2]
		if strings.HasPrefix(rule, "!") {
			continue
		}
		if rel, err := filepath.Rel(v.root, place); err == nil && filepath.IsAbs(place) && filepath.IsLocal(rel) {
			place = rel
		}
		found = append(found, HiddenFile{File: fields[i+3], Rule: rule, Place: place})
	}
	return found, nil
}

// readFlags reads which files are marked.
func (v *HiddenView) readFlags(ctx context.Context) error {
	v.index, v.flags = v.indexStamp(), map[string]string{}
	out, err := command.Run(ctx, v.root, "ls-files", "-v", "-z")
	if err != nil {
		return fmt.Errorf("list marked files: %w", err)
	}
	for record := range strings.SplitSeq(out, "\x00") {
		tag, file, _ := strings.Cut(record, " ")
		switch {
		case tag == "S" || tag == "s":
			v.flags[file] = "skip-worktree"
		case tag != "" && strings.ToLower(tag) == tag:
			v.flags[file] = "assume-unchanged"
		}
	}
	return nil
}

func (v HiddenView) indexStamp() string {
	info, err := os.Stat(filepath.Join(command.MetaDir(v.root), "index"))
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// readSettings reads the rules of the repository, and the settings that may name others.
func (v HiddenView) readSettings() string {
	meta := command.MetaDir(v.root)
	all := ""
	for _, name := range []string{"info/exclude", "config", "config.worktree"} {
		data, _ := os.ReadFile(filepath.Join(meta, name)) // file: in the folder of git; missing is empty
		all += string(data) + "\x00"
	}
	return all
}
