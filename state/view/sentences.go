package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
)

// entries formats an event. It is the only place that does.
func entries(e state.Event, o LineOptions) []entry {
	switch d := e.Data.(type) {
	case state.SessionStart:
		return one(RoleNote, Join(" · ", Prefix("session ", d.ID), d.Model))
	case state.Text:
		return []entry{{RoleText, d.Text, maxText}}
	case state.Tool:
		return append(one(RoleTool, toolText(d, o.Dir)), entry{RoleAnswer, d.Hunk, maxHunk})
	case state.ToolResult:
		text := Within(o.Dir, d.Text)
		if d.Error {
			return []entry{{RoleError, orElse(text, "the tool failed"), maxFailure}}
		}
		return []entry{{RoleAnswer, text, maxAnswer}}
	case state.Denied:
		return []entry{{RoleError, Join(": ", "denied", toolText(d.Tool, o.Dir), d.Reason), maxFailure}}
	case state.Blocked:
		return one(RoleNote, "the sandbox refused a connection to "+d.Host+" (SANDBOX_NET)")
	case state.AgentError:
		return []entry{{RoleError, orElse(d.Text, strings.Join(d.Codes, " ")), maxFailure}}
	case state.Retry:
		codes := strings.Join(d.Codes, " ")
		return one(RoleNote, Join(": ", "the agent retries", strings.TrimSuffix(d.Text, ": "+codes), codes))
	case state.Limit:
		return limitEntry(e, d)
	case state.FinalMessage:
		if d.Error {
			return []entry{{RoleError, Join(": ", "result", orElse(d.Text, strings.Join(d.Codes, " "))), maxFailure}}
		}
		return []entry{{RoleResult, d.Text, maxText}}
	}
	if told := runEntries(e); told != nil {
		return told
	}
	return proofEntries(e)
}

// runEntries describes the course of the run.
func runEntries(e state.Event) []entry {
	switch d := e.Data.(type) {
	case state.RunStart:
		return started(e, d)
	case state.IterationStart:
		attempt := ""
		if e.Attempt > 1 {
			attempt = fmt.Sprintf("attempt %d", e.Attempt)
		}
		return one(RoleHeading, Join(" · ", fmt.Sprintf("iteration %d", e.Iteration), cmp.Or(d.Title, d.Why),
			Unless(Developer, e.Role), attempt))
	case state.AgentChange:
		text := "switched to agent " + d.Name
		switch {
		case d.Why != "":
			text = Join(", ", text, Prefix("model ", d.Model)) + ": " + d.Why
		case d.Instead != "":
			text += ": " + d.Instead + " has reached its usage limit"
			if !d.Until.IsZero() {
				text += " until " + Clock(d.Until, e.Time.Local())
			}
		}
		return one(RoleNote, text)
	case state.Paused:
		return one(RoleNote, "paused; continue with: ralph resume")
	case state.Decision:
		return decided(e, d)
	case state.IterationEnd:
		return slices.Concat(ended(e, d), decided(e, d.Decision))
	case state.RunEnd:
		return over(d)
	}
	return nil
}

// proofEntries describes checks, findings and their consequences.
func proofEntries(e state.Event) []entry {
	switch d := e.Data.(type) {
	case state.Check:
		return checkEntry(d)
	case state.Hook:
		return hookEntry(d)
	case state.Baseline:
		return []entry{{RoleWarning, "failed before the agent started: " + strings.Join(d.Red, "; "), maxFailure}}
	case state.Feedback:
		return []entry{{RoleTold, "told the agent: " + strings.Join(d.Items, "\n\n"), maxText}}
	case state.Finding:
		role := map[bool]Role{true: RoleWarning, false: RoleError}[d.Source != state.FoundByAudit || d.Doubt]
		return []entry{{role, Join(": ", d.Source, findingText(d)), maxText}}
	case state.Verdict:
		return one(map[bool]Role{true: RoleGood, false: RoleWarning}[d.Passes()], "verdict of "+d.Line())
	case state.TaskChange:
		return []entry{{RoleWarning, Join(": ", taskIs(d), d.Why), maxFailure}}
	case state.Question:
		return []entry{{RoleWarning, Join("\n", "the agent asks "+d.ID+": "+d.Text, strings.Join(d.Options, "\n"),
			"ralph answer "+d.ID), maxFailure}}
	case state.Answer:
		return []entry{{RoleTold, fmt.Sprintf("%s is answered (%s): %s", d.ID, d.By, d.Text), maxFailure}}
	case state.Commit:
		return commitEntries(d)
	}
	return nil
}

func findingText(d state.Finding) string {
	text := d.Text
	if !strings.Contains(text, d.File) {
		text = d.File + ": " + text
	}
	return Join("; ", text, d.Answer)
}

