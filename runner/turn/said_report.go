package turn

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

// statusReport has what an agent's status block says, and what the turn shows.
type statusReport struct {
	statusblock.Signal
	Task          task.Task   // the one that the turn was for; zero: none
	Before, After []task.Task // of the plan; empty if there is none, or it cannot be read
	// Unchanged is true if certainly nothing but the plan changed.
	Unchanged bool
	// Edited are existing files whose content changed, without the plan.
	Edited []string
}

// minEdited is how many edited files contradict a report of none. A program may have written
// one or two, such as a progress file.
const minEdited = 3

// In returns the Contradictions of the report in a final message.
func (r statusReport) In(final string) []string {
	r.Signal, _ = statusblock.Parse(final)
	return r.Contradictions()
}

// Contradictions returns a sentence for each point in which the report is plainly wrong. Inexact
// numbers are not: agents count files and small steps in their own way.
func (r statusReport) Contradictions() []string {
	var found []string
	if text := r.otherTask(); text != "" {
		found = append(found, text)
	}
	planFile := 0
	same := func(a, b task.Task) bool { return a.ID == b.ID && a.State == b.State && a.Title == b.Title }
	if !slices.EqualFunc(r.Before, r.After, same) {
		planFile = 1
	}
	if r.Unchanged && r.FilesModified > planFile {
		found = append(found, fmt.Sprintf("the agent reports %s, but nothing was changed",
			termtext.Count(r.FilesModified, "modified file")))
	}
	if edited := slices.DeleteFunc(slices.Clone(r.Edited), generated); r.NoFiles && len(edited) >= minEdited {
		found = append(found, fmt.Sprintf("the agent reports no modified file, but %d were: %s",
			len(edited), termtext.Line(strings.Join(edited[:minEdited], ", "))+more(len(edited)-minEdited)))
	}
	ticked := r.ticked()
	if len(r.Before) > 0 && len(r.After) > 0 && r.TasksCompleted > max(ticked+len(r.Task.Criteria), r.done()) {
		shows := "none"
		if ticked > 0 {
			shows = strconv.Itoa(ticked)
		}
		found = append(found, fmt.Sprintf("the agent reports %s, but the plan shows %s",
			termtext.Count(r.TasksCompleted, "completed task"), shows))
	}
	return found
}

// ticked counts the tasks that the agent may have finished in this turn. In doubt it counts one: tasks that are now
// done or wait for a review and were not before, even reworded ones; tasks that it took out of the plan; and its own
// task if that was done before, or if the report says TASK: ID instead of a mark.
func (r statusReport) ticked() (n int) {
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

// done returns the number of all finished tasks if the agent reports that number, as some do. It does not accept 1:
// most agents report 1 for the task of their turn.
func (r statusReport) done() (n int) {
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

// generated reports whether a program usually writes this file, and not the agent.
func generated(name string) bool {
	base := path.Base(name)
	for _, pattern := range []string{"*.lock", "*-lock.*", "*.lockb", "go.sum", "*.snap", "*.min.*", "*.map", "*.pb.*",
		"*.log"} {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(folder string) bool {
		return slices.Contains([]string{"dist", "build", "out", "target", "vendor", "node_modules",
			"coverage", "generated", "__snapshots__"}, folder)
	})
}

func more(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// otherTask returns a sentence if the report names another task; empty: it names the
// right one, or no task at all.
func (r statusReport) otherTask() string {
	name := saidPlain(r.StoryID)
	id, title := saidPlain(r.Task.ID), saidPlain(r.Task.Title)
	if name == "" || id == "" || hasWords(name, id) || hasWords(title, name) || hasWords(name, title) {
		return ""
	}
	said := fmt.Sprintf("the agent reports work on %.80q, ", strings.TrimSpace(r.StoryID))
	for _, t := range slices.Concat(r.Before, r.After) {
		if t.ID != r.Task.ID && saidNames(name, t) {
			if r.nested(t.ID) {
				return ""
			}
			return said + fmt.Sprintf("but the iteration was for %.80q", label(r.Task))
		}
	}
	if !task.Hashed(r.Task.ID) && shape(name) == shape(id) {
		return said + "which the plan does not have"
	}
	return ""
}

// nested reports whether one of the two tasks is a box below the other.
func (r statusReport) nested(other string) bool {
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

// saidNames reports whether the name is this task's id or title, perhaps with more words.
func saidNames(name string, t task.Task) bool {
	id, title := saidPlain(t.ID), saidPlain(t.Title)
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

// saidPlain removes what people and agents spell differently: "US-001" and
// "[us 1]" become the same.
func saidPlain(name string) string {
	name = strings.TrimSpace(otherRE().ReplaceAllString(strings.ToLower(name), " "))
	return zerosRE().ReplaceAllString(strings.TrimRight(name, "."), "$1")
}

// shape replaces each number of a plain name by 0.
func shape(name string) string { return digitsRE().ReplaceAllString(name, "0") }
