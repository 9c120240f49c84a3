package monitor

import (
	"github.com/gdamore/tcell/v2"

	"ralph/state"
)

// openAnswers opens the page of the questions that wait for a person.
func (u *ui) openAnswers() {
	defer u.lock()()
	page, err := openAnswersPage(u.feed.Reader())
	switch {
	case err != nil:
		u.fail(err.Error())
	case page == nil:
		u.say("no question waits for an answer")
	default:
		u.asks, u.answers, u.help = askAnswer, page, false
	}
}

// awaited reports whether the run can do nothing before a person answers. The lock is held.
func (u *ui) awaited() bool { return u.model.Wait.Rule == state.RuleQuestion }

// answerOrAbort does what the last row says about the key: it opens the questions, or asks to abort.
func (u *ui) answerOrAbort() {
	free := u.lock()
	asked := u.awaited()
	free()
	if asked {
		u.openAnswers()
		return
	}
	u.askBefore("abort")
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
