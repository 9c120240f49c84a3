package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	program = "bin/todo"
	plan    = ".ralph/fix_plan.md"
	readme  = "README.md"
	tests   = "sh tests/run.sh"
)

// openBug is the mistake of the second turn, openRight the fix.
const (
	openBug   = `open) grep -n '^\[x\]' "$file"`
	openRight = `open) grep -n '^\[ \]' "$file"`
)

// play runs the next part of the script. The project's files say which: a task has
// started if its test is enabled.
func (a *agent) play(prompt string) {
	enabled := strings.Fields(a.read("tests/enabled"))
	begun := func(test string) bool { return slices.Contains(enabled, test) }
	switch {
	case !begun("done"):
		a.markEntries()
	case !begun("open"):
		a.listOpenWrongly()
	case strings.Contains(a.read(program), openBug):
		a.repairListOpen(prompt)
	case !strings.Contains(a.read(readme), "list --open"):
		a.claimTooEarly()
	case !begun("count"):
		a.removeAndCount()
	default:
		a.confirmCount()
	}
}

// markEntries is a model turn: red, change, green, tick, commit.
func (a *agent) markEntries() {
	a.say("I read the plan first, then the example list.")
	a.bash("cat " + plan)
	a.bash("cat examples/todo.txt")
	a.say("The first open task is `todo done N`. Its test must fail before I begin.")
	a.enable("done")
	a.bash(tests)
	a.edit(program, "\ncase ${1:-} in\n", `
# entry fails where the list has no line $1.
entry() {
	case ${1:-} in '' | *[!0-9]*) text= ;; *) text=$(sed -n "$1p" "$file") ;; esac
	[ -n "$text" ] || { echo "todo: no entry '${1:-}'" >&2; exit 1; }
}

# rewrite runs the list through sed.
rewrite() { sed "$1" "$file" >"$file.new" && mv "$file.new" "$file"; }

case ${1:-} in
`)
	a.addCommand("done", "entry \"${2:-}\"\n\trewrite \"$2s/^\\[ \\]/[x]/\"")
	a.bash(tests)
	a.tick("todo done N")
	a.commit("Mark entries as done")
	a.finish("`todo done N` works and its test passes." +
		status{tasks: 1, files: 3, tests: "PASSING", next: "todo list --open"}.block())
}

// listOpenWrongly greps for the wrong box and claims green tests without running them.
func (a *agent) listOpenWrongly() {
	a.say("Next is `todo list --open`. This one is easy.")
	a.enable("open")
	a.edit(program, "list)\n\tgrep -n '' \"$file\" | number", "list)\n\tcase ${2:-} in\n\t--"+openBug+
		" ;;\n\t*) grep -n '' \"$file\" ;;\n\tesac | number")
	a.tick("todo list --open")
	a.commit("List open entries only")
	a.finish("`todo list --open` is done and all tests pass." +
		status{tasks: 1, files: 3, tests: "PASSING", next: "todo rm N"}.block())
}

// repairListOpen fixes the bug, but only if the prompt shows the failure.
func (a *agent) repairListOpen(prompt string) {
	const failure = "got:  1. [x] buy milk"
	if !strings.Contains(prompt, failure) {
		a.finish("`todo list --open` is ticked and nobody reported a problem, so I changed nothing." +
			status{tests: "NOT_RUN", next: "wait for news"}.block())
		return
	}
	a.say("The check says %q: I claimed green tests without running them. I look first.", failure)
	a.bash(tests)
	a.say("It prints the entries that are done: the pattern has the wrong box.")
	a.edit(program, openBug, openRight)
	a.bash(tests)
	a.tick("todo list --open")
	a.commit("List the open entries, not the done ones")
	a.finish("`todo list --open` was wrong and is fixed; I ran the tests this time." +
		status{tasks: 1, files: 1, tests: "PASSING", next: "todo rm N"}.block())
}

// claimTooEarly claims completion while two tasks are open.
func (a *agent) claimTooEarly() {
	a.say("The README does not know the new commands yet.")
	a.edit(readme, "numbers\n", "numbers\n    todo list --open      prints the open ones\n"+
		"    todo done 1           marks an entry as done\n")
	a.commit("Describe the new commands")
	a.finish("The README is up to date. The project is complete!" +
		status{state: "COMPLETE", files: 1, tests: "PASSING", kind: "DOCUMENTATION", exit: true, next: "none"}.block())
}

// removeAndCount does more than its task, so ralph reopens the second one.
func (a *agent) removeAndCount() {
	a.say("I was too quick: the plan still has open tasks.")
	a.enable("rm")
	a.addCommand("rm", "entry \"${2:-}\"\n\trewrite \"$2d\"")
	a.bash(tests)
	a.tick("todo rm N")
	a.commit("Remove entries")
	a.say("One more: `todo count`.")
	a.enable("count")
	a.bash(tests)
	a.addCommand("count", `open=$(grep -c '^\[ \]' "$file") || :`+"\n\t"+
		`finished=$(grep -c '^\[x\]' "$file") || :`+"\n\t"+`echo "$open open, $finished done"`)
	a.bash(tests)
	a.tick("todo count")
	a.commit("Count entries")
	a.finish("All four tasks of the plan are done, the tests pass; `list --color` stays optional." +
		status{state: "COMPLETE", tasks: 2, files: 3, tests: "PASSING", exit: true, next: "none"}.block())
}

// confirmCount finds its task done by the previous turn.
func (a *agent) confirmCount() {
	a.say("I check that `todo count` does what the task asks for.")
	a.bash(tests)
	a.tick("todo count")
	a.finish("Every task of the plan is done and the tests pass." +
		status{state: "COMPLETE", tests: "PASSING", kind: "TESTING", exit: true, next: "none"}.block())
}

// enable adds a test to those that tests/run.sh runs.
func (a *agent) enable(test string) { a.bash("echo " + test + " >>tests/enabled") }

// addCommand adds a command to the program, before the usage message.
func (a *agent) addCommand(name, body string) {
	a.edit(program, "*)\n\techo \"usage:", name+")\n\t"+body+"\n\t;;\n*)\n\techo \"usage:")
}

// tick ticks the task's box if it is open.
func (a *agent) tick(task string) {
	if open := "- [ ] `" + task + "`"; strings.Contains(a.read(plan), open) {
		a.edit(plan, open, "- [x] `"+task+"`")
	}
}

func (a *agent) commit(message string) {
	a.bash(fmt.Sprintf("git add bin tests README.md %s && git commit -q -m '%s' && git log --oneline -1", plan,
		message))
}

// status is the block at the end of a final message. The zero values of state
// and kind mean IN_PROGRESS and IMPLEMENTATION.
type status struct {
	state, tests, kind, next string
	tasks, files             int
	exit                     bool
}

func (s status) block() string {
	s.state = cmp.Or(s.state, "IN_PROGRESS")
	if s.kind == "" {
		s.kind = "IMPLEMENTATION"
	}
	return fmt.Sprintf(`

---RALPH_STATUS---
STATUS: %s
TASKS_COMPLETED_THIS_LOOP: %d
FILES_MODIFIED: %d
TESTS_STATUS: %s
WORK_TYPE: %s
EXIT_SIGNAL: %t
RECOMMENDATION: %s
---END_RALPH_STATUS---`, s.state, s.tasks, s.files, s.tests, s.kind, s.exit, s.next)
}
