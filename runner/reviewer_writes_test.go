package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/state"
)

var reviewerWriteFakes = map[string]func(*fake) int{
	"writing-reviewer": func(f *fake) int { // its tool writes into the project itself, and afterwards it thinks
		if code, asked := f.verdict(func(_, nonce string) string {
			home := os.Getenv("HOME")
			f.tool("Bash", "sed")
			put(filepath.Join(home, "work.txt"), "spoilt")
			put(filepath.Join(home, "left.txt"), "left")
			f.answer()
			pause() // until ralph has read that
			put(filepath.Join(home, ".ralph/logs/thinks"), "x")
			pause()
			return says(nonce, "pass", 90, "")
		}); asked {
			return code
		}
		return f.developed()
	},
}

func TestReview_writesPastItsCopy_isPutBackButNotWhatAPersonWrote(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for an agent")
	}
	b := newBench(t, "writing-reviewer", "[ ] one")
	b.write("mine.txt", "before\n")
	b.repository()
	b.o.Review.QA = true
	go func() {
		waitFor(t, b.dir+"/.ralph/logs/thinks")
		put(b.dir+"/mine.txt", "a person's\n")
	}()
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	if got := b.read("work.txt"); got != "call 1" {
		t.Errorf("work.txt: %q", got)
	}
	if _, err := os.Stat(b.dir + "/left.txt"); err == nil {
		t.Error("the reviewer's file is still there")
	}
	if got := b.read("mine.txt"); got != "a person's\n" {
		t.Errorf("mine.txt: %q", got)
	}
	said := map[string]string{}
	for _, f := range payloads[state.Finding](b) {
		said[f.File] = f.Text
	}
	_, kept, _ := strings.Cut(said["work.txt"], "kept the other version in ")
	if read1(kept) != "spoilt" || !strings.Contains(said["left.txt"], "ralph restored it") || !strings.Contains(said["mine.txt"], "changed during") ||
		strings.Contains(said["mine.txt"], "restored") {
		t.Errorf("findings %v", said)
	}
}
