package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/task"
)

const sprintText = "development_status:\n  epic-1: in-progress\n  1-1-log-in: review\n"

// sprint returns a plan of two files.
func sprint(t *testing.T) (plan, story string) {
	t.Helper()
	dir := t.TempDir()
	plan, story = filepath.Join(dir, "sprint-status.yaml"), filepath.Join(dir, "1-1-log-in.md")
	put(t, plan, sprintText)
	put(t, story, "# Story 1.1: Log in\n\nStatus: review\n")
	return plan, story
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSet_aFileIsWrittenMeanwhile_allPlacesSayTheState(t *testing.T) {
	for _, meanwhile := range []string{"story", "plan"} {
		path, story := sprint(t)
		login := find(t, path, "1-1-log-in")
		tries := 0
		err := update(File{Path: path}, func(p *plan) ([]edit, error) {
			if tries++; tries == 1 {
				if meanwhile == "story" {
					put(t, story, content(t, story)+"\nAn agent's note.\n")
				} else {
					put(t, path, content(t, path)+"# a person's note\n")
				}
			}
			return p.stateEdits(login, task.Done, "")
		})
		if err != nil || tries != 2 {
			t.Fatalf("%s: %v after %d tries", meanwhile, err, tries)
		}
		if !strings.Contains(content(t, path), "1-1-log-in: done") || !strings.Contains(content(t, story), "Status: done") ||
			!strings.Contains(content(t, path)+content(t, story), "note") {
			t.Errorf("%s: %s\n%s", meanwhile, content(t, path), content(t, story))
		}
	}
}

func TestWrite_oneFileHasChanged_noneIsWritten(t *testing.T) {
	path, story := sprint(t)
	p, err := open(File{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	edits, err := p.stateEdits(find(t, path, "1-1-log-in"), task.Done, "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, sprintText+"# a note\n")
	before := content(t, story)
	if err := p.write(edits); !errors.Is(err, ErrChanged) || content(t, story) != before {
		t.Errorf("%v: %s", err, content(t, story))
	}
}
