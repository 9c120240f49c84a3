package audit

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// stubWords are patterns of tasks that ask for stubs, and of paths where they belong.
var stubWords = sync.OnceValue(func() (p struct{ asked, place *regexp.Regexp }) {
	p.asked = regexp.MustCompile(`(?i)\b(?:stub|skeleton|scaffold|placeholder|interface|abstract|no-?op|mock|fake|not ?implemented|unimplemented|todo|501|outline|template|headings?\b|structure)`)
	p.place = regexp.MustCompile(`(?i)(?:^|/)[^/]*(?:test|mock|fake|stub|example|sample|generated|template|_gen|\.gen|\.pb)[^/]*(?:/|$)|\.d\.ts$|\.pyi$` +
		`|_(?:aix|android|darwin|freebsd|ios|js|linux|netbsd|openbsd|plan9|solaris|unix|wasm|windows|other|others|noasm|unsupported)\.\w+$`)
	return p
})

// addedStubs finds functions that are not written yet in a change that ticks the task.
// A function that was a stub before is not new, wherever it was.
func addedStubs(in Input) []Finding {
	if !in.ticked() {
		return nil
	}
	old, bases := map[string]bool{}, map[string]bool{}
	for _, f := range in.Files {
		for _, s := range stubsIn(f.Path, f.Before, nil) {
			old[s.Name] = true
		}
		addBases(f.After, bases)
	}
	var found []Finding
	for _, f := range in.Files {
		for _, s := range stubsIn(f.Path, f.After, bases) {
			if !old[s.Name] {
				found = append(found, Finding{Kind: KindStubAdded, File: f.Path, Doubt: in.excused(KindStubAdded), Text: fmt.Sprintf("%q is not written yet: %s", s.Name, s.Line)})
			}
		}
	}
	return found
}

// ticked reports whether the selected task got its tick.
func (in Input) ticked() bool {
	if in.Whole {
		return true
	}
	pairs, _ := pairTasks(in.PlanBefore, in.PlanAfter)
	for i, after := range in.PlanAfter {
		if before, known := pairs[i]; known && before.ID == in.Task && after.Done() && !before.Done() {
			return true
		}
	}
	return false
}

// stubsIn returns the stubs in a file of code.
func stubsIn(path, text string, bases map[string]bool) []stub {
	if !isProduct(path) || len(text) > maxText {
		return nil
	}
	return findStubs(text, strings.HasSuffix(path, ".py"), bases)
}

// isProduct reports whether a file is code that is neither a test nor made for tests.
func isProduct(path string) bool {
	return paths().code.MatchString(path) && !paths().data.MatchString(path) && !stubWords().place.MatchString(path) && !IsTestFile(path)
}

// knowsTests finds code that asks whether a test runs, and so may do there what it does nowhere else.
func knowsTests(in Input) (found []Finding) {
	old := ""
	for _, f := range in.Files {
		old += f.Before
	}
	for _, f := range in.Files {
		if line := awareLine(f.Path, f.After, old); line != "" && isProduct(f.Path) {
			found = append(found, Finding{Kind: KindKnowsTests, File: f.Path, Doubt: in.excused(KindKnowsTests), Text: line})
		}
	}
	return found
}
