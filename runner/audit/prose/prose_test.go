package prose_test

import (
	"testing"

	"ralph/runner/audit/prose"
)

func TestOnly(t *testing.T) {
	for _, c := range []struct {
		name, path, before, after string
		want                      bool
	}{
		{"comment", "a.go", "func f() {}\n", "// f is done.\nfunc f() {}\n", true},
		{"blank line", "a.sh", "a\nb\n", "a\n\n# b\nb\n", true},
		{"block on a line", "a.js", "f();\n", "/* done */\nf();\n", true},
		{"script", "todo", "#!/bin/sh\na\n", "#!/bin/sh\n# safe\na\n", true},
		{"code", "a.go", "func f() {}\n", "// f\nfunc f() { g() }\n", false},
		{"comment at the end of code", "a.go", "f()\n", "f() // done\n", false},
		{"shebang", "a.sh", "#!/bin/sh\n", "#!/bin/bash\n", false},
		{"build tag", "a_test.go", "package a\n", "//go:build slow\n\npackage a\n", false},
		{"hint for a linter", "a.py", "import os\n", "# ruff: noqa\nimport os\n", false},
		{"hint for a compiler", "a.ts", "f()\n", "// @ts-nocheck\nf()\n", false},
		{"indentation", "a.py", "if a:\n    b\nc\n", "if a:\n    b\n    c\n", false},
		{"no code", "a.md", "# A\n", "# B\n", false},
		{"same", "a.go", "a\n", "a\n", false},
	} {
		if got := prose.Only(c.path, c.before, c.after); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAsked(t *testing.T) {
	for task, want := range map[string]bool{
		"Add a cache for parsed plans":            false,
		"- Implement `Total` for refunds":         false,
		"`todo add` must be safe for two at once": false,
		"Add comments to the parser":              true,
		"Write the license header of each file":   true,
		"Fix the second example":                  true,
		"Describe how to call it":                 true,
	} {
		if got := prose.Asked(task); got != want {
			t.Errorf("%s: %v", task, got)
		}
	}
}
