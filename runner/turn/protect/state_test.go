package protect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/runner/audit"
	"ralph/runner/task/store"
	"ralph/state"
)

// kept is a project with settings, where a call changes something and is over.
func kept(t *testing.T, files map[string]string, call func(dir, record string)) (dir string, o Outcome) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640), os.Chmod(path, 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	edits := filepath.Join(t.TempDir(), "p.edits.jsonl")
	p := Remember(true, Call{Plan: store.File{Edits: edits}, State: filepath.Join(dir, ".ralph"), Logs: filepath.Join(dir, ".ralph", "logs", "r"), Iteration: 1}, store.Plan{})
	p.CallStarts(nil)
	call(dir, state.PeopleRecordPath(edits))
	o, err := p.Settle(by(store.Plan{}))
	if err != nil {
		t.Error(err)
	}
	return dir, o
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What a person wrote with a command of ralph stays, also if the call changes it afterwards.
func TestSettle_settingsOfAPerson_stay(t *testing.T) {
	for name, forge := range map[string]bool{"alone": false, "and the call changes it": true} {
		t.Run(name, func(t *testing.T) {
			dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n", ".ralphrc": "A=1\n"}, func(dir, record string) {
				for _, name := range []string{".ralphrc", ".ralph/config.yaml"} {
					write(t, filepath.Join(dir, name), "a person's")
					if err := state.RecordPeople(record, dir, name); err != nil {
						t.Error(err)
					}
					if forge {
						write(t, filepath.Join(dir, name), "forged")
					}
				}
				if err := state.RecordPeople(record, dir, ".ralph/PROMPT.md"); err != nil { // of which ralph keeps nothing
					t.Error(err)
				}
			})
			for _, name := range []string{".ralphrc", ".ralph/config.yaml"} {
				if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != "a person's" {
					t.Errorf("%s is %q", name, text)
				}
			}
			answer := o.Answer(audit.Finding{Kind: audit.KindStateChanged})
			if (len(o.Forged) == 2) != forge || strings.Contains(answer, ".ralph/logs/r/1.*") != forge {
				t.Errorf("found %q; %s", o.Forged, answer)
			}
		})
	}
}

// The record of a person's command may come a moment after the file.
func TestSettle_recordComesLater_isWaitedFor(t *testing.T) {
	done := make(chan error, 1)
	dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n"}, func(dir, record string) {
		write(t, filepath.Join(dir, ".ralph/config.yaml"), "a person's")
		time.AfterFunc(RecordDelay/3, func() { done <- state.RecordPeople(record, dir, ".ralph/config.yaml") })
	})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, ".ralph/config.yaml")); string(text) != "a person's" || len(o.Forged) > 0 {
		t.Errorf("%q; found %q", text, o.Forged)
	}
}

// A call may put another folder, or a link to one, in the place of the state directory.
func TestSettle_stateDirectoryIsReplaced_isAsBefore(t *testing.T) {
	move := func(dir string) { _ = os.Rename(filepath.Join(dir, ".ralph"), filepath.Join(dir, "moved")) }
	forge := func(dir string) {
		_ = os.Mkdir(dir, 0o755)
		_ = os.WriteFile(filepath.Join(dir, ".call_count"), []byte("forged"), 0o600)
		_ = os.WriteFile(filepath.Join(dir, "agent.json"), []byte("forged"), 0o600)
	}
	for name, call := range map[string]func(dir string){
		"by a folder": func(dir string) { move(dir); forge(filepath.Join(dir, ".ralph")) },
		"by a link": func(dir string) {
			move(dir)
			forge(filepath.Join(dir, "evil"))
			_ = os.Symlink("evil", filepath.Join(dir, ".ralph"))
		},
		"by a link to itself": func(dir string) {
			move(dir)
			forge(filepath.Join(dir, "moved"))
			_ = os.Symlink("moved", filepath.Join(dir, ".ralph"))
		},
		"by a file":  func(dir string) { move(dir); _ = os.WriteFile(filepath.Join(dir, ".ralph"), nil, 0o600) },
		"by nothing": move,
	} {
		files := map[string]string{".ralph/.call_count": "7\n", ".ralph/config.yaml": "a: 1\n"}
		dir, o := kept(t, files, func(dir, _ string) { call(dir) })
		for file, want := range map[string]string{".call_count": "7\n", "config.yaml": "a: 1\n", "agent.json": ""} {
			if got, _ := os.ReadFile(filepath.Join(dir, ".ralph", file)); string(got) != want {
				t.Errorf("%s: %s is %q; found %q", name, file, got, o.Forged)
			}
		}
		if info, err := os.Lstat(filepath.Join(dir, ".ralph")); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A call may put a link in the place of a file. What it leads to is not read.
func TestSettle_settingsBecomeALink_areAsBefore(t *testing.T) {
	dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n", ".ralphrc": "A=1\n", "secret": "secret"}, func(dir, _ string) {
		for name, to := range map[string]string{".ralphrc": "secret", ".ralph/config.yaml": "../secret"} {
			_ = os.Remove(filepath.Join(dir, name))
			_ = os.Symlink(to, filepath.Join(dir, name))
		}
	})
	for name, want := range map[string]string{".ralph/config.yaml": "a: 1\n", ".ralphrc": "A=1\n", "secret": "secret"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil || info.Mode() != 0o640 {
			t.Errorf("%s is %q, %v, %v", name, got, info, err)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, ".ralph/logs/r/*")); len(o.Forged) != 2 || len(kept) > 0 {
		t.Errorf("found %q, kept %q", o.Forged, kept)
	}
}

// The folder of another program may be a link of the user's.
func TestSettle_folderOfBeadsIsALink_staysOne(t *testing.T) {
	const issues = "real/issues.jsonl"
	dir, _ := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n", "real/hooks/on_update": "mine", issues: ""}, func(dir, _ string) {})
	if err := os.Symlink("real", filepath.Join(dir, ".beads")); err != nil {
		t.Fatal(err)
	}
	all := remember(filepath.Join(dir, ".ralph"))
	write(t, filepath.Join(dir, "real/hooks/on_update"), "forged")
	for _, o := range all {
		if _, _, err := o.restore(Call{}, ""); err != nil {
			t.Error(err)
		}
	}
	to, _ := os.Readlink(filepath.Join(dir, ".beads"))
	if got, _ := os.ReadFile(filepath.Join(dir, "real/hooks/on_update")); string(got) != "mine" || to != "real" {
		t.Errorf("%q, %q", got, to)
	}
}

// ralph starts bd outside of the sandbox, and bd starts what is in the folder of its issues.
func TestSettle_hooksOfBeads_areAsBefore(t *testing.T) {
	dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n", ".beads/hooks/on_update": "mine", ".beads/issues.jsonl": ""}, func(dir, _ string) {
		for _, name := range []string{"hooks/on_update", "hooks/on_close", "config.yaml", "redirect", "issues.jsonl"} {
			write(t, filepath.Join(dir, ".beads", name), "forged")
		}
	})
	for name, want := range map[string]string{"hooks/on_update": "mine", "hooks/on_close": "", "config.yaml": "", "redirect": "", "issues.jsonl": "forged"} {
		if got, _ := os.ReadFile(filepath.Join(dir, ".beads", name)); string(got) != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if want := ".beads/config.yaml .beads/hooks/on_close .beads/hooks/on_update .beads/redirect"; strings.Join(o.Forged, " ") != want {
		t.Errorf("found %q", o.Forged)
	}
}
