// Package own tells the user's uncommitted changes from those of a run, also when the
// run is cut off and another one continues it.
package own

import (
	"maps"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"ralph/runner/gate/store"
)

// Files are files with uncommitted changes: by path, a digest of each.
type Files map[string]string

// Names are the paths, sorted.
func (f Files) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Users are the files whose changes are the user's, or the user's and the run's.
type Users struct {
	Files   Files    `json:"files"`
	Between []string `json:"between,omitempty"` // those that were changed between two runs only
	// Paused are those that were changed while the run was paused; true: the run has
	// changed them before.
	Paused map[string]bool `json:"paused,omitempty"`
}

// LeftOver returns those of now that are the run's alone.
func (u Users) LeftOver(now Files) []string {
	return slices.DeleteFunc(now.Names(), func(path string) bool { _, is := u.Files[path]; return is })
}

// Mixed says why a changed file is not the run's alone, although the run may have
// changed it; empty: the run has not, or it is.
func (u Users) Mixed(path string, now Files) string {
	was, is := u.Files[path]
	switch {
	case !is:
		return ""
	case slices.Contains(u.Between, path):
		return "it was changed between the runs"
	case u.Paused[path], u.paused(path) && was != now[path]:
		return "a person changed it while the run was paused"
	case was != now[path]:
		return "it was changed before the run"
	}
	return ""
}

// Mix is a file that is not the run's alone.
type Mix struct{ File, Why string }

// AllMixed are those of now, in their order.
func (u Users) AllMixed(now Files) (all []Mix) {
	for _, path := range now.Names() {
		if why := u.Mixed(path, now); why != "" {
			all = append(all, Mix{path, why})
		}
	}
	return all
}

func (u Users) paused(path string) bool { _, is := u.Paused[path]; return is }

// edited takes over what a person changed while the run did nothing, given all that had
// changes at its beginning and has them at its end.
func (u *Users) edited(was, now Files, leaveOut func(path string) bool) (any bool) {
	for path, digest := range now {
		before, had := was[path]
		if had && before == digest || leaveOut(path) {
			continue
		}
		if u.Files == nil {
			u.Files = Files{}
		}
		if u.Paused == nil {
			u.Paused = map[string]bool{}
		}
		_, users := u.Files[path]
		if !users {
			u.Paused[path] = had
		}
		if !users || u.Files[path] == before { // else the run has changed it, too
			u.Files[path] = digest
		}
		any = true
	}
	return any
}

// Edited is Users.edited, kept for the run that continues this one.
func (s Store) Edited(u *Users, was, now Files, leaveOut func(path string) bool) error {
	if !u.edited(was, now, leaveOut) || s.Path == "" {
		return nil
	}
	return store.Save(s.Path, record{Run: s.Run, Users: *u})
}

// Store keeps the user's files of a run for the one that continues it. The zero value
// keeps nothing.
type Store struct {
	Path string // a JSON file
	Run  string // its id
	// Continues is true when this run goes on with the work of an unfinished one.
	Continues bool
	// KilledRun is that run if it was killed, and KilledAt is when it was seen alive
	// last; empty: it noted its end itself.
	KilledRun string
	KilledAt  time.Time
}

// killGrace is how long after the last sign of a killed run its agent may have written:
// the sign comes every second.
const killGrace = 3 * time.Second

// record is the file of a Store.
type record struct {
	Run  string `json:"run"`
	Left Files  `json:"left"` // all that had changes when it ended; nil: it goes on, or was killed
	Users
}

// Begin returns the user's files, given all that have changes now. Of a run that this
// one continues, they are those from its beginning, and those that are not as it left them.
// The rest is the run's own work. What a killed run left is not known: there, times tell. The
// error says that nothing is kept for the next run.
func (s Store) Begin(root string, now Files) (Users, error) {
	users := Users{Files: now}
	if s.Path == "" {
		return users, nil
	}
	if was, err := store.Peek[record](s.Path); err == nil && s.Continues && was.Files != nil {
		switch {
		case was.Left != nil:
			users = was.later(now, func(path string) bool {
				digest, left := was.Left[path]
				return left &&
					digest == now[path]
			})
		case was.Run == s.KilledRun:
			users = was.later(now, func(path string) bool {
				return !ChangedSince(root, path,
					s.KilledAt.Add(killGrace))
			})
		}
	}
	return users, store.Save(s.Path, record{Run: s.Run, Users: users})
}

// End notes all that has changes when the run ends: what else there is later is the user's.
func (s Store) End(left Files) error {
	if s.Path == "" {
		return nil
	}
	r, err := store.Peek[record](s.Path)
	if err != nil || r.Run != s.Run || r.Files == nil {
		return err
	}
	r.Left = left
	return store.Save(s.Path, r)
}

// later are the user's files of a run that goes on, given which files are as it left them.
func (u Users) later(now Files, asLeft func(path string) bool) Users {
	next := Users{Files: Files{}, Paused: u.Paused}
	for _, path := range now.Names() {
		before, known := u.Files[path]
		between := slices.Contains(u.Between, path)
		switch {
		case known && before == now[path]:
			next.Files[path] = before
		case !asLeft(path):
			next.Files[path], between = now[path], between || !known
		case known:
			next.Files[path] = before // the run changed it, too
		}
		if between {
			next.Between = append(next.Between, path)
		}
	}
	return next
}

// ChangedSince reports whether a file in root, or a folder that it is in, has changed after
// then, or may have: a folder that was moved keeps the times of its files, and of a file that
// is gone, only its folder tells. It goes by the time of the inode, which no program can set,
// and which a rename changes, too.
func ChangedSince(root, path string, then time.Time) bool {
	for path = filepath.FromSlash(path); ; path = filepath.Dir(path) {
		var st unix.Stat_t
		switch gone := unix.Lstat(filepath.Join(root, path), &st) != nil; {
		case !gone && time.Unix(st.Ctim.Unix()).After(then), gone && path == ".":
			return true
		case filepath.Dir(path) == "." && !gone, path == ".":
			return false // what else happened in root says nothing
		}
	}
}
