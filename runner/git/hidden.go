package git

// This file finds files that git does not show.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/lazy"
	"ralph/runner/git/command"
	"ralph/state/projectfs"
)

// HiddenView has the tracked files whose changes git does not show. The zero value: none.
type HiddenView struct {
	root     string
	flags    map[string]string // marked files
	ignored  map[string]bool   // tracked files that an ignore rule matches
	index    string            // changes whenever the index does
	settings string            // the ignore rules that are not in the work tree
	standIns map[string]string // what decides how tests run and git ignores: its content
	others   string            // what is ignored and not tracked
	Taken    time.Time
}

// LookForHidden takes a HiddenView of the repository of dir. It runs three git processes, none without a
// repository.
func LookForHidden(ctx context.Context, dir string) (HiddenView, error) {
	root, ok := command.Root(dir)
	if !ok {
		return HiddenView{}, nil
	}
	v := HiddenView{root: root, ignored: map[string]bool{}, Taken: time.Now()}
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
	if v.others, err = v.ignoredOthers(ctx); err != nil {
		return HiddenView{}, err
	}
	v.standIns = findStandIns(root, v.others)
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
	now.others, now.standIns = others, findStandIns(v.root, others)
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

// Written returns the ignored files that have one of these names and were written since then, each with its folder if all of
// that is ignored. What a package manager installs does not count.
func (v HiddenView) Written(names map[string][]string, then time.Time) map[string]string {
	found, installed := map[string]string{}, lazy.Regexp(`(?:^|/)(?:\.[^/]*|target|venv|env|node_modules|vendor|third_party|__pycache__)/`)
	add := func(file, folder string) {
		if len(names[NameOf(file)]) > 0 && !installed().MatchString(file) && ChangedSince(v.root, file, then) {
			found[file] = folder
		}
	}
	for _, entry := range command.Entries(v.others) {
		left := maxWalked
		switch {
		case len(names) == 0, installed().MatchString(entry):
		case !strings.HasSuffix(entry, "/"):
			add(entry, "")
		default:
			_ = WalkFiles(filepath.Join(v.root, entry), &left, func(name string, _ fs.FileInfo) error { // unreadable files do not count
				add(path.Join(entry, name), entry)
				return nil
			})
		}
	}
	return found
}

// NameOf is the name by which code imports a file: without its extension; a package has that of its folder.
func NameOf(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	if stem == "__init__" || stem == "index" || path.Ext(file) == ".go" {
		return path.Base(path.Dir(file))
	}
	return stem
}

// Known returns the texts of the files that mention a file or its folder, and the files that git shows and that have its
// name, but for the extension.
func Known(ctx context.Context, dir, file, folder string) (texts map[string]string, twins []string, err error) {
	root, _ := Root(dir)
	stem, _, _ := strings.Cut(path.Base(file), ".")
	out, err := command.Run(ctx, root, "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", ":(glob)**/"+stem+".*")
	if err != nil {
		return nil, nil, fmt.Errorf("list files like %q: %w", file, err)
	}
	words := []string{path.Base(file)}
	if folder != "" {
		words = append(words, path.Base(folder))
	}
	mention, err := Mentions(ctx, root, words, false, nil)
	texts = map[string]string{}
	for _, name := range mention {
		data, _ := projectfs.In(root).Read(filepath.Join(root, name), maxText) // a link or too large: no text
		texts[name] = string(data)
	}
	return texts, command.Entries(out), err
}
