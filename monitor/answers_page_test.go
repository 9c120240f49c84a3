package monitor

import (
	"strings"
	"testing"
	"time"

	"ralph/state/question"
)

func questions() []question.Question {
	long := strings.Repeat("The schema allows both, and the plan says nothing. ", 40)
	return []question.Question{
		{ID: "q1", Text: "Answered?", AnsweredAt: time.Now()},
		{ID: "q2", Title: "Add a database", Text: "Which database shall the shop use?", Options: []string{"SQLite", "PostgreSQL 16"}, Context: "I looked at\nthe plan."},
		{ID: "q3", Text: "How long are sessions valid? \x1b[31mred", Context: long},
	}
}

func answersOver(t *testing.T) (u *ui, verbs *[]string) {
	u, verbs = recorded(t)
	u.open("answers", newAnswers(u, questions()[1:]))
	return u, verbs
}

func TestAnswers_become_verbs(t *testing.T) {
	for keys, want := range map[string]string{
		"2<enter>":              "answer q2 --option 2",
		"3<enter>":              "asks q2 has no option 3 (1 to 2, or a text): ",
		"0<enter>":              "asks q2 has no option 0 (1 to 2, or a text): ",
		"Use MySQL<enter>":      "answer q2 -- Use MySQL",
		"--option 1<enter>":     "answer q2 -- --option 1",
		"  <enter>":             "asks type an answer to q2, or leave with esc (1 to 2, or a text): ",
		"1<down>30<enter>":      "answer q3 -- 30",
		"<down><down>1d<enter>": "answer q3 -- 1d",
		"<down>x<up>1<enter>":   "answer q2 --option 1",
		"12<esc>":               "",
		"quit":                  "asks answer to q2 (1 to 2, or a text): ",
	} {
		u, verbs := answersOver(t)
		u.types(t, keys)
		got := strings.Join(*verbs, "|")
		if u.prompt != nil {
			got += "asks " + u.prompt.question
		} else if u.front().page != u.run {
			t.Errorf("%q: the page is still open", keys)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", keys, got, want)
		}
	}
}

func TestAnswers_anySize_showTheSelectedQuestion(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}, {20, 6}, {1, 1}} {
		for keys, want := range map[string][]string{
			"":       {"q2 Which database", "1 SQLite", "2 PostgreSQL 16", "task: Add a database", "1 of 2", "answer to q2 (1 to 2, or a text)", "  q3 How"},
			"<down>": {"q3 How long", "The schema", "2 of 2", "answer to q3:"},
		} {
			u, _ := answersOver(t)
			u.types(t, keys)
			got := u.picture(t, size)
			for _, text := range want {
				if size[0] >= 60 && !strings.Contains(got, text) {
					t.Errorf("%v %q: no %q in\n%s", size, keys, text, got)
				}
			}
			if strings.ContainsRune(got, 0x1b) {
				t.Errorf("%q", got)
			}
		}
	}
}
