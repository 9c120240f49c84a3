package monitor

import (
	"slices"

	"ralph/state"
	"ralph/state/view/summary"
)

// binding is one row of the key table. Dispatch, the help page and the last row of the
// screen use it.
type binding struct {
	keys   string // names, separated by spaces
	short  string // for the last row; empty: in the help only
	help   string
	do     func(*ui)
	alive  bool // needs a living runner
	always bool // on the page of tasks, too
}

func bindings() []binding {
	return []binding{
		{"p", "pause", "pause after this iteration, or resume", (*ui).pauseOrResume, true, false},
		{"s", "skip", "end this iteration and take the next task (asks first)", func(u *ui) { u.askBefore("skip") },
			true, false},
		{"a", "abort", "end the run now (asks first); while it waits for an answer of yours: answer",
			(*ui).answerOrAbort, true, false},
		{"A", "", "end the run now, also while it waits for an answer (asks first)",
			func(u *ui) { u.askBefore("abort") }, true, false},
		{"l", "log", "live log only, and back", func(u *ui) { u.show(panelLog) }, false, false},
		{"enter", "read",
			"the transcript of the iteration: what the agent said and did, its tool calls with their answers",
			(*ui).openTranscript, false, false},
		{"r", "review", "review the iteration: checks, findings, diff; left and right: the previous and the next one",
			(*ui).openReview, false, false},
		{"t", "tasks", "the tasks of the plan: look at them, find and change them; the list has keys of its own",
			(*ui).openTasks, false, false},
		{"d", "diff",
			"what the iteration changed: files and hunks; from there, u takes it back and B finds who broke a check",
			(*ui).openChanges, false, false},
		{"T", "", "the timeline: a cell for each iteration, waits as gaps, cost and tokens, how fast the run spends",
			(*ui).openTimeline, false, false},
		{"R", "", "raw output of the iteration", (*ui).openRaw, false, false},
		{"o", "open", "open a clean copy of what is shown in $PAGER", func(u *ui) { u.openWith(inPager) }, false,
			false},
		{"e", "", "open what is shown in $EDITOR: the file of a log, or a copy of a review",
			func(u *ui) { u.openWith(inEditor) }, false, false},
		{"/", "search", "search backwards; a query in lower case matches any case", (*ui).askSearch, false, false},
		{"F", "filter", "a part of the whole log: errors, tools, findings, one task, all lines with a text, or the log at a time",
			(*ui).askFilter, false, false},
		{"i", "note", "write a note into the next prompt", (*ui).askForNote, false, true},
		{"u", "questions", "answer the questions of agents: a number chooses an option, anything else is the answer",
			(*ui).openAnswers, false, false},
		{"n", "", "next match, towards older lines", func(u *ui) { u.search(-1) }, false, false},
		{"N", "", "next match, towards newer lines", func(u *ui) { u.search(1) }, false, false},
		{"f", "", "follow the end of the log, or stop", (*ui).toggleFollow, false, false},
		{"w", "", "wrap long lines, or cut them", (*ui).toggleWrap, false, false},
		{"tab backtab", "", "move between iterations and log", (*ui).nextFocus, false, false},
		{"up k", "", "one row up", func(u *ui) { u.scroll(-1) }, false, false},
		{"down j", "", "one row down", func(u *ui) { u.scroll(1) }, false, false},
		{"pgup b ctrl-u", "", "one screen up", func(u *ui) { u.scroll(-u.screenful()) }, false, false},
		{"pgdn space ctrl-d", "", "one screen down", func(u *ui) { u.scroll(u.screenful()) }, false, false},
		{"g home", "", "the beginning", (*ui).toStart, false, false},
		{"G end", "", "the end", (*ui).toEnd, false, false},
		{"left", "", "scroll an unwrapped log to the left; on the timeline: the iteration before", func(u *ui) { u.sideways(-1) }, false, false},
		{"right", "", "scroll an unwrapped log to the right; on the timeline: the next iteration", func(u *ui) { u.sideways(1) }, false, false},
		{"1..9", "", "one panel alone, by the number in its title", (*ui).showNumber, false, false},
		{"m", "model", "choose agent and model from the next turn on: type to narrow the list, or any name",
			(*ui).openModels, true, true},
		{"M", "", "mouse on or off: a click selects, or presses the key named in the last row; a double click opens; off, the terminal selects text", (*ui).toggleMouse, false, true},
		{"ctrl-l", "", "redraw the screen", func(u *ui) { u.wake(wakeSync) }, false, true},
		{"ctrl-z", "", "suspend to the shell", (*ui).toShell, false, true},
		{"esc", "", "back", (*ui).back, false, false},
		{":", "", "find a command, a panel, an iteration or a task by letters of its name", (*ui).openPalette, false, true},
		{"?", "help", "help for what is on the screen, and back", (*ui).toggleAbout, false, true},
		{"h", "", "all keys, and back", (*ui).toggleHelp, false, true},
		{"q ctrl-c", "quit", "quit this screen; the run continues", (*ui).quit, false, true},
	}
}

// dispatch maps every name to its action.
func dispatch(table []binding) map[string]func(*ui) {
	all := map[string]func(*ui){}
	for _, b := range table {
		for _, name := range keyNames(b.keys) {
			all[name] = b.do
		}
	}
	return all
}

// hints are the keys that work now. While a page is open, those are its own.
func (u *ui) hints(v summary.Summary) []keyHint {
	all := u.pageHints()
	for _, b := range u.table {
		if b.alive && !v.Alive || len(u.over) > 0 && !b.always {
			continue
		}
		if b.short == "pause" && v.Resumable {
			b.short = "resume"
		}
		if b.short == "abort" && u.awaited() {
			b.short = "answer"
		}
		hint := keyHint{Keys: b.keys, Short: b.short, Help: b.help}
		if b.keys == "esc" && u.escapes() {
			hint.Short = "back"
			all = slices.Insert(all, 0, hint)
			continue
		}
		if b.short == "questions" && len(u.over) == 0 && !v.Alive && u.model.Status.Rule == state.RuleQuestion &&
			u.notes.questions.n > 0 {
			hint.Short = "answer" // it is what a person has to do now
			all = slices.Insert(all, 0, hint)
			continue
		}
		all = append(all, hint)
	}
	return all
}

// escapes reports whether something that esc closes is on the screen.
func (u *ui) escapes() bool {
	return len(u.over) == 0 && (u.help || u.page != nil || u.timeline != nil || u.alone != panelHeader)
}

// Keys are the names of all keys that do something.
func Keys() (names []string) {
	for _, b := range bindings() {
		names = append(names, keyNames(b.keys)...)
	}
	return names
}
