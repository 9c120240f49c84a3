package cli

import (
	"testing"

	"ralph/state/question"
)

func TestText_openQuestion_namesItsOptionsAndHowToAnswer(t *testing.T) {
	want := "q1 · store · Which one?; 1: SQLite; 2: files; not answered: ralph answer q1 TEXT, or --option N"
	q := question.Question{ID: "q1", Title: "store", Text: "Which one?", Options: []string{"SQLite", "files"}}
	if got := text(q); got != want {
		t.Errorf("%q", got)
	}
}
