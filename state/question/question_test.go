package question

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/state"
)

func TestStore_questions_areNumberedAnsweredOnceAndBounded(t *testing.T) {
	r := state.Open(filepath.Join(t.TempDir(), ".ralph"))
	s := In(r)
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	for i := range 3 {
		q, err := s.Add(Question{Text: "Which?\x1b[2J", Options: []string{"a", "b"}, AskedAt: time.Now()})
		if err != nil || q.ID != "q"+string(rune('1'+i)) {
			t.Fatal(q, err)
		}
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(r.QuestionsDir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("q4.json", "{torn")
	put("notes.txt", "mine")
	all, err := s.List()
	if err != nil || len(all) != 3 || strings.Contains(all[0].Text, "\x1b") || !all[0].Open() {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, bad := range []struct{ id, text, want string }{
		{"q9", "x", "there is no question q9"},
		{"../q1", "x", `"../q1" is not an id`},
		{"q1", " \n", "is empty"},
		{"q1", strings.Repeat("x", MaxAnswer+1), "at most 8000"},
	} {
		if _, err := s.Answered(bad.id, bad.text, "t"); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %q", bad.id, err, bad.want)
		}
	}
	if q, err := s.Answered("q1", " b ", "ntfy"); err != nil || q.Answer != "b" || q.Open() || q.AnsweredBy != "ntfy" {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := s.Answered("q1", "c", "t"); err == nil || !strings.Contains(err.Error(), "was answered at") {
		t.Error(err)
	}
	if _, err := all[1].Option(3); err == nil || !strings.Contains(err.Error(), "options 1 to 2") {
		t.Error(err)
	}
}

func TestAnswered_severalPeopleAtOnce_oneIsTaken(t *testing.T) {
	s := In(state.Open(filepath.Join(t.TempDir(), ".ralph")))
	for range 20 {
		q, err := s.Add(Question{Text: "Which?"})
		if err != nil {
			t.Fatal(err)
		}
		var taken []string
		var mu sync.Mutex
		var people sync.WaitGroup
		for _, text := range []string{"a", "b", "c", "d"} {
			people.Go(func() {
				if _, err := s.Answered(q.ID, text, text); err == nil {
					mu.Lock()
					defer mu.Unlock()
					taken = append(taken, text)
				}
			})
		}
		people.Wait()
		kept, err := s.Get(q.ID)
		if err != nil || len(taken) != 1 || kept.Answer != taken[0] {
			t.Fatalf("%s: %q were taken, %q is kept, %v", q.ID, taken, kept.Answer, err)
		}
	}
}
