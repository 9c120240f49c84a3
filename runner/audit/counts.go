package audit

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/asks"
	"ralph/runner/gate/report"
)

// FewerTests finds checks that run fewer tests than before, if neither the task nor
// the change explains it. Findings at which base is false are only questions: the
// tests are younger than the run.
func FewerTests(in Input, losses []report.Loss, base func(check string) bool) (found []Finding, explained bool) {
	if len(losses) == 0 {
		return nil, false
	}
	if asks.ForFewerTests(in.taskText()) {
		return nil, true
	}
	gone, unwanted := in.goneTests(), asks.Unwanted(in.taskText())
	for _, l := range losses {
		if !covers(gone, unwanted, l) {
			found = append(found, Finding{Kind: KindFewerTests, Text: l.String(), Doubt: !base(l.Check)})
		}
	}
	return found, len(found) == 0
}

// definition is a name that code defines, in many languages: not a local variable.
var definition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\bfunc (?:\([^)]*\) )?|\b(?:def|class|function|fn|struct|enum|trait|interface|type|object|fun|module) |` +
		`\bexports\.|(?m:^)(?:export )?(?:const|let|var) )(\w+)|(?m:^)[ \t]+(?:\w+ )*(\w+)\([^()]*\) *\{$`)
})

// goneDefinitions are names that code outside of tests defined and does not mention any
// more, and the names of deleted files.
func (in Input) goneDefinitions() map[string]bool {
	gone := map[string]bool{}
	all := goneWords(in.Files)
	for _, f := range in.Files {
		l := languageOf(f.Path)
		if !f.Existed || l != nil && !l.inline() || l == nil && !paths().code.MatchString(f.Path) {
			continue
		}
		code, _, _ := strings.Cut(f.Before, "#[cfg(test)]") // Rust has tests in the code
		for _, m := range definition().FindAllStringSubmatch(code, -1) {
			for _, name := range m[1:] {
				gone[name] = all[name]
			}
		}
		if name, _, _ := strings.Cut(path.Base(f.Path), "."); !f.Exists {
			gone[name] = all[name]
		}
	}
	for _, keyword := range []string{"while", "switch", "catch", "with", "else", ""} {
		delete(gone, keyword)
	}
	return gone
}

// goneTests are the names of tests that were removed together with what they tested.
func (in Input) goneTests() []string {
	if in.Partial {
		return nil // what moved is not known
	}
	var names []string
	gone := sync.OnceValue(in.goneDefinitions)
	for _, f := range in.Files {
		l := languageOf(f.Path)
		if l == nil || !f.Existed || f.Before == f.After {
			continue
		}
		still := l.names(f.After)
		with := !f.Exists && in.deletedWith(f)
		for name, block := range l.blocks(f.Before) {
			if !still[name] && (with || mentions(block, gone())) {
				names = append(names, name)
			}
		}
	}
	return names
}

// deletedWith reports whether a deleted test file names a file of code that was deleted, too.
func (in Input) deletedWith(test File) bool {
	return slices.ContainsFunc(in.Files, func(f File) bool {
		name, _, _ := strings.Cut(path.Base(f.Path), ".")
		return f.Existed && !f.Exists && !IsTestFile(f.Path) && paths().code.MatchString(f.Path) && len(name) > 2 &&
			containsName(test.Before, name)
	})
}

// blocks returns the text of each test in a file, by its name.
func (l *language) blocks(text string) map[string]string {
	all := map[string]string{}
	name, in := "", false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if l.test.MatchString(trimmed) {
			name, in = l.nameOf(trimmed), true
		}
		if in && name == "" { // the name is on a line below: #[test]
			name = l.nameOf(trimmed)
		}
		if in && name != "" {
			all[name] += line
		}
	}
	return all
}

// covers reports whether the tests that were removed, or that the task does not want, account for the
// whole loss. A name in a report contains that of its test: "example.com/p.TestA/b".
func covers(removed, unwanted []string, l report.Loss) bool {
	n := len(removed)
	if len(l.Gone) > 0 {
		n = 0
		for _, name := range l.Gone {
			if slices.ContainsFunc(removed, func(r string) bool { return containsName(name, r) }) || asks.IsNamed(name, unwanted) {
				n++
			}
		}
	}
	return !l.Unread && n >= l.Before-l.Now
}

// containsName is strings.Contains for whole words.
func containsName(text, name string) bool {
	before, after, ok := strings.Cut(text, name)
	letter := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return ok && (before == "" || !letter(before[len(before)-1])) && (after == "" || !letter(after[0]))
}