func taskIs(d state.TaskChange) string {
	name := "the task"
	switch {
	case d.Title != "":
		name = quoted(d.Title)
	case d.ID != "" && !Computed(d.ID):
		name = "task " + d.ID
	}
	if d.State == state.TaskOpen {
		return name + " is open again"
	}
	return name + " is now " + d.State
}

// quoted is the title of a task in a sentence.
func quoted(title string) string { return `"` + termtext.Fit(termtext.Line(title), 80) + `"` }

// Computed reports whether a task's id is a hash of its text, which means nothing to people.
func Computed(id string) bool {
	return len(id) >= 8 && strings.Trim(id, "0123456789abcdef") == ""
}

func one(r Role, text string) []entry { return []entry{{r, text, 1}} }

func toolText(t state.Tool, dir string) string {
	return Join(" ", t.Name, Within(dir, t.Arg))
}

func orElse(text, other string) string { return cmp.Or(strings.TrimSpace(text), other) }

func limitEntry(e state.Event, d state.Limit) []entry {
	if !d.Rejected {
		return nil
	}
	resets := ""
	if !d.ResetsAt.IsZero() {
		resets = "it resets at " + Clock(d.ResetsAt, e.Time.Local())
	}
	return one(RoleError, Join("; ", WindowName(d.Name)+" usage limit reached", resets))
}

func started(e state.Event, d state.RunStart) []entry {
	tasks, resumed := "", ""
	if d.Total > 0 {
		tasks = fmt.Sprintf("%d of %s done", d.Done, termtext.Count(d.Total, "task"))
	}
	if d.Resumed {
		resumed = "resumed"
	}
	all := one(RoleHeading, Join(" · ", Prefix("run ", e.Run), resumed, Prefix("agent ", d.Agent), d.Model, tasks))
	if text := Crashed(d); text != "" {
		all = append(all, one(RoleWarning, text)...)
	}
	return all
}

// Crashed says how the run before this one crashed; empty: it did not crash.
func Crashed(d state.RunStart) string {
	if d.Killed == "" {
		return ""
	}
	text := fmt.Sprintf("the previous run, %s, crashed", d.Killed)
	if d.KilledIteration > 0 {
		text += fmt.Sprintf(" in iteration %d", d.KilledIteration)
	}
	return Join("; ", text, Prefix("last error: ", d.LastError))
}

// Trouble says in words that an agent's STATUS is not a success, even if its call ended well
// and its task is ticked; empty: it is one.
func Trouble(status string) string {
	return map[string]string{"BLOCKED": "the agent is blocked", "ERROR": "the agent reports an error"}[status]
}

// ended says what happened to the task.
func ended(e state.Event, d state.IterationEnd) []entry {
	what, role := "ended", RoleNote
	switch {
	case d.Cut != "":
		what, d.Failed, d.Outcome = CutWord(d.Cut), false, ""
	case d.Failed:
		what, role = "failed", RoleError
	case d.TaskDone && Trouble(d.Says) != "":
		what, role = "done", RoleWarning
	case d.TaskDone:
		what, role = "done", RoleGood
	case e.Reviews:
		what = "reviewed"
	case d.Total > 0 && (d.Title != "" || e.Task != ""):
		what = "not done yet"
	}
	if d.Seconds > 0 {
		what += map[bool]string{true: " in ", false: " after "}[d.TaskDone && !d.Failed] + Took(d.Seconds)
	}
	class := Unless(CompletedTurn, d.Outcome)
	if d.Failed {
		what, class = Join(": ", what, orElse(d.Detail, d.Outcome)), ""
	}
	head := fmt.Sprintf("iteration %d ", e.Iteration)
	if d.Title != "" {
		head += "· " + quoted(d.Title) + " "
	}
	said := ""
	if !d.Failed && d.Cut == "" {
		said = Trouble(d.Says)
	}
	return one(role, Join(" · ", head+what, said, class, changed(d.Files), Dollars(d.Usage.CostUSD)))
}

// CompletedTurn is the class of a normal agent call.
const CompletedTurn = "completed-turn"

// WindowName turns a vendor's name of a usage-limit window into words.
func WindowName(name string) string {
	switch name {
	case "":
		return "usage"
	case "five_hour":
		return "5-hour"
	case "seven_day":
		return "7-day"
	}
	return strings.ReplaceAll(strings.Replace(termtext.Line(name), "seven_day_", "7-day ", 1), "_", " ")
}

func changed(files int) string {
	if files <= 0 {
		return "no files changed"
	}
	return termtext.Count(files, "file") + " changed"
}

// Unless returns text unless it is the normal case.
func Unless(normal, text string) string {
	if text == normal {
		return ""
	}
	return text
}

