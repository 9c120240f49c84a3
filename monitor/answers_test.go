package monitor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	asked "ralph/state/question"
)

func TestAnswers_keysRunRalphAnswer(t *testing.T) {
	project := living(t)
	p := openPane(t, project.Dir, [2]int{60, 15})
	p.shows("RUNNING")
	p.keys("u")
	p.shows("no question waits")
	folder := filepath.Join(project.Dir, ".ralph", "questions")
	text := `{"v":1,"id":"q1","run":"r","text":"Which database?","options":["SQLite","PostgreSQL"],"asked_at":"2026-11-20T12:00:00Z","answered_at":"0001-01-01T00:00:00Z"}`
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "q1.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.keys("u")
	p.shows("u Questions", "q1 Which database?", "2 PostgreSQL", "answer to q1")
	p.keys("a", "Escape")
	p.hides("Questions")
	p.keys("u", "7", "Enter")
	p.shows("q1 has no option 7")
	p.keys("BSpace", "2", "Enter")
	p.shows("answer will act soon")
	if got, want := p.called(), "answer q1 --option 2"; got != want {
		t.Errorf("the verbs were %q, want %q", got, want)
	}
}

func TestHints_runEndedWithAQuestion_nameTheKeyThatAnswersFirst(t *testing.T) {
	s, events := sample.States(time.Now())["halted"]()
	s.Status.Rule = state.RuleQuestion
	project := sample.New(t, s, events)
	store := asked.In(project.Reader())
	if _, err := store.Add(asked.Question{Text: "Which?"}); err != nil {
		t.Fatal(err)
	}
	p := openPane(t, project.Dir, [2]int{60, 15})
	p.shows("\n u answer  l log")
	if _, err := store.Answered("q1", "this", "test"); err != nil {
		t.Fatal(err)
	}
	p.hides("u answer")
}
