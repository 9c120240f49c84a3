package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// folder is a workspace. The digest of a file is its content.
type folder struct {
	*testing.T
	dir string
}

func (f folder) write(name, text string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Join(f.dir, filepath.Dir(name)), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// passed waits until the clock of the file system is past now.
func (f folder) passed() {
	f.Helper()
	began := time.Now()
	for ; !ChangedSince(f.dir, "probe", began); time.Sleep(time.Millisecond) {
		f.write("probe", "")
	}
	_ = os.Remove(filepath.Join(f.dir, "probe"))
}

func (f folder) now(names ...string) DirtyFiles {
	files := DirtyFiles{}
	for _, name := range names {
		data, _ := os.ReadFile(filepath.Join(f.dir, name))
		files[name] = string(data)
	}
	return files
}

func TestEdited_whilePaused_isThePersons(t *testing.T) {
	s := OwnStore{Path: filepath.Join(t.TempDir(), "own.json"), Run: "a"}
	users, err := s.Begin(t.TempDir(), DirtyFiles{"old": "1", "mixed": "1"})
	if err != nil {
		t.Fatal(err)
	}
	was := DirtyFiles{"old": "1", "mixed": "2", "work": "1", "both": "1"}
	now := DirtyFiles{"old": "3", "mixed": "3", "work": "1", "both": "3", "new": "3", "plan": "3"}
	if err := s.Edited(&users, was, now, func(path string) bool { return path == "plan" }); err != nil {
		t.Fatal(err)
	}
	continued, err := OwnStore{Path: s.Path, Run: "b", Continues: true, KilledRun: "a", KilledAt: time.Now().Add(time.Hour)}.Begin(t.TempDir(), now)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []UserFiles{users, continued} {
		if diff := cmp.Diff([]string{"plan", "work"}, u.LeftOver(now)); diff != "" {
			t.Error(diff)
		}
		const paused = "a person changed it while the run was paused"
		for path, want := range map[string]string{"old": "", "mixed": "it was changed before the run", "work": "", "both": paused, "new": ""} {
			if got := u.Mixed(path, now); got != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
		if got := u.Mixed("new", DirtyFiles{"new": "4"}); got != paused {
			t.Errorf("changed by the agent, too: %q", got)
		}
	}
}

func TestBegin_continuedRun_tellsTheUsersFilesFromItsOwn(t *testing.T) {
	for name, killed := range map[string]bool{"ended by itself": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			f := folder{t, t.TempDir()}
			s := OwnStore{Path: filepath.Join(t.TempDir(), "own.json"), Run: "a"}
			for _, file := range []string{"old", "touched", "edited", "committed"} {
				f.write(file, "the user's")
			}
			users, err := s.Begin(f.dir, f.now("old", "touched", "edited", "committed"))
			if err != nil || len(users.Files) != 4 {
				t.Fatal(users, err)
			}
			f.write("touched", "both")
			f.write("work", "the agent's")
			f.write("mixed", "the agent's")
			f.passed()
			next := OwnStore{Path: s.Path, Run: "b", Continues: true}
			if killed {
				next.KilledRun, next.KilledAt = "a", time.Now().Add(-KillGrace)
			} else if err := s.End(f.now("old", "touched", "edited", "work", "mixed", "gone")); err != nil {
				t.Fatal(err)
			}
			f.passed()
			f.write("edited", "the user's, again")
			f.write("mixed", "both")
			f.write("moved", "the agent's")
			if err := os.Rename(filepath.Join(f.dir, "moved"), filepath.Join(f.dir, "new")); err != nil {
				t.Fatal(err)
			}
			now := f.now("old", "touched", "edited", "work", "mixed", "new")
			for range 2 { // a start that calls no agent changes nothing
				users, err := next.Begin(f.dir, now)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff([]string{"work"}, users.LeftOver(now)); d != "" {
					t.Errorf("the run's own: %s", d)
				}
				mixed := map[string]string{}
				for path := range now {
					if why := users.Mixed(path, now); why != "" {
						mixed[path] = why
					}
				}
				const before, between = "it was changed before the run", "it was changed between the runs"
				if d := cmp.Diff(map[string]string{"touched": before, "mixed": between, "new": between}, mixed); d != "" {
					t.Errorf("of both: %s", d)
				}
				if killed {
					next.KilledRun, next.KilledAt = "b", time.Now()
				} else if err := next.End(now); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestBegin_whatIsNotKnown_isTheUsers(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("work", "x")
	now := f.now("work")
	for name, next := range map[string]OwnStore{
		"a new run":                   {Run: "b"},
		"another run was killed":      {Run: "b", Continues: true, KilledRun: "c", KilledAt: time.Now()},
		"its end was not noted":       {Run: "b", Continues: true},
		"nothing is kept":             {Run: "b", Continues: true, KilledRun: "a", KilledAt: time.Now()},
		"the file that is kept":       {Run: "b", Continues: true, KilledRun: "a", KilledAt: time.Now()},
		"changed after it was killed": {Run: "b", Continues: true, KilledRun: "a", KilledAt: time.Now().Add(-time.Hour)},
	} {
		next.Path = filepath.Join(t.TempDir(), "own.json")
		if name != "nothing is kept" {
			if _, err := (OwnStore{Path: next.Path, Run: "a"}).Begin(f.dir, DirtyFiles{}); err != nil {
				t.Fatal(err)
			}
		}
		if name == "the file that is kept" {
			if err := os.WriteFile(next.Path, []byte("{torn"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		users, err := next.Begin(f.dir, now)
		if err != nil || len(users.Files) != 1 {
			t.Errorf("%s: %v, %v", name, users, err)
		}
	}
}

func TestChangedSince_removedFile_itsFolderTells(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("gone", "x")
	before := time.Now().Add(-time.Minute)
	if err := os.Remove(filepath.Join(f.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"gone", "sub/deep/gone"} {
		if !ChangedSince(f.dir, path, before) && path != "gone" || ChangedSince(f.dir, path, time.Now().Add(time.Second)) {
			t.Errorf("%s: wrong", path)
		}
	}
}

func TestChangedSince_planInTheFolderOfRalph_onlyItsOwnTimeTells(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("app/.ralph/fix_plan.md", "- [x] one")
	f.write("app/sub/a.go", "package a")
	f.write("probe", "x")
	then := time.Now()
	for ; !ChangedSince(f.dir, "probe", then); time.Sleep(time.Millisecond) {
		f.write("probe", "again")
	}
	f.write("app/.ralph/status.json", "{}") // as the run that continues does
	f.write("app/sub/b.go", "package a")
	for path, want := range map[string]bool{"app/.ralph/fix_plan.md": false, "app/.ralph/status.json": true, "app/.ralph/gone": true, "app/sub/a.go": true} {
		if ChangedSince(f.dir, path, then) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// What a run left is known by name and content: what appears in another way keeps its times.
func TestBegin_filesThatAppearWithOldTimes_areTheUsers(t *testing.T) {
	for name, killed := range map[string]bool{"ended by itself": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			f := folder{t, t.TempDir()}
			s := OwnStore{Path: filepath.Join(t.TempDir(), "own.json"), Run: "a"}
			if _, err := s.Begin(f.dir, f.now()); err != nil {
				t.Fatal(err)
			}
			elsewhere := t.TempDir()
			folder{t, elsewhere}.write("docs/deep/notes", "the user's")
			f.write("work", "the agent's")
			f.write("sub/work", "the agent's")
			f.write(".env", "the user's, and git does not show it yet")
			f.passed()
			next := OwnStore{Path: s.Path, Run: "b", Continues: true}
			want := []string{"sub/work", "work"}
			now := []string{"docs/deep/notes", "sub/work", "work"}
			if killed {
				next.KilledRun, next.KilledAt = "a", time.Now().Add(-KillGrace)
			} else {
				if err := s.End(f.now("work", "sub/work")); err != nil {
					t.Fatal(err)
				}
				now = append(now, ".env") // as after git reset --soft, or a change of .gitignore
			}
			f.passed()
			if err := os.Rename(filepath.Join(elsewhere, "docs"), filepath.Join(f.dir, "docs")); err != nil {
				t.Fatal(err)
			}
			users, err := next.Begin(f.dir, f.now(now...))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, users.LeftOver(f.now(now...))); d != "" {
				t.Errorf("the run's own: %s", d)
			}
		})
	}
}