// decided says what follows. The normal case, the next iteration, gets a line only if
// it has a reason, such as an agent that reports being blocked.
func decided(e state.Event, d state.Decision) []entry {
	if d.Rule == "" || d.Rule == state.RuleContinue || d.Action == state.ActionContinue && d.Rule == state.RulePlanComplete {
		return one(RoleNote, d.Reason)
	}
	what, role := string(d.Action), RoleNote
	switch d.Action {
	case state.ActionStop:
		if what, role = "stopped", RoleWarning; Succeeds(d.Rule) {
			role = RoleGood
		}
	case state.ActionWait:
		what = "waiting"
		if !d.WakeAt.IsZero() {
			what += " until " + Clock(d.WakeAt, e.Time.Local())
		}
	case state.ActionRetry:
		what = "retrying"
	case state.ActionContinue:
		what = "continuing"
	}
	return one(role, Join(": ", what, d.Reason)+" (rule "+d.Rule+")")
}

// Succeeds reports whether this rule ends a run that reached its goal.
func Succeeds(rule string) bool {
	return rule == state.RuleComplete || rule == state.RulePlanComplete
}

func over(d state.RunEnd) []entry {
	lasted := ""
	if d.Seconds > 0 {
		lasted = " after " + Span(Seconds(d.Seconds))
	}
	cost := Prefix("about ", Dollars(d.Usage.CostUSD))
	all := one(RoleHeading, Join(" · ", "run ended"+lasted, fmt.Sprintf("exit code %d", d.Exit), cost))
	if why := Join(": ", d.Rule, d.Reason); why != "" && d.Exit != 0 {
		all = append(all, one(RoleError, why)...)
	}
	all = append(all, one(RoleWarning, state.NotProven(d.Status, d.Unproven))...)
	return append(all, one(RoleNote, Prefix("next: ", d.Next))...)
}

func checkEntry(d state.Check) []entry {
	name := "check " + d.Name
	switch d.Run {
	case state.CheckAgain:
		name = "second run of " + name
	case state.CheckBaseline:
		name += " before the work"
	case state.CheckOldTests:
		return one(RoleNote, "reran "+name+" in a copy, with old tests or other code ("+Took(d.Seconds)+")")
	}
	if d.Skipped != "" {
		return one(RoleNote, name+": skipped: "+d.Skipped)
	}
	if d.Passed {
		return one(RoleGood, name+": passed in "+Took(d.Seconds))
	}
	said := d.Says
	if d.Run == state.CheckAgain {
		said = "" // the first run has just said it
	}
	return []entry{{RoleError, Join(": ", name, "failed in "+Took(d.Seconds), termtext.Line(said)) + "\n" + d.Output,
		maxFailure}}
}

func hookEntry(d state.Hook) []entry {
	role, text := RoleNote, "hook "+d.Point+": "
	switch {
	case d.Failed != "":
		role, text = RoleError, text+d.Failed+" ("+d.Then+")"
	case d.Blocks:
		role, text = RoleWarning, text+Join(": ", "blocks", d.Reason)
	default:
		text += Join(" ", orElse(d.Says, "done"), "in "+Took(d.Seconds))
	}
	if len(d.Files) > 0 {
		text += " · " + changed(len(d.Files))
	}
	return []entry{{role, text + "\n" + d.Output, maxFailure}}
}

func commitEntries(d state.Commit) []entry {
	var all []entry
	if d.Why != "" {
		all = one(RoleWarning, "nothing was committed: "+d.Why)
	}
	if d.Landed != "" && d.OID != "" {
		all = one(RoleNote, fmt.Sprintf("landed on %s as %.12s: %s", d.Landed, d.OID, termtext.Count(d.Files, "file")))
	} else if d.OID != "" {
		files := termtext.Count(d.Files, "file")
		all = one(RoleNote,
			fmt.Sprintf("committed %s that %s left uncommitted as %.12s", files,
				map[bool]string{true: "was", false: "were"}[d.Files == 1], d.OID))
	}
	for _, r := range d.Refused {
		all = append(all, one(RoleWarning, fmt.Sprintf("not committed: %s (%s)", r.File, r.Why))...)
	}
	return all
}

// noteOf returns the first line of an event, false if it has none, or asks for nothing.
func noteOf(e state.Event) (Note, bool) {
	f, _ := e.Data.(state.Finding)
	if f.Name == state.FoundUnread {
		return Note{}, false
	}
	open := ""
	if d, ok := e.Data.(state.TaskChange); ok && !d.Person {
		open = d.ID
	}
	lines := Lines(e, LineOptions{})
	if len(lines) == 0 {
		return Note{}, false
	}
	return Note{e.Time, Heading(lines[0].Text), lines[0].Role, e.Kind == state.KindTask, f.Source == state.FoundByAudit && !f.Doubt, open}, true
}

// Heading is the first line of a text, for a place that does not show the others: without the sentence that
// introduces them.
func Heading(line string) string {
	if i := strings.LastIndex(line, ". "); i > 0 && strings.HasSuffix(line, ":") {
		return line[:i+1]
	}
	return line
}
