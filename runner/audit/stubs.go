package audit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// stubWords are patterns of tasks that ask for stubs, and of paths where they belong.
var stubWords = sync.OnceValue(func() (p struct{ asked, place, list, heading, later *regexp.Regexp }) {
	p.asked = regexp.MustCompile(`(?i)\b(?:stub|skeleton|scaffold|placeholder|interface|abstract|no-?op|mock|fake|not ?implemented|unimplemented|todo|501|outline|template|headings?\b|structure)`)
	p.list = regexp.MustCompile(`(?i)change|history|release|plan|todo|backlog|roadmap`)
	p.heading = regexp.MustCompile(`^#+ `)
	p.later = regexp.MustCompile(`(?i)^\W*(?:coming soon|tb[ad]|todo|to be (?:written|done|added)|wip|work in progress)\W*$`)
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
	for _, f := range in.Files {
		add := func(format string, names []string) {
			found = append(found, Finding{Kind: KindStubAdded, File: f.Path, Doubt: in.excused(KindStubAdded), Text: fmt.Sprintf(format, names)})
		}
		if empty := emptySections(f); len(empty) > 1 || len(empty) == 1 && in.promised(f) {
			add("nothing is written yet below these headings: %q", empty)
		}
		if empty := emptyTests(f); len(empty) > 1 {
			add("these tests do nothing: %q", empty)
		}
	}
	return found
}

// promised reports whether a new page says that its text will come, and a ticked task asks for this page.
func (in Input) promised(f File) bool {
	return !f.Existed && slices.ContainsFunc(lines(f.After), stubWords().later.MatchString) && slices.ContainsFunc(Ticks(in), func(t Tick) bool {
		return HasName(TextOf(t.Task), f.Path) && !Excused(KindStubAdded, TextOf(t.Task))
	})
}

// emptyTests returns the tests that a change adds without a statement, if they are at least half of the new ones in the
// file. A test with a decorator does not count: the decorator may do the work.
func emptyTests(f File) (empty []string) {
	l, added := languageOf(f.Path), 0
	if l == nil {
		return nil
	}
	known, all := l.names(f.Before), append(strings.Split(f.After, "\n"), "")
	for i, raw := range all {
		line := strings.TrimSpace(raw)
		name := l.nameOf(line)
		if name == "" || known[name] || !l.test.MatchString(line) || !strings.HasSuffix(f.Path, ".py") && !strings.Contains(line, "{") {
			continue
		}
		body, whole := bodyOf(all, i, line)
		code := strings.Trim(strings.Join(body.code, ""), "});,.")
		if added++; whole && (code == "" || code == "pass") && (i == 0 || !strings.HasPrefix(strings.TrimSpace(all[i-1]), "@")) {
			empty = append(empty, name)
		}
	}
	if 2*len(empty) < added {
		return nil
	}
	return empty
}

// emptySections returns the headings that a change adds to a page without a text, if they are half of its sections.
func emptySections(f File) (empty []string) {
	p := stubWords()
	if path.Ext(f.Path) != ".md" || p.place.MatchString(f.Path) || p.list.MatchString(path.Base(f.Path)) {
		return nil
	}
	sections, heading, fenced := 0, "", false
	end := func(next string) {
		deeper := len(p.heading.FindString(next)) > len(p.heading.FindString(heading))
		if heading != "" && !deeper {
			sections, empty = sections+1, append(empty, heading)
		}
		heading = ""
	}
	for _, line := range lines(f.After) {
		switch fence := strings.HasPrefix(line, "```"); {
		case !fenced && !fence && p.heading.MatchString(line):
			end(line)
			heading = line
		case fence || fenced || !p.later.MatchString(line):
			if fenced = fenced != fence; heading != "" {
				sections, heading = sections+1, ""
			}
		}
	}
	end("")
	was := lines(f.Before)
	empty = slices.DeleteFunc(empty, func(heading string) bool { return slices.Contains(was, heading) })
	if 2*len(empty) < sections {
		return nil
	}
	return empty
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

// knowsTests finds code that asks whether a test runs, and so may do there what it does nowhere else, or that replaces
// the assertions of a test library.
func knowsTests(in Input) (found []Finding) {
	old := ""
	for _, f := range in.Files {
		old += f.Before
	}
	names := slices.Concat(NamesOf(in.allText()), quotedNames(in.allText()))
	for _, f := range in.Files {
		for _, m := range awarePatterns().users.FindAllStringSubmatch(f.After, -1) {
			if slices.Contains(names, m[1]) && strings.Count(f.After, "fn "+m[1]) > 1 && !strings.Contains(old, m[0]) {
				found = append(found, Finding{Kind: KindKnowsTests, File: f.Path, Doubt: in.excused(KindKnowsTests), Text: "tests run another " + m[1] + " than users"})
			}
		}
		if line := awareLine(f.Path, f.After, old); line != "" && isProduct(f.Path) {
			found = append(found, Finding{Kind: KindKnowsTests, File: f.Path, Doubt: in.excused(KindKnowsTests), Text: line})
		}
	}
	return found
}
