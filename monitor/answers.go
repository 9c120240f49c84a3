package monitor

import (
	"github.com/gdamore/tcell/v2"

	"ralph/monitor/answers"
)

// openAnswers opens the page of the questions that wait for a person.
func (u *ui) openAnswers() {
	defer u.lock()()
	page, err := answers.Open(u.feed.Reader())
	switch {
	case err != nil:
		u.fail(err.Error())
	case page == nil:
		u.say("no question waits for an answer")
	default:
		u.asks, u.answers, u.help = askAnswer, page, false
	}
}

// keyAnswer handles a key while the page of questions is open.
func (u *ui) keyAnswer(e *tcell.EventKey) {
	defer u.lock()()
	act := u.answers.Key(e)
	if act.Say != "" {
		u.say("%s", act.Say)
	}
	if act.Close {
		u.asks, u.answers = askNothing, nil
	}
	if act.Verb != nil {
		u.act(act.Verb...)
	}
}
