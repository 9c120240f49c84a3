package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

// Raw records of the agent are not what a person reads there.
func TestKeys_o_opensTheTextOfATranscript(t *testing.T) {
	pr := living(t)
	p := openPane(t, pr.Dir, [2]int{80, 24}, "PAGER="+withPager(t, pr))
	p.shows("RUNNING")
	p.keys("Left", "Enter")
	p.shows("› transcript", "━ iteration 6")
	p.keys("o")
	p.shows("iteration 6 · task 6 of the plan", "PAGER ENDS")
	p.hides("raw bytes")
	p.keys("Enter")
	p.shows("enter Transcript of iteration 6")
}

// An agent can put a link in the place of a log: the pager and the editor are the user's.
func TestKeys_o_logIsALink_opensNothing(t *testing.T) {
	pr := living(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("of the user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := openPane(t, pr.Dir, [2]int{120, 24}, "PAGER="+withPager(t, pr))
	p.shows("RUNNING")
	log := filepath.Join(pr.Dir, ".ralph", "live.log")
	_ = os.Remove(log)
	if err := os.Symlink(secret, log); err != nil {
		t.Fatal(err)
	}
	p.keys("o")
	p.shows("live.log\" is a symbolic link")
	p.hides("of the user")
	p.hides("PAGER ENDS")
}

// The screen has loaded only the end of the log.
func TestSearch_wholeLog_countsMatchesBeforeTheLoadedLines(t *testing.T) {
	pr := living(t)
	for i := range 6000 {
		text := strings.Repeat("hay ", 200)
		if i%2000 == 0 {
			text = fmt.Sprintf("needle %d", i/2000)
		}
		pr.Add(state.NewEvent(state.Origin{Run: "20261120-131810", Iteration: 7}, time.Now(), state.Text{Text: text}))
	}
	p := openPane(t, pr.Dir, [2]int{100, 30})
	p.shows("RUNNING", "hay hay")
	p.keys("/")
	p.keys("-l", "needle")
	p.keys("Enter")
	p.shows("3/3", "needle 2")
	p.keys("n")
	p.shows("2/3", "needle 1")
	p.keys("n")
	p.shows("1/3", "needle 0")
	p.keys("n")
	p.shows("3/3", "needle 2")
	p.keys("Escape")
	p.hides("3/3")
}

// A person who looks at an older iteration must not find another one selected because a
// new one began.
func TestList_whenAnIterationBegins_keepsTheSelectedOne(t *testing.T) {
	s, events := sample.Run(noon)
	u := still(t, s, events)
	u.openTimeline()
	u.run.list.Scroll(2)
	was, newest := u.run.chosen(), u.model.Iteration()
	next := state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: newest + 1}, noon, state.IterationStart{})
	u.apply(view.Update{Snapshot: s, Events: []state.Event{next}})
	if n := len(u.model.Run.Iterations); u.model.Run.Iterations[n-1].Number != newest+1 {
		t.Fatal("no iteration began")
	}
	if got := u.run.chosen(); got != was {
		t.Errorf("iteration %d is selected, was %d", got, was)
	}
	u.run.list.Scroll(-far)
	u.apply(view.Update{Snapshot: s, Events: []state.Event{state.NewEvent(next.Origin, noon, state.IterationEnd{})}})
	if got := u.run.chosen(); got != newest+1 {
		t.Errorf("iteration %d is selected, want the newest", got)
	}
}
