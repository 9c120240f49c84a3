package audit

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/aware"
	"ralph/runner/audit/hollow"
	"ralph/runner/audit/names"
	"ralph/runner/audit/stub"
)

// stubWords are patterns of tasks that ask for stubs, and of paths where they belong.
var stubWords = sync.OnceValue(func() (p struct{ asked, place *regexp.Regexp }) {
	p.asked = regexp.MustCompile(`(?i)\b(?:stub|skeleton|scaffold|placeholder|interface|abstract|no-?op|mock|fake|not ?implemented|unimplemented|todo|501)`)
	p.place = regexp.MustCompile(`(?i)(?:^|/)[^/]*(?:test|mock|fake|stub|example|sample|generated|template|_gen|\.gen|\.pb)[^/]*(?:/|$)|\.d\.ts$|\.pyi$` +
		`|_(?:aix|android|darwin|freebsd|ios|js|linux|netbsd|openbsd|plan9|solaris|unix|wasm|windows|other|others|noasm|unsupported)\.\w+$`)
	return p
})

// addedStubs finds functions that are not written yet in a change that ticks the task.
// A function that was a stub before is not new, wherever it was.
func addedStubs(in Input) []Finding {
	if !in.ticked() || stubWords().asked.MatchString(in.allText()) {
		return nil
	}
	old, bases := map[string]bool{}, map[string]bool{}
	for _, f := range in.Files {
		for _, s := range stubsIn(f.Path, f.Before, nil) {
			old[s.Name] = true
		}
		stub.Bases(f.After, bases)
	}
	var found []Finding
	for _, f := range in.Files {
		for _, s := range stubsIn(f.Path, f.After, bases) {
			if !old[s.Name] {
				found = append(found, Finding{Kind: KindStubAdded, File: f.Path, Text: fmt.Sprintf("%q is not written yet: %s", s.Name, s.Line)})
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
func stubsIn(path, text string, bases map[string]bool) []stub.Stub {
	if !isProduct(path) || len(text) > maxText {
		return nil
	}
	return stub.Find(text, strings.HasSuffix(path, ".py"), bases)
}

// isProduct reports whether a file is code that is neither a test nor made for tests.
func isProduct(path string) bool {
	return paths().code.MatchString(path) && !paths().data.MatchString(path) && !stubWords().place.MatchString(path) && !IsTestFile(path)
}

// knowsTests finds code that asks whether a test runs, and so may do there what it does nowhere else.
func knowsTests(in Input, asked string) (found []Finding) {
	old := ""
	for _, f := range in.Files {
		old += f.Before
	}
	for _, f := range in.Files {
		if line := aware.Added(f.Path, f.After, old); line != "" && isProduct(f.Path) && !aware.Asked(asked) {
			found = append(found, Finding{Kind: KindKnowsTests, File: f.Path, Text: "it now asks whether a test runs: " + line})
		}
	}
	return found
}

// hollowTests finds new tests that cannot fail, and assertions that no longer can, one for each file.
func hollowTests(in Input, asked string) (found []Finding) {
	if !in.ticked() || stubWords().asked.MatchString(asked) {
		return nil
	}
	wanted := in.anyTask(asks.ForTests)
	gained := sync.OnceValue(func() bool { // by another file than the one that lost all
		return slices.ContainsFunc(in.Files, func(f File) bool { return hollow.Fails(f.Path, f.After) > hollow.Fails(f.Path, f.Before) })
	})
	all := texts(in.Files)
	wantedNames := sync.OnceValue(func() []string { return names.Of(in.allText()) }) // of a long plan, it takes a while
	for i, f := range in.Files {
		if f.Before == f.After {
			continue
		}
		text := hollowIn(f, hollow.Sort{Wanted: wanted, Wider: in.anyTask(asks.ForTolerance)}, gained)
		if text == "" && IsTestFile(f.Path) {
			text = hollow.Outside(all[i], all, isProduct, wantedNames())
		}
		if text != "" {
			found = append(found, Finding{Kind: KindHollowTests, File: f.Path, Text: text})
		}
	}
	return found
}

func texts(files []File) (all []hollow.Text) {
	for _, f := range files {
		all = append(all, hollow.Text{Path: f.Path, Before: f.Before, After: f.After})
	}
	return all
}

// hollowIn says what in a file cannot fail, or returns the empty string. gained reports whether some file of the
// change can fail more tests than before.
func hollowIn(f File, sort hollow.Sort, gained func() bool) string {
	l := languageOf(f.Path)
	if l == nil {
		return hollow.Product(f.Path, f.Before, f.After)
	}
	moved := func() bool { return l.count(f.Before) > 0 || gained() }
	old, was, tests := l.names(f.Before), l.blocks(f.Before), l.blocks(f.After)
	text := cmp.Or(hollow.Twice(f.Path, f.Before, f.After), hollow.File(f.Path, f.Before, f.After, moved),
		sort.LoosenedConstant(f.Before, f.After))
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		sort.Fresh = !old[name]
		text = cmp.Or(text, hollow.Judge(name, was[name], tests[name], sort))
	}
	return text
}
