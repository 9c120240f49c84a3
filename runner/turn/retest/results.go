package retest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
)

const named = 4 // names in one line

// suspect are tests of a check that failed before the task and fail as they were; none: the check as a whole.
type suspect struct {
	check string
	tests []string
	why   string
}

// suspects are the tests that failed in both runs with the tests of then, and before the task if red has their check.
func (u undo) suspects(then, again gate.Report, red map[string]gate.Entry) []suspect {
	var all []suspect
	for i, r := range then.Results {
		s := suspect{check: r.Name, why: "failed before the task, and still fails"}
		if _, failed := red[r.Name]; !failed {
			s.why = "the task is to keep the behavior, but the check fails"
		}
		if len(red[r.Name].Failed) == 0 {
			if u.fails(r) && u.fails(again.Results[i]) {
				all = append(all, s)
			}
			continue
		}
		twice := again.Results[i].Tests.StillFailed()
		for _, t := range r.Tests.FailedTests() {
			if slices.Contains(twice, t.Name) && slices.Contains(red[r.Name].Failed, t.Name) && !u.excuses(t) {
				s.tests = append(s.tests, t.Name)
			}
		}
		if len(s.tests) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// excuses reports whether a test cannot pass as it was: it calls what the task removed or gave other parameters, or it
// lacks a helper that had never been there.
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

// confirmed are sentences about the suspects of checks that pass in the same copy with the
// tests of now.
func (u undo) confirmed(suspects []suspect, now gate.Report) []string {
	var lines []string
	for _, s := range suspects {
		i := slices.IndexFunc(now.Results, func(r gate.Result) bool { return r.Name == s.check })
		if i < 0 || !now.Results[i].Passed {
			continue
		}
		line := fmt.Sprintf("check %s: %s %s", s.check, s.why, u)
		failed := now.Results[i].Tests.StillFailed()
		tests := slices.DeleteFunc(s.tests, func(name string) bool { return slices.Contains(failed, name) })
		switch {
		case len(s.tests) == 0:
			lines = append(lines, line)
		case len(tests) > 0:
			lines = append(lines, line+": "+termtext.Some(tests, named))
		}
	}
	return lines
}

// fails reports whether a check failed, and for another reason than that something does not build or has another name.
func (u undo) fails(r gate.Result) bool {
	if r.Passed || r.TimedOut || r.Verdict == gate.VerdictSkipped {
		return false
	}
	failed := r.Tests.FailedTests()
	return len(failed) == 0 && !patterns().builds.MatchString(r.Output) || slices.ContainsFunc(failed, func(t report.Test) bool {
		return !u.excuses(t) && !patterns().builds.MatchString(t.Message)
	})
}
