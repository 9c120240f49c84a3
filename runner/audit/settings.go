package audit

import (
	"fmt"
	"slices"
	"strings"
)

// compareSettings finds changes that make it easier to pass: a hidden failure, a check
// that no longer runs, a weaker rule, a lower threshold. It reports one for each kind of
// file, and all strict ones.
func compareSettings(in Input) []Finding {
	files, task, table := in.Files, in.taskText(), settingsFor(in.Steering)
	var found []Finding
	told := map[string]bool{}
	for _, f := range files {
		j, ok := table.of(f.Path)
		if !ok || told[j.What] && !j.Strict {
			continue
		}
		if reason := j.reason(f, files, task); reason != "" {
			told[j.What] = true
			found = append(found, Finding{Kind: KindChecksChanged, File: f.Path, Doubt: !j.Strict && in.excused(KindChecksChanged),
				Text: j.What + ": " + reason})
		}
	}
	return found
}

// reason says what is wrong with a change, empty if nothing is. A task about such files
// may change their rules, but not hide a failing check or remove all checks of a file.
func (j settingsRow) reason(f File, files []File, task string) string {
	lost, added := j.diff(f)
	if j.Strict {
		return j.anyChange(f, append(added, lost...), task)
	}
	if !f.Existed || len(lost)*len(added) > maxPairs {
		return ""
	}
	asked := j.Asked.MatchString(task)
	i := slices.IndexFunc(added, func(line string) bool {
		return j.Commands && hidesFailure(line, lost, asked)
	})
	if i >= 0 {
		return fmt.Sprintf("added %q", added[i])
	}
	i = slices.IndexFunc(added, func(line string) bool { return j.Commands && narrowed(line, lost) })
	if i >= 0 && !strings.Contains(task, "short") {
		return fmt.Sprintf("fewer tests run with %q", added[i])
	}
	if asked && asksForRemoval(task) {
		return ""
	}
	line := j.stopped(f, lost, files)
	if line != "" && (!asked || asksToPass(task) || !slices.ContainsFunc(j.lines(f.After), runsCheck)) {
		return fmt.Sprintf("removed %q", line)
	}
	if before, after, ok := weakenedSetting(lost, added); ok && (!asked || asksToHold(task)) {
		return fmt.Sprintf("%q became %q", before, after)
	}
	return ""
}

// anyChange names a change of a strict file.
func (j settingsRow) anyChange(f File, changed []string, task string) string {
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
func (j settingsRow) diff(f File) (lost, added []string) {
	if f.Before == f.After {
		return nil, nil
	}
	was, is := j.lines(f.Before), j.lines(f.After)
	return Without(was, is), Without(is, was)
}

// lines returns the relevant lines, without comments.
func (j settingsRow) lines(text string) []string {
	if j.Part != nil {
		text = j.Part(text)
	}
	if !j.Strict {
		text = oneSetting(text)
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
func (j settingsRow) stopped(f File, lost []string, files []File) string {
	if !j.Commands {
		return ""
	}
	table := settingsFor(Steering{}) // their files run no checks
	for _, other := range files {
		if o, ok := table.of(other.Path); ok && o.Commands {
			if _, added := o.diff(other); slices.ContainsFunc(added, runsCheck) {
				return ""
			}
		}
	}
	now := strings.Join(slices.DeleteFunc(j.lines(f.After), func(line string) bool { return !runsCheck(line) }), "\n")
	i := slices.IndexFunc(lost, func(line string) bool {
		return runsCheck(line) && slices.ContainsFunc(commandPatterns().check.FindAllString(line, -1), func(check string) bool {
			return !strings.Contains(now, strings.TrimSpace(check))
		})
	})
	if i < 0 {
		return ""
	}
	return lost[i]
}
