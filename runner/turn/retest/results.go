package retest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
)

const named = 4 // names in one line

// suspect are tests of a check that fail as they were.
type suspect struct {
	check string
	red   []string // failed before the task, too
	bent  []string // passed before it
}

// suspects are the tests that failed in both runs with the tests of then. red are those that
// failed before the task, by check. The others count only if the task is to keep the behavior.
func (u undo) suspects(then, again gate.Report, red map[string]gate.Entry) []suspect {
	var all []suspect
	for i, r := range then.Results {
		s := suspect{check: r.Name}
		twice := again.Results[i].Tests.StillFailed()
		for _, t := range r.Tests.FailedTests() {
			switch {
			case !slices.Contains(twice, t.Name): // flaky
			case u.excuses(t):
			case slices.Contains(red[r.Name].Failed, t.Name):
				s.red = append(s.red, t.Name)
			case u.keeps && !failedOfNames(t.Message):
				s.bent = append(s.bent, t.Name)
			}
		}
		if len(s.red)+len(s.bent) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// excuses reports whether a test cannot pass as it was: it calls what the task removed or gave other
// parameters, or it lacks a helper that had never been there.
func (u undo) excuses(t report.Test) bool {
	if slices.ContainsFunc(u.overtaken, func(name string) bool { return strings.Contains(t.Name, name) }) {
		return true
	}
	m := patterns().lacks.FindStringSubmatch(t.Message)
	return m != nil && slices.ContainsFunc(u.files, func(f git.Text) bool {
		name := path.Base(strings.Join(m[1:], ""))
		stem, _, _ := strings.Cut(path.Base(f.Path), ".")
		return !f.Existed && !patterns().rigs.MatchString(f.After) &&
			(stem == strings.TrimSuffix(name, path.Ext(name)) || strings.Contains(f.After, "def "+name+"("))
	})
}

// has reports whether a test is in the files of now, too.
func (u undo) has(test string) bool {
	return slices.ContainsFunc(u.files, func(f git.Text) bool { return audit.HasName(f.After, test) })
}

// confirmed are sentences about the suspects of checks that pass in the same copy with the
// tests of now.
func (u undo) confirmed(suspects []suspect, now gate.Report) []string {
	var lines []string
	for _, s := range suspects {
		i := slices.IndexFunc(now.Results, func(r gate.Result) bool { return r.Name == s.check })
		if i < 0 || !now.Results[i].Passed {
			continue
		}
		is := map[string]report.Status{}
		for _, t := range now.Results[i].Tests.Tests {
			is[t.Name] = t.Status
		}
		all := len(now.Results[i].Tests.PassedTests()) > 0 // unittest names only failures
		add := func(format string, names []string) {
			if len(names) > 0 {
				lines = append(lines, fmt.Sprintf("check %s: "+format+": %s", s.check, u, termtext.Some(names, named)))
			}
		}
		add("failed before the task, and still fails %s",
			slices.DeleteFunc(s.red, func(name string) bool { return is[name] == report.Failed }))
		add("the task is to keep the behavior, but a test that passed before fails %s",
			slices.DeleteFunc(s.bent, func(name string) bool {
				return is[name] != report.Passed && (all || !u.has(bareName(name)))
			}))
	}
	return lines
}

// fails are the failed tests of a check, or its name if it names none, unless what failed is the build or a name.
func (u undo) fails(r gate.Result) (all []string) {
	if r.Passed || r.TimedOut || r.Verdict == gate.VerdictSkipped {
		return nil
	}
	for _, t := range r.Tests.FailedTests() {
		if !u.excuses(t) && !failedOfNames(t.Message) && !failedOfBuild(t.Message) {
			all = append(all, t.Name)
		}
	}
	if !slices.ContainsFunc(r.Tests.Tests, func(t report.Test) bool { return t.Status == report.Failed }) &&
		!failedOfNames(r.Output) && !failedOfBuild(r.Output) {
		all = append(all, r.Name)
	}
	return all
}
