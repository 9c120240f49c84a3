package git

// This file distinguishes the user's uncommitted changes from those of a run, even if the run is cut off and another
// one continues it.

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// DirtyFiles are files with uncommitted changes: by path, a digest of each.
type DirtyFiles map[string]string

// Names returns the paths, sorted.
func (f DirtyFiles) Names() []string { return slices.Sorted(maps.Keys(f)) }

// UserFiles are the files whose changes are the user's, or the user's and the run's.
type UserFiles struct {
	Files DirtyFiles `json:"files"`
	// Late are those that a person changed when the run had begun.
	Late map[string]Late `json:"late,omitempty"`
}

// Late says of a file when a person changed it, and whether the run had changed it before.
type Late struct {
	When  string `json:"when"`
	Mixed bool   `json:"mixed,omitempty"`
}

// LeftOver returns the files in now that only the run changed.
func (u UserFiles) LeftOver(now DirtyFiles) []string {
	return slices.DeleteFunc(now.Names(), func(path string) bool { _, is := u.Files[path]; return is })
}

// Mixed says why a file that the run may have changed has changes of the user, too; empty: only one of them changed it.
func (u UserFiles) Mixed(path string, now DirtyFiles) string {
	if was, is := u.Files[path]; !is || was == now[path] && !u.Late[path].Mixed {
		return ""
	}
	return cmp.Or(u.Late[path].When, "it was changed before the run")
}

// AllMixed returns the mixed files in now, sorted.
func (u UserFiles) AllMixed(now DirtyFiles) (all []Refusal) {
	for _, path := range now.Names() {
		if why := u.Mixed(path, now); why != "" {
			all = append(all, Refusal{File: path, Why: why})
		}
	}
	return all
}

// Edited adds what a person changed during a pause, from the uncommitted files before and after it, and stores it for
// the run that continues this one.
func (s OwnStore) Edited(u *UserFiles, was, now DirtyFiles, leaveOut func(path string) bool) error {
	found := false
	for path, digest := range now {
		before, had := was[path]
		if had && before == digest || leaveOut(path) {
			continue
		}
		found = true
		own, users := u.Files[path]
		if !users {
			u.late(path, Late{"a person changed it while the run was paused", had})
		}
		if !users || own == before { // else the run had changed it, too
			u.Files[path] = digest
		}
	}
	if !found || s.Path == "" {
		return nil
	}
	return SaveJSON(s.Path, ownRecord{Run: s.Run, UserFiles: *u})
}

func (u *UserFiles) late(path string, l Late) {
	if u.Late == nil {
		u.Late = map[string]Late{}
	}
	u.Late[path] = l
}

// OwnStore keeps the user's files for the run that continues this one. The zero value keeps nothing.
type OwnStore struct {
	Path string // a JSON file
	Run  string // its id
	// Continues is true if this run continues an unfinished one.
	Continues bool
	// KilledRun is that run if it was killed, and KilledAt its last sign of life; empty: it recorded its end itself.
	KilledRun string
	KilledAt  time.Time
}

// KillGrace is how long after its last sign of life the agent of a killed run may have written: there is a sign every
// second.
const KillGrace = 3 * time.Second

// ownRecord is the file of an OwnStore.
type ownRecord struct {
	Run  string     `json:"run"`
	Left DirtyFiles `json:"left"` // uncommitted files at its end; nil: it is still running, or was killed
	UserFiles
}

// Begin returns the user's files among the uncommitted files of now. If this run continues another one, they are the
// user's files of that run, and those that have changed since it ended; the rest is the run's own work. A killed run
// recorded no end, so Begin goes by the times of files. On an error, nothing is kept for the next run.
func (s OwnStore) Begin(root string, now DirtyFiles) (UserFiles, error) {
	users := UserFiles{Files: now}
	if s.Path == "" {
		return users, nil
	}
	if was, err := PeekJSON[ownRecord](s.Path); err == nil && s.Continues && was.Files != nil {
		switch {
		case was.Left != nil:
			users = was.later(now, func(path string) bool {
				digest, left := was.Left[path]
				return left && digest == now[path]
			})
		case was.Run == s.KilledRun:
			users = was.later(now, func(path string) bool {
				return !ChangedSince(root, path, s.KilledAt.Add(KillGrace))
			})
		}
	}
	return users, SaveJSON(s.Path, ownRecord{Run: s.Run, UserFiles: users})
}

// End records the uncommitted files when the run ends: whatever changes later is the user's.
func (s OwnStore) End(left DirtyFiles) error {
	if s.Path == "" {
		return nil
	}
	r, err := PeekJSON[ownRecord](s.Path)
	if err != nil || r.Run != s.Run || r.Files == nil {
		return err
	}
	r.Left = left
	return SaveJSON(s.Path, r)
}

// later returns the user's files for the run that continues. asLeft reports whether a file is as the earlier run left
// it.
func (u UserFiles) later(now DirtyFiles, asLeft func(path string) bool) UserFiles {
	next := UserFiles{Files: DirtyFiles{}, Late: maps.Clone(u.Late)}
	for _, path := range now.Names() {
		before, known := u.Files[path]
		switch {
		case known && (before == now[path] || asLeft(path)): // the run may have changed it, too
			next.Files[path] = before
		case !asLeft(path):
			if next.Files[path] = now[path]; !known {
				next.late(path, Late{"it was changed between the runs", true})
			}
		}
	}
	return next
}

// ChangedSince reports whether a file in root may have changed after then. It goes by the ctime of the
// file, which no program can set and which a rename changes, too, and by those of its folders: moving a folder does not
// change the times of its files, and a file that is gone has none. That of .ralph tells nothing of a file that is there:
// ralph itself writes into it all the time.
func ChangedSince(root, path string, then time.Time) bool {
	there := false
	for path = filepath.FromSlash(path); ; path = filepath.Dir(path) {
		var st unix.Stat_t
		switch gone := unix.Lstat(filepath.Join(root, path), &st) != nil; {
		case gone && path == ".", !gone && time.Unix(st.Ctim.Unix()).After(then) && (!there || filepath.Base(path) != ".ralph"):
			return true
		case filepath.Dir(path) == "." && !gone, path == ".":
			return false // any file may have changed the ctime of root
		default:
			there = there || !gone
		}
	}
}
