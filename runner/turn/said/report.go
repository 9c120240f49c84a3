package said

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ralph/logs/termtext"
	"ralph/runner/agent/statusblock"
	"ralph/runner/task"
)

// Report is what an agent's status block says, and what the turn shows.
type Report struct {
	statusblock.Signal
	Task          task.Task   // the one that the turn was for; zero: none
	Before, After []task.Task // of the plan; empty if there is none, or it cannot be read
	// Unchanged is true when nothing but the plan changed for sure.
	Unchanged bool
	// Edited are files that were there before and read differently now, without the plan.
	Edited []string
}

// manyEdited is how many files nobody edits and counts as none: one or two may be what a
// program wrote, or the file of progress.
const manyEdited = 3

// In is Contradictions of the report in a final message.
func (r Report) In(final string) []string {
	r.Signal, _ = statusblock.Parse(final)
	return r.Contradictions()
}

// Contradictions says, a sentence each, where the report is plainly wrong. Numbers that
// are merely inexact are not: agents count files and small steps in their own way.
func (r Report) Contradictions() []string {
	var found []string
	if text := r.otherTask(); text != "" {
		found = append(found, text)
	}
	planFile := 0
	if !slices.EqualFunc(r.Before, r.After, func(a, b task.Task) bool {
		return a.ID == b.ID && a.State == b.State &&
			a.Title == b.Title
	}) {
		planFile = 1
	}
	if r.Unchanged && r.FilesModified > planFile {
		found = append(found, fmt.Sprintf("the agent reports %s, and nothing was changed",
			termtext.Count(r.FilesModified, "modified file")))
	}
	if edited := slices.DeleteFunc(slices.Clone(r.Edited), written); r.NoFiles && len(edited) >= manyEdited {
		found = append(found, fmt.Sprintf("the agent reports no modified file, and %d were: %s",
			len(edited), termtext.Line(strings.Join(edited[:manyEdited], ", "))+more(len(edited)-manyEdited)))
	}
	ticked := r.ticked()
	if len(r.Before) > 0 && len(r.After) > 0 && r.TasksCompleted > max(ticked+len(r.Task.Criteria), r.done()) {
		shows := "none"
		if ticked > 0 {
			shows = strconv.Itoa(ticked)
		}
		found = append(found, fmt.Sprintf("the agent reports %s, and the plan shows %s",
			termtext.Count(r.TasksCompleted, "completed task"), shows))
	}
	return found
}

// ticked counts the tasks that the agent has finished in this turn, as the plan shows them
// and in favour of the agent: those that are done now, or wait for a review, and were not
// before, those with new words too; those it took out of the plan; and the one at hand if it
// was done before, or if the report says TASK: ID instead of a mark.
func (r Report) ticked() (n int) {
	finished := func(t task.Task) bool { return t.Done() || t.State == task.Review }
	before, after := task.Index(r.Before), task.Index(r.After)
	for _, now := range r.After {
		i, known := before[now.ID]
		if finished(now) && !(known && finished(r.Before[i]) && now.ID != r.Task.ID) {
			n++
		} else if now.ID == r.Task.ID && r.Signal.Task != "" {
			n++
		}
	}
	for _, was := range r.Before {
		if _, stays := after[was.ID]; !finished(was) && !stays {
			n++
		}
	}
	return n
}

// done is the number of all finished tasks, which some agents report. One alone is
// what most tasks report, so it says nothing.
func (r Report) done() (n int) {
	for _, t := range r.After {
		if t.Done() {
			n++
		}
	}
	if n != r.TasksCompleted || n < 2 {
		return 0
	}
	return n
}

// written reports whether a program writes this file, as a rule, and not the agent.
func written(name string) bool {
	base := path.Base(name)
	for _, pattern := range []string{"*.lock", "*-lock.*", "*.lockb", "go.sum", "*.snap", "*.min.*", "*.map", "*.pb.*", "*.log"} {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(folder string) bool {
		return slices.Contains([]string{"dist", "build", "out", "target", "vendor", "node_modules", "coverage", "generated", "__snapshots__"}, folder)
	})
}

func more(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// otherTask is the sentence about a report that names another task; empty: it names the
// right one, or what it names is not a task at all.
func (r Report) otherTask() string {
	name := plain(r.StoryID)
	id, title := plain(r.Task.ID), plain(r.Task.Title)
	if name == "" || id == "" || hasWords(name, id) || hasWords(title, name) || hasWords(name, title) {
		return ""
	}
	said := fmt.Sprintf("the agent reports work on %.80q, ", strings.TrimSpace(r.StoryID))
	for _, t := range slices.Concat(r.Before, r.After) {
		if t.ID != r.Task.ID && names(name, t) {
			if r.nested(t.ID) {
				return ""
			}
			return said + fmt.Sprintf("and the iteration was for %.80q", label(r.Task))
		}
	}
	if !task.Hashed(r.Task.ID) && shape(name) == shape(id) {
		return said + "which the plan does not have"
	}
	return ""
}

// nested reports whether one of the two tasks is a box below the other.
func (r Report) nested(other string) bool {
	index := func(id string) int {
		return slices.IndexFunc(r.Before, func(t task.Task) bool { return t.ID == id })
	}
	i, j := index(r.Task.ID), index(other)
	if i > j {
		i, j = j, i
	}
	if i < 0 {
		return false
	}
	for _, t := range r.Before[i+1 : j+1] {
		if t.Depth <= r.Before[i].Depth {
			return false
		}
	}
	return true
}

func label(t task.Task) string {
	if task.Hashed(t.ID) {
		return t.Title
	}
	return t.ID
}

// names reports whether the name is this task's id or title, perhaps with more words.
func names(name string, t task.Task) bool {
	id, title := plain(t.ID), plain(t.Title)
	return strings.HasPrefix(name+" ", id+" ") || title != "" && strings.HasPrefix(name+" ", title+" ")
}

// hasWords reports whether the words are part of the text.
func hasWords(text, words string) bool {
	return words != "" && strings.Contains(" "+text+" ", " "+words+" ")
}

var (
	zerosRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b0+(\d)`) })
	otherRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\p{L}\p{N}.]+`) })
	digitsRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })
)

// plain is a name without what people and agents spell in their own way: "US-001" and
// "[us 1]" are the same.
func plain(name string) string {
	name = strings.TrimSpace(otherRE().ReplaceAllString(strings.ToLower(name), " "))
	return zerosRE().ReplaceAllString(strings.TrimRight(name, "."), "$1")
}

// shape is a plain name with all numbers alike.
func shape(name string) string { return digitsRE().ReplaceAllString(name, "0") }
