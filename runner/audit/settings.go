package audit

import (
	"fmt"
	"slices"
	"strings"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/commands"
	"ralph/runner/audit/hollow"
	"ralph/runner/audit/settings"
	"ralph/runner/audit/values"
)

// judge is the row of a file that decides how work is judged.
type judge struct{ settings.Row }

// compareSettings finds changes that make it easier to pass: a hidden failure, a check
// that no longer runs, a weaker rule, a lower threshold. It reports one for each kind of
// file, and all strict ones.
func compareSettings(files []File, task string, steering settings.Steering) []Finding {
	table := settings.For(steering)
	var found []Finding
	told := map[string]bool{}
	all := texts(files)
	for i, f := range files {
		if file := hollow.Unlinted(all[i], all); file != "" && !asks.ToLeaveOut(task) {
			found = append(found, Finding{Kind: KindChecksChanged, File: f.Path, Text: "a linter leaves out files now: " + file})
		}
		row, ok := table.Of(f.Path)
		j := judge{row}
		if !ok || told[j.What] && !j.Strict {
			continue
		}
		if reason := j.reason(f, files, task); reason != "" {
			told[j.What] = true
			found = append(found, Finding{Kind: KindChecksChanged, File: f.Path, Text: j.What + ": " + reason})
		}
	}
	return found
}

// reason says what is wrong with a change, empty if nothing is. A task about such files
// may change their rules, but not hide a failing check or remove all checks of a file.
func (j judge) reason(f File, files []File, task string) string {
	lost, added := j.diff(f)
	if j.Strict {
		return j.anyChange(f, append(added, lost...), task)
	}
	if !f.Existed || len(lost)*len(added) > maxPairs {
		return ""
	}
	if line := commands.Untested(f.Path, f.Before, f.After); line != "" && !asks.ForTestsApart(task) && !asks.ForFewerTests(task) {
		return fmt.Sprintf("added %q", line)
	}
	asked := j.Asked.MatchString(task)
	i := slices.IndexFunc(added, func(line string) bool {
		return j.Commands && !asks.ToLetFail(task) && commands.Hides(line, lost, asked)
	})
	if i >= 0 {
		return fmt.Sprintf("added %q", added[i])
	}
	i = slices.IndexFunc(added, func(line string) bool { return j.Commands && commands.Narrowed(line, lost) })
	if i >= 0 && !asks.ForTestsApart(task) && !strings.Contains(task, "short") {
		return fmt.Sprintf("fewer tests run with %q", added[i])
	}
	if asked && asks.ForRemoval(task) {
		return ""
	}
	line := j.stopped(f, lost, files)
	if line != "" && (!asked || asks.ToPass(task) || !slices.ContainsFunc(j.lines(f.After), commands.RunsCheck)) {
		return fmt.Sprintf("removed %q", line)
	}
	if code := commands.LostExit(f.Path, f.Before, f.After); code != "" {
		return fmt.Sprintf("removed %q", code)
	}
	if before, after, ok := values.Weakened(lost, added); ok && (!asked || asks.ToHold(task)) {
		return fmt.Sprintf("%q became %q", before, after)
	}
	return ""
}

// anyChange names a change of a strict file.
func (j judge) anyChange(f File, changed []string, task string) string {
	switch {
	case j.Asked != nil && j.Asked.MatchString(task):
	case len(changed) > 0:
		return fmt.Sprintf("%q", changed[0])
	case j.Asked != nil && j.Part == nil && f.Before != f.After: // prose has no comments
		return "its text"
	}
	return ""
}

// diff returns the removed and the new lines.
func (j judge) diff(f File) (lost, added []string) {
	if f.Before == f.After {
		return nil, nil
	}
	was, is := j.lines(f.Before), j.lines(f.After)
	return values.Without(was, is), values.Without(is, was)
}

// lines returns the relevant lines, without comments.
func (j judge) lines(text string) []string {
	if j.Part != nil {
		text = j.Part(text)
	}
	var all []string
	for _, line := range lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			all = append(all, strings.TrimSuffix(line, ","))
		}
	}
	return all
}

// stopped returns a line with a check that f no longer runs, unless some file runs a new
// check instead.
func (j judge) stopped(f File, lost []string, files []File) string {
	if !j.Commands {
		return ""
	}
	table := settings.For(settings.Steering{}) // their files run no checks
	for _, other := range files {
		if o, ok := table.Of(other.Path); ok && o.Commands {
			if _, added := (judge{o}).diff(other); slices.ContainsFunc(added, commands.RunsCheck) {
				return ""
			}
		}
	}
	now := strings.Join(slices.DeleteFunc(j.lines(f.After), func(line string) bool { return !commands.RunsCheck(line) }), "\n")
	i := slices.IndexFunc(lost, func(line string) bool {
		return commands.RunsCheck(line) && slices.ContainsFunc(commands.Checks(line), func(check string) bool {
			return !strings.Contains(now, strings.TrimSpace(check))
		})
	})
	if i < 0 {
		return ""
	}
	return lost[i]
}
