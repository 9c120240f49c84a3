package monitor

import "testing"

func TestTranscript_opensUnfoldsAndCloses(t *testing.T) {
	pr := living(t)
	_, events := spoken()
	pr.Add(events[len(events)-7:]...)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		p := openPane(t, pr.Dir, size)
		p.shows("RUNNING")
		p.keys("Enter")
		p.shows("enter Transcript of iteration 7", "Next, the tests.", "esc back") // the last row is drawn last
		p.keys("k", "Enter")                                                       // the edit, above the last words
		p.shows("│ -    offset")
		p.keys("Left")
		p.shows("Transcript of iteration 6")
		p.keys("q")
		p.shows("monitor ended")
	}
}
