package stories

import (
	"testing"
	"time"

	"ralph/runner/task"
)

// The scripts of BMAD refuse a file whose time is not in one of their own forms.
func TestSprint_timeOfTheLastChange_keepsItsForm(t *testing.T) {
	now := time.Date(2026, 11, 22, 20, 5, 9, 0, time.Local)
	for was, want := range map[string]string{
		"11-20-2026 08:00":     "11-22-2026 20:05",
		"2026-11-20 08:00":     "2026-11-22 20:05",
		"2026-11-20":           "2026-11-22",
		"2026-11-20T08:00:00Z": now.UTC().Format(time.RFC3339),
	} {
		text := "last_updated: " + was + "\ndevelopment_status:\n  1-1-a: ready-for-dev\n"
		p, err := Sprint(task.Input{Files: []task.File{{Name: "sprint-status.yaml", Data: []byte(text)}}})
		if err != nil || len(p.Spots) != 1 {
			t.Fatalf("%d tasks, %v", len(p.Spots), err)
		}
		got := ""
		for _, place := range p.Spots[0].States {
			if text[place.Start:place.End] == was {
				got = task.Stamped(place.Words[task.Done], now)
			}
		}
		if got != want {
			t.Errorf("%s becomes %q, want %q", was, got, want)
		}
	}
}

func TestSprint_keyInAnotherScript_isAStory(t *testing.T) {
	text := "development_status:\n  1-1-вход: ready-for-dev\n  1-2-über-uns: done\n"
	p, err := Sprint(task.Input{Files: []task.File{{Name: "sprint-status.yaml", Data: []byte(text)}}})
	if err != nil || len(p.Tasks) != 2 || p.Tasks[0].ID != "1-1-вход" || p.Tasks[1].State != task.Done {
		t.Errorf("%+v, %v", p.Tasks, err)
	}
}
