//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"ralph/internal/world"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fillsSlot fills the disk of the first slot, and does its task in the others.
func (a *actor) fillsSlot() int {
	if os.Getenv("RALPH_SLOT") != "1" {
		return a.beside()
	}
	a.listen()
	id, _, _ := strings.Cut(a.task, " ")
	_ = os.WriteFile("half-"+id, []byte("half\n"), 0o644)
	fill(".")
	note("full", id)
	return a.result(false, nil)
}

func TestDiskFull_inOneSlot_isToldInOneLineAndNothingIsLost(t *testing.T) {
	world.Long(t, "worktrees on a disk that fills")
	if !inNamespace(t) {
		return
	}
	w := newProject(t, "beside", 2)
	w.Env = append(w.Env, "PARALLEL=2", "PARALLEL_ANY=true")
	w.Write("keep.txt", "mine\n")
	w.ralph().Ends(0) // it makes the slots
	tops, _ := filepath.Glob(filepath.Join(w.Home, ".cache/ralph/slots/*/1"))
	if len(tops) != 1 {
		t.Fatalf("slots: %v", tops)
	}
	w.Do(unix.Mount("none", tops[0], "tmpfs", 0, "size=1m"))
	t.Cleanup(func() { _ = unix.Unmount(tops[0], unix.MNT_DETACH) })
	w.refill(4)
	w.Set(actVar, "fills-slot")
	before := w.Read("keep.txt")
	p := w.ralph()
	p.Ends(1)
	if len(w.entries("full")) == 0 {
		t.Fatal("the disk was not full")
	}
	told := ""
	for line := range strings.Lines(p.Said()) {
		if strings.HasPrefix(line, "ralph: why:") {
			told += line
		}
	}
	if text := strings.ToLower(told); !strings.Contains(text, "slot 1") || !strings.Contains(text, "no space left") && !strings.Contains(text, "diskspace") { // as git says it
		t.Errorf("it said\n%s", p.Said())
	}
	w.NoneLeft(leftBound)
	if got := w.Read("keep.txt"); got != before {
		t.Errorf("the user's file is %q", got)
	}
	w.Do(unix.Mount("none", tops[0], "tmpfs", unix.MS_REMOUNT, "size=16m")) // what the agent wrote is kept, and comes back
	w.Set(actVar, "beside")
	began := time.Now()
	w.ralph().Ends(0)
	t.Logf("told: %s; the next run took %s", told, time.Since(began))
	id := w.entries("full")[0].text
	if got := w.Read("half-" + id); got != "half\n" {
		t.Errorf("what the agent had done before the disk was full: %q", got)
	}
	for _, name := range []string{"work-T3", "work-T4", "work-T5", "work-T6"} {
		if w.Read(name) == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if got := w.Git("status", "--porcelain", "--", ":!.ralph", ":!keep.txt"); got != "" {
		t.Errorf("the checkout: %s", got)
	}
}
