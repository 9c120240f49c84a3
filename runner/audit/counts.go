package audit

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ralph/runner/gate/report"
)

// FewerTests finds checks that run fewer tests than before, if neither the task nor
// the change explains it. Findings at which base is false are only questions: the
// tests are younger than the run. So are those of a task that removes something.
func FewerTests(in Input, losses []report.Loss, base func(check string) bool) (found []Finding, explained bool) {
	if len(losses) == 0 {
		return nil, false
	}
	if in.excused(KindFewerTests) {
		return nil, true
	}
	skips, removes := in.excused(KindSkipAdded), asksForRemoval(in.allText())
	gone, unwanted := in.goneTests(), UnwantedTests(in.taskText())
	for _, l := range losses {
		if !covers(gone, unwanted, l) && (len(l.Skipped) == 0 || !skips) {
			found = append(found, Finding{Kind: KindFewerTests, Text: l.String(), Doubt: !base(l.Check) || removes})
		}
	}
	return found, len(found) == 0
}

// goneDefinitions are names that code outside of tests defined and neither defines nor
// calls any more, and the names of deleted files.
func (in Input) goneDefinitions() map[string]bool {
	gone := map[string]bool{}
	all, now := goneWords(in.Files), in.codeNow()
	still := namesIn(append(definition().FindAllStringSubmatch(now, -1), calls().FindAllStringSubmatch(now, -1)...))
	for _, f := range in.Files {
		l := languageOf(f.Path)
		if !f.Existed || l != nil && !l.inline() || l == nil && !paths().code.MatchString(f.Path) {
			continue
		}
		for name := range namesIn(definition().FindAllStringSubmatch(productOf(f.Before), -1)) {
			gone[name] = all[name] || !still[name]
		}
		if name, _, _ := strings.Cut(path.Base(f.Path), "."); !f.Exists {
			gone[name] = all[name]
		}
	}
	return gone
}

// codeNow is the code of the changed files, without tests.
func (in Input) codeNow() string {
	var b strings.Builder
	for _, f := range in.Files {
		if paths().code.MatchString(f.Path) && !IsTestFile(f.Path) {
			b.WriteString(productOf(f.After) + "\n")
		}
	}
	return b.String()
}

// Overtaken returns the names of the tests that call what the change removed, or what takes other parameters now: they
// cannot pass as they were.
func Overtaken(files []File) (tests []string) {
	in := Input{Files: files}
	calls := in.goneDefinitions()
	for _, f := range files {
		if !IsTestFile(f.Path) && paths().code.MatchString(f.Path) {
			for name := range changedParameters(f.Before, f.After) {
				calls[name] = true
			}
		}
	}
	for _, f := range files {
		if l := languageOf(f.Path); l != nil && f.Existed {
			for name, block := range l.bodies(f.Before) {
				if calling(block, calls) {
					tests = append(tests, name)
				}
			}
		}
	}
	return tests
}

// goneTests are the names of tests that were removed together with what they tested. If the task removes something,
// that may be a parameter.
func (in Input) goneTests() []string {
	if in.Partial {
		return nil // what moved is not known
	}
	var names []string
	gone := sync.OnceValue(func() map[string]bool {
		all := in.goneDefinitions()
		for _, f := range in.Files {
			for name, fewer := range changedParameters(f.Before, f.After) {
				all[name] = all[name] || fewer && !IsTestFile(f.Path) && asksForRemoval(in.taskText())
			}
		}
		return all
	})
	for _, f := range in.Files {
		l := languageOf(f.Path)
		if l == nil || !f.Existed || f.Before == f.After {
			continue
		}
		still := l.names(f.After)
		with := !f.Exists && in.deletedWith(f)
		for name, block := range l.bodies(f.Before) {
			if !still[name] && (with || calling(block, gone())) {
				names = append(names, name)
			}
		}
	}
	return names
}

// deletedWith reports whether a deleted test file names a file of code that was deleted, too, and not moved.
func (in Input) deletedWith(test File) bool {
	return slices.ContainsFunc(in.Files, func(f File) bool {
		name, _, _ := strings.Cut(path.Base(f.Path), ".")
		moved := func(o File) bool { return o.Exists && !o.Existed && path.Base(o.Path) == path.Base(f.Path) }
		return f.Existed && !f.Exists && !IsTestFile(f.Path) && paths().code.MatchString(f.Path) &&
			len(name) > 2 && HasName(test.Before, name) && !slices.ContainsFunc(in.Files, moved)
	})
}

// calling reports whether the text of a test has one of the names.
func calling(block string, called map[string]bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(called)), func(name string) bool { return called[name] && HasName(block, name) })
}

// covers reports whether the tests that were removed, or that the task does not want, account for the
// whole loss. A name in a report contains that of its test: "example.com/p.TestA/b".
func covers(removed, unwanted []string, l report.Loss) bool {
	n := max(len(removed), countTests(unwanted))
	if len(l.Gone) > 0 {
		n = 0
		for _, name := range l.Gone {
			if slices.ContainsFunc(removed, func(r string) bool { return HasName(name, r) }) || isNamed(name, unwanted) {
				n++
			}
		}
	}
	return !l.Unread && n >= max(l.Before-l.Now, len(l.Skipped))
}
