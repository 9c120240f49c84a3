package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
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

func press(p *answersPage, keys string) (act answerAct) {
	for _, r := range keys {
		key := tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone)
		if k, ok := map[rune]tcell.Key{'\n': tcell.KeyEnter, '>': tcell.KeyDown, '<': tcell.KeyUp, '!': tcell.KeyEscape}[r]; ok {
			key = tcell.NewEventKey(k, 0, tcell.ModNone)
		}
		act = p.Key(key)
	}
	return act
}

func TestKey_answers_becomeVerbs(t *testing.T) {
	for keys, want := range map[string]string{
		"2\n":          "close answer q2 --option 2",
		"3\n":          "q2 has the options 1 to 2",
		"0\n":          "q2 has the options 1 to 2",
		"Use MySQL\n":  "close answer q2 -- Use MySQL",
		"--option 1\n": "close answer q2 -- --option 1",
		"\n":           "type an answer first, or leave with esc",
		"  \n":         "type an answer first, or leave with esc",
		"1>30\n":       "close answer q3 -- 30",
		">>>one day\n": "close answer q3 -- one day",
		">x<1\n":       "close answer q2 --option 1",
		"12!":          "close",
		"quit":         "",
	} {
		act := press(newAnswersPage(questions()), keys)
		got := strings.Join(act.Verb, " ") + act.Say
		if act.Close {
			got = strings.TrimSpace("close " + got)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", keys, got, want)
		}
	}
}

func TestNew_nothingWaits_isNoPage(t *testing.T) {
	if newAnswersPage(questions()[:1]) != nil {
		t.Error("a page without questions")
	}
}

func TestDraw_anySize_showsTheSelectedQuestion(t *testing.T) {
	for _, size := range [][2]int{{60, 12}, {80, 21}, {200, 47}, {20, 3}, {1, 1}} {
		for _, keys := range []string{"", ">"} {
			p := newAnswersPage(questions())
			press(p, keys)
			screen := tcell.NewSimulationScreen("UTF-8")
			if err := screen.Init(); err != nil {
				t.Fatal(err)
			}
			screen.SetSize(size[0], size[1]+1)
			c := canvas.Canvas{Screen: screen, W: size[0], H: size[1] + 1}
			p.Draw(c.Rows(0, size[1]))
			p.DrawAsk(c.Rows(size[1], 1))
			screen.Show()
			cells, w, h := screen.GetContents()
			var b strings.Builder
			for y := range h {
				for x := range w {
					b.WriteString(string(cells[y*w+x].Runes))
				}
				b.WriteByte('\n')
			}
			got, want := b.String(), []string{"q2 Which database", "1 SQLite", "2 PostgreSQL 16", "task: Add a database", "1 of 2", "answer to q2 (1 to 2, or a text)", "  q3 How"}
			if keys != "" {
				want = []string{"q3 How long", "The schema", "2 of 2", "answer to q3: "}
			}
			for _, text := range want {
				if size[0] >= 60 && !strings.Contains(got, text) {
					t.Errorf("%v %q: no %q in\n%s", size, keys, text, got)
				}
			}
			if strings.ContainsRune(got, 0x1b) {
				t.Errorf("%q", got)
			}
			t.Log(fmt.Sprint(size, "\n", got))
		}
	}
}

func TestClick_rowSelectsAndOptionIsTyped(t *testing.T) {
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(80, 12)
	p := newAnswersPage(questions())
	click := func(y int) {
		p.Draw(canvas.Canvas{Screen: screen, W: 80, H: 12})
		p.Click(0, y)
	}
	click(6) // the other question, below text, options, task and context
	if act := press(p, "x\n"); strings.Join(act.Verb, " ") != "answer q3 -- x" {
		t.Errorf("a click selects: %v", act)
	}
	press(p, "<") // the long text of the other question fills the page
	click(2)
	if !p.Option(2) || p.Option(0) || p.Option(99) {
		t.Error("only row 2 of these is an option")
	}
	if act := press(p, "\n"); strings.Join(act.Verb, " ") != "answer q2 --option 2" {
		t.Errorf("a click chooses an option: %v", act)
	}
	click(99)
}
