package monitor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPalette_findsCommandsPanelsIterationsAndTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("long: many screens")
	}
	_, tasks := withTasks(t)
	pr := living(t)
	pager := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\ncat \"$1\"; echo 'end of the pager'; read x\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		p := openPane(t, pr.Dir, size, tasks, "PAGER="+pager)
		p.shows("RUNNING", "line number 199")
		p.keys(":")
		p.shows(": Commands, panels and tasks", "pause after this iteration")
		p.keys("p", "a", "u", "s", "e", "Enter")
		p.shows("pause will act soon")
		p.keys(":", "L", "o", "g", " ", "o", "u", "t")
		p.shows("task              T3 Log out")
		p.keys("Enter")
		p.shows("t Tasks", "T3  Log out")
		p.keys(":", "p", "a", "n", "e", "l", " ", "p", "l", "a", "n", "Enter")
		p.shows("─ 1 Plan ")
		p.hides("t Tasks")
		p.keys(":")
		p.shows(": Commands")
		p.keys("Escape") // alone: with the next key it would be another one
		p.hides(": Commands")
		p.keys("1")
		p.shows("6 Live log")
		p.keys(":", "d", "i", "f", "f")
		p.shows("key       d       diff: what the iteration changed")
		p.keys("Escape")
		p.hides(": Commands")
		p.keys(":", "s", "t", "o", "p", "Enter")
		p.shows("stop will act soon")
		p.keys(":", "r", "e", "p", "o", "r", "t", "Enter")
		p.shows("report will act soon", "end of the pager")
		p.keys("Enter")
		p.shows("6 Live log")
		p.keys(":", "c", "h", "e", "c", "k", " ", "t", "h", "a", "t", "Enter")
		p.shows("doctor will act soon", "back to the monitor with Enter")
		p.keys("Enter")
		p.shows("6 Live log")
		p.keys("?")
		p.shows("? Keys", "Live log", "What the agent says", "search backwards")
		p.keys("?")
		p.hides("? Keys")
		p.keys("h")
		p.shows("? Keys", "pause after this iteration")
		p.keys("q")
		p.shows("monitor ended")
		if got := p.called(); got != "pause stop report doctor" {
			t.Errorf("the verbs were %q", got)
		}
	}
}
