package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/state"
)

func TestBuild_tasksNeverBegun_areNamedBriefly(t *testing.T) {
	stop := state.Decision{Action: "stop", Rule: "max_iterations"}
	all := &state.NotBegun{Count: 12}
	for _, id := range []string{"one", "two", "three", "four", "five", "six", hostile} {
		all.First = append(all.First, state.TaskName{ID: id, Title: "the " + id})
	}
	for name, tc := range map[string]struct {
		end  *state.RunEnd
		want string
	}{
		"the first one was cut off": {&state.RunEnd{Decision: stop, Exit: 4, Status: "stopped", Total: 14, NotBegun: all},
			"11 tasks · the two · the three · the four · the five · the six · and 6 more"},
		"one": {&state.RunEnd{Decision: stop, Exit: 4, Status: "stopped", Total: 2, NotBegun: &state.NotBegun{Count: 1,
			First: []state.TaskName{{ID: "x", Title: hostile}}}}, "1 task · " + line(hostile)},
		"none":               {&state.RunEnd{Decision: stop, Exit: 4, Status: "stopped", Total: 2, NotBegun: &state.NotBegun{}}, ""},
		"an earlier version": {&state.RunEnd{Decision: stop, Exit: 4, Status: "stopped", Total: 14}, "13 tasks"},
		"killed":             {nil, "13 tasks"},
	} {
		n := newNight()
		n.after(0, state.RunStart{Total: 14})
		n.iteration, n.task = 1, "one"
		n.after(1, state.IterationStart{Title: "one", Total: 14})
		if tc.end != nil {
			n.iteration, n.task = 0, ""
			n.after(1, *tc.end)
		}
		r := n.build()
		if got := r.NotBegun.Brief(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		record, _ := json.Marshal(r)
		again, err := Decode(record)
		if err != nil || cmp.Diff(r.NotBegun, again.NotBegun) != "" {
			t.Errorf("%s: %v, %+v", name, err, again.NotBegun)
		}
		page := r.HTML()
		for form, text := range map[string]string{"html": string(page), "markdown": r.Markdown(), "text": r.Text()} {
			if strings.Contains(text, "Not begun: ") != (tc.want != "") || strings.Contains(text, "<img src") && form == "html" {
				t.Errorf("%s, %s:\n%s", name, form, text)
			}
		}
	}
}

func TestBuild_tickOfATaskThatWasPutAsideIsTakenBack_itStaysAside(t *testing.T) {
	n := newNight()
	n.after(0, state.RunStart{Total: 2})
	n.iteration, n.task = 1, "one"
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue", Reason: "checks fail"}, Outcome: "completed-turn"})
	n.after(0, state.TaskChange{ID: "one", State: "put aside", Why: "checks fail"})
	n.iteration, n.task = 2, "two"
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue"}, Outcome: "completed-turn"})
	n.after(0, state.TaskChange{ID: "one", State: "open", Why: "ticked in the iteration of another task"})
	if got := n.build().Tasks[0].State; got != TaskAside {
		t.Errorf("it is %q", got)
	}
	n.iteration, n.task = 3, "one"
	n.call(state.IterationEnd{Decision: state.Decision{Action: "continue"}, Outcome: "completed-turn"})
	if got := n.build().Tasks[0].State; got != TaskOpen {
		t.Errorf("worked on again, it is %q", got)
	}
}

func TestBuild_endByBlockedTasks_offersNothingToAccept(t *testing.T) {
	r := &Report{Status: state.StatusReview, Rule: state.RuleBlocked}
	if r.review([]state.ReviewItem{{N: 1, Text: "x"}}); r.Findings[0].Accept != "" || r.next()[1] != "ralph task reopen ID" {
		t.Errorf("%+v, %q", r.Findings, r.next())
	}
}

func TestText_findings_haveTheNumberThatAcceptTakes(t *testing.T) {
	r := &Report{Status: state.StatusReview}
	r.review([]state.ReviewItem{{N: 3, Text: "x"}})
	for _, page := range []string{r.Text(), string(r.HTML())} {
		if !strings.Contains(page, "3. x") || !strings.Contains(page, "accept: ralph accept 3") {
			t.Error(page)
		}
	}
}

func TestToType_noCommandStandsTwice(t *testing.T) {
	for advice, want := range map[string]string{
		"":                               "|ralph iterations,ralph resume",
		"ralph resume":                   "|ralph iterations,ralph resume",
		"fix it, then: ralph resume":     "fix it, then: ralph resume|ralph iterations",
		"wait for the next hour of work": "wait for the next hour of work|ralph iterations,ralph resume",
	} {
		got, commands := (&Report{Advice: advice, Next: []string{"ralph iterations", "ralph resume"}}).toType()
		if got += "|" + strings.Join(commands, ","); got != want {
			t.Errorf("%q: %s, want %s", advice, got, want)
		}
	}
}
