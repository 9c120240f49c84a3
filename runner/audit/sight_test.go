package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/git"
	"ralph/runner/task"
)

// unseen is a change of which git and the audit do not see everything.
func unseen() Input {
	return Input{Count: 6002, Listed: 1000, Large: []string{"a.csv", "b.csv"}, Gone: Gone{[]string{"1", "2", "3", "4", "5", "6", "7"}, "git restore"},
		Hidden: []git.HiddenFile{
			{File: "code.go", Flag: "skip-worktree"}, {File: "more.go", Flag: "skip-worktree"}, {File: "x_test.go", Flag: "assume-unchanged"},
			{File: "a_test.go", Rule: "*_test.go", Place: ".gitignore"}, {File: "b.go", Rule: "b.go", Place: ".gitignore"},
		}}
}

func TestCompare_whatCannotBeSeen_isNamed(t *testing.T) {
	want := []Finding{
		{Kind: KindHidden, Text: `git does not show changes of these files any more, hidden by the new rule "*_test.go" in .gitignore: a_test.go`},
		{Kind: KindHidden, Text: "git does not show changes of these files any more, marked assume-unchanged: x_test.go"},
		{Kind: KindHidden, Text: "git does not show changes of these files any more, marked skip-worktree: code.go, more.go"},
		{Kind: KindDiscarded, Text: "your uncommitted changes in 1, 2, 3, 4, 5 and 2 more are gone; to restore them: git restore"},
		{Kind: KindNotAudited, Doubt: true, Text: "audited 1,000 of 6,002 files"},
		{Kind: KindNotAudited, Doubt: true, Text: "not audited, above 1 MiB: a.csv, b.csv"},
	}
	if d := cmp.Diff(want, Compare(unseen())); d != "" {
		t.Error(d)
	}
}

func TestCompare_changeNeedsWhatANewRuleHides(t *testing.T) {
	code := func(path, after string) File { return File{Path: path, After: after, Exists: true} }
	for name, c := range map[string]struct {
		title, file, rule string
		files             []File
		want              bool
	}{
		"a folder":             {"vat(country, net)", "local/", "local/", []File{code("vat.py", "from local.vat_impl import vat\n")}, true},
		"a file":               {"vat(country, net)", "src/impl.js", "impl.js", []File{code("src/vat.js", "const vat = require('./impl')\n")}, true},
		"a script":             {"vat COUNTRY NET", "lib/impl.sh", "impl.sh", []File{code("vat.sh", ". lib/impl.sh\n")}, true},
		"a header":             {"vat(country, net)", "impl.h", "*.h", []File{code("vat.c", "#include \"impl.h\"\n")}, true},
		"nobody needs it":      {"vat(country, net)", "local/", "local/", []File{code("vat.py", "import decimal\n")}, false},
		"only a text says so":  {"vat(country, net)", "local/", "local/", []File{code("README.md", "from local.vat_impl import vat\n")}, false},
		"an old rule":          {"vat(country, net)", "local/", "*.log", []File{code("vat.py", "from local.vat_impl import vat\n")}, false},
		"the task asks":        {"Read settings from local/, which git ignores", "local/", "local/", []File{code("vat.py", "from local.vat_impl import vat\n")}, false},
		"output":               {"Publish the package", "dist/", "dist/", []File{code("use.test.js", "import vat from '../dist/vat.js'\n")}, false},
		"made by a tool":       {"Parse with a grammar", "parser/", "parser/", []File{code("vat.py", "from parser import parse\n"), code("Makefile", "parser: vat.g4\n\tantlr4 -o parser vat.g4\n")}, false},
		"compiled in place":    {"Port vat to TypeScript", "src/vat.js", "*.js", []File{code("src/vat.ts", "export const vat = 1\n"), code("src/main.ts", "import { vat } from './vat.js'\n")}, false},
		"settings of one user": {"vat(country, net)", "settings_local.py", "settings_local.py", []File{code("settings.py", "from settings_local import *\n")}, false},
		"no code":              {"vat(country, net)", "rates.json", "rates.json", []File{code("vat.js", "import rates from './rates.json'\n")}, false},
	} {
		in := Input{Task: "1", PlanBefore: []task.Task{{ID: "1", Title: c.title}},
			Hidden: []git.HiddenFile{{File: c.file, Rule: c.rule, Place: ".gitignore", Untracked: true}},
			Files:  append(c.files, File{Path: ".gitignore", Before: "*.log\n", After: "*.log\n" + c.rule + "\n", Existed: true, Exists: true})}
		if got := in.sight(); (len(got) > 0) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
