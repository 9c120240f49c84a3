package monitor

import (
	"strings"
	"testing"
)

func TestTranscript_opensFoldsCopiesAndCloses(t *testing.T) {
	pr := living(t)
	_, events := spoken()
	pr.Add(events[len(events)-7:]...)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		p := openPane(t, pr.Dir, size)
		p.shows("RUNNING")
		p.keys("Enter")
		p.shows("enter Transcript of iteration 7", "Next, the tests.", "esc back") // the last row is drawn last
		p.keys("k", "k", "k", "k", "Enter")
		p.shows("▸ Edit src/api/list.go")
		p.keys("y")
		p.shows("(OSC 52)? (y/n)")
		p.keys("y")
		p.shows("sent", "to the clipboard")
		if got := p.tmux("show-buffer"); !strings.HasPrefix(got, "Edit src/api/list.go\n") {
			t.Errorf("tmux got %q", got)
		}
		p.keys("Left")
		p.shows("Transcript of iteration 6")
		p.keys("r")
		p.shows("Review of iteration 6")
		p.keys("Enter")
		p.shows("Transcript of iteration 6")
		p.keys("Escape")
		p.shows("Review of iteration 6")
		p.keys("q")
		p.shows("monitor ended")
	}
}

func TestTranscript_copyInATerminalThatTcellDoesNotKnowToHaveAClipboard_sendsOSC52(t *testing.T) {
	p := openTerminalOf(t, living(t).Dir, "TERM=screen-256color", "TMUX=")
	p.prints("RUNNING")
	for _, step := range []struct{ keys, shows string }{{"\r", "turn "}, {"y", "(y/n)"}, {"y", "\x1b]52;c;"}} {
		if _, err := p.master.WriteString(step.keys); err != nil {
			t.Fatal(err)
		}
		p.prints(step.shows)
	}
}
