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
func kept(t *testing.T, files map[string]string, links map[string]string, call func(dir, record string)) (dir string, o Outcome) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640), os.Chmod(path, 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
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

// The user's link stays one, and what it leads to keeps its text and its mode.
func TestSettle_settingsAreLinks_areAsBefore(t *testing.T) {
	files := map[string]string{"conf/rc": "A=1\n", ".ralph/real.yaml": "a: 1\n"}
	links := map[string]string{".ralphrc": "conf/rc", ".ralph/config.yaml": "real.yaml"}
	for name, call := range map[string]func(dir, record string){
		"nothing":        func(string, string) {},
		"writes through": func(dir, _ string) { write(t, filepath.Join(dir, ".ralphrc"), "B=2\n") },
		"replaces the link": func(dir, _ string) {
			for name := range links {
				_ = os.Remove(filepath.Join(dir, name))
				write(t, filepath.Join(dir, name), "forged")
			}
		},
		"leads elsewhere": func(dir, _ string) {
			_ = os.Remove(filepath.Join(dir, ".ralphrc"))
			_ = os.Symlink("evil", filepath.Join(dir, ".ralphrc"))
		},
		"leads elsewhere behind the link": func(dir, _ string) {
			write(t, filepath.Join(dir, "secret"), "secret")
			_ = os.Remove(filepath.Join(dir, "conf", "rc"))
			_ = os.Symlink("../secret", filepath.Join(dir, "conf", "rc"))
		},
		"removes it": func(dir, _ string) { _ = os.Remove(filepath.Join(dir, ".ralphrc")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, o := kept(t, files, links, call)
			for link, to := range links {
				if got, err := os.Readlink(filepath.Join(dir, link)); got != to {
					t.Errorf("%s leads to %q, %v", link, got, err)
				}
			}
			for file, want := range files {
				info, err := os.Lstat(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := os.ReadFile(filepath.Join(dir, file)); string(got) != want || info.Mode() != 0o640 {
					t.Errorf("%s is %q with mode %v", file, got, info.Mode())
				}
			}
			if (len(o.Forged) > 0) != (name != "nothing") {
				t.Errorf("found %q", o.Forged)
			}
			kept, _ := filepath.Glob(filepath.Join(dir, ".ralph/logs/r/*"))
			for _, path := range kept {
				if text, _ := os.ReadFile(path); strings.Contains(string(text), "secret") {
					t.Errorf("%s has what the call could not read", path)
				}
			}
		})
	}
}

// Where no call can write, the change is a person's.
func TestSettle_targetOfALinkChangesOutsideOfTheProject_stays(t *testing.T) {
	home, err := os.MkdirTemp(".", "dotfiles") // the folder for temporary files is one that calls can write
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	path, err := filepath.Abs(filepath.Join(home, "rc"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "A=1\n")
	_, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n"}, map[string]string{".ralphrc": path}, func(string, string) { write(t, path, "A=2\n") })
	if text, _ := os.ReadFile(path); string(text) != "A=2\n" || len(o.Forged) > 0 {
		t.Errorf("%q; found %q", text, o.Forged)
	}
}

// What a person wrote with a command of ralph stays, also if the call changes it afterwards.
func TestSettle_settingsOfAPerson_stay(t *testing.T) {
	for name, forge := range map[string]bool{"alone": false, "and the call changes it": true} {
		t.Run(name, func(t *testing.T) {
			dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n", ".ralphrc": "A=1\n"}, nil, func(dir, record string) {
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
	dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n"}, nil, func(dir, record string) {
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
		for _, linked := range []bool{false, true} {
			files, links := map[string]string{".ralph/.call_count": "7\n", ".ralph/config.yaml": "a: 1\n"}, map[string]string(nil)
			if linked {
				files, links = map[string]string{"real/.call_count": "7\n", "real/config.yaml": "a: 1\n"}, map[string]string{".ralph": "real"}
			}
			dir, o := kept(t, files, links, func(dir, _ string) { call(dir) })
			for file, want := range map[string]string{".call_count": "7\n", "config.yaml": "a: 1\n", "agent.json": ""} {
				if got, _ := os.ReadFile(filepath.Join(dir, ".ralph", file)); string(got) != want {
					t.Errorf("%s, linked %v: %s is %q; found %q", name, linked, file, got, o.Forged)
				}
			}
			info, err := os.Lstat(filepath.Join(dir, ".ralph"))
			if err != nil || (info.Mode()&os.ModeSymlink != 0) != linked {
				t.Errorf("%s, linked %v: %v, %v", name, linked, info, err)
			}
		}
	}
}

// ralph starts bd outside of the sandbox, and bd starts what is in the folder of its issues.
func TestSettle_hooksOfBeads_areAsBefore(t *testing.T) {
	dir, o := kept(t, map[string]string{".ralph/config.yaml": "a: 1\n", ".beads/hooks/on_update": "mine", ".beads/issues.jsonl": ""}, nil, func(dir, _ string) {
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
