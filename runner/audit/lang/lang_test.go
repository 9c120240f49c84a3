package lang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMask_commentsAndStrings_areNotCode(t *testing.T) {
	for name, tc := range map[string]struct{ path, raw, code string }{
		"go":                   {"a.go", "x(\"a\\\"b\") // c\n/* d\n */y(`e\nf`)", "x(\"~~~~\")     \n    \n   y(`~\n~`)"},
		"go, quote not closed": {"a.go", "x(\"a\ny", "x(\"~\ny"},
		"js, a regexp":         {"a.js", "x = /'\\/\"/.test(a / b) // c", "x = /~~~~/.test(a / b)     "},
		"js, a template":       {"a.ts", "`a${'b'}\n`+c", "`~~~~~~~\n`+c"},
		"python":               {"a.py", "x = '''a\n# b''' # c\ny = \"#\"", "x = '''~\n~~~'''    \ny = \"~\""},
		"rust, a life time":    {"a.rs", "fn f<'a>(s: &'a str) { r#\"\"x\"\"# }", "fn f<'a>(s: &'a str) { r#\"~~~\"# }"},
		"shell, $#":            {"a.sh", "x=$# # c\ny=a#b", "x=$#    \ny=a#b"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Mask(Of(tc.path), tc.raw)
			if d := cmp.Diff(tc.code, strings.ReplaceAll(got.Code, string(filler), "~")); d != "" {
				t.Error(d)
			}
			if len(got.Text) != len(tc.raw) || len(got.Code) != len(tc.raw) {
				t.Errorf("lengths %d and %d, want %d", len(got.Text), len(got.Code), len(tc.raw))
			}
		})
	}
}

func TestTokens_kindsAndOrder(t *testing.T) {
	got := Tokens(Mask(Of("a.go"), `f(x, 0x1F, "a b") // no`))
	want := []Token{{Call, "f"}, {Word, "x"}, {Number, "0x1F"}, {String, "a b"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestIndentBlock_endsAtTheNextLineOfItsDepth(t *testing.T) {
	code := "class A:\n    def f(\n        self,\n    ):\n        x\n\n        y\n    def g(self): z\n"
	at := strings.Index(code, "def f(") + len("def f(") - 1
	if got := code[at:IndentBlock(code, at)]; !strings.HasSuffix(got, "y\n") {
		t.Errorf("%q", got)
	}
}

func TestOf_file_hasItsRow(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.go": "go", "a.tsx": "js", "a.mjs": "js", "a.py": "python", "src/a.rs": "rust", "t.bats": "shell", "A.kt": "java",
	} {
		if l := Of(path); l == nil || l.Name != want {
			t.Errorf("%s: %v, want %s", path, l, want)
		}
	}
	if l := Of("a.md"); l != nil {
		t.Error(l.Name)
	}
}

func TestChecks_inputsAndExpectedValues_areToldApart(t *testing.T) {
	for name, tc := range map[string]struct {
		path, line     string
		values, inputs []string
	}{
		"go, condition":           {"a.go", "\tif got := F(4, \"x\"); got != \"IV\" {", []string{"!=", "IV"}, []string{"4", "x"}},
		"go, testify, message":    {"a.go", "\trequire.Equal(t, 3, F(1), \"the sum\")", []string{"3"}, []string{"1"}},
		"go, DeepEqual":           {"a.go", "\tif !reflect.DeepEqual(got, []int{1, 2}) {", []string{"!", "1", "2"}, nil},
		"python":                  {"a.py", "    assert f(\"5s\") == 5, \"five\"", []string{"==", "5"}, []string{"5s"}},
		"python, over lines":      {"a.py", "    assert f() == {\n        \"a\": None,\n    }", []string{"==", "a", "None"}, nil},
		"js":                      {"a.ts", "\n  expect(f('2')).not.toEqual([5, true])", []string{"not", "5", "true"}, []string{"2"}},
		"rust, constructor":       {"a.rs", "    assert_eq!(f(b\"x\"), Some(1));", []string{"_eq", "!", "1"}, []string{"x"}},
		"what is wanted is named": {"a.go", "\twant := Pair{\"a\", 2}", []string{"a", "2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := Of(tc.path)
			checks, rest := l.Checks(Mask(l, tc.line))
			if len(checks) != 1 || len(rest) > 0 {
				t.Fatalf("%v and %q", checks, rest)
			}
			if d := cmp.Diff(tc.values, checks[0].Values); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.inputs, checks[0].Inputs); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSuppressions_onlyDirectives(t *testing.T) {
	for path, tc := range map[string]struct {
		raw  string
		want []string
	}{
		"a.go":  {"x() //nolint:errcheck,gosec // reason\n// use //nolint never\ns := `//nolint`\n//nolintlint\n", []string{"//nolint:errcheck,gosec"}},
		"a.py":  {"import x  # noqa: F401, E5\ny = f()  # type: ignore[arg]\n\"\"\"\n# noqa\n\"\"\"\n# no # noqa here\n", []string{"# noqa: F401, E5", "# type: ignore[arg]"}},
		"a.tsx": {"// @ts-ignore\n{/* eslint-disable a/b */}\nlet s = '// @ts-ignore';\n// eslint-enable\n", []string{"// @ts-ignore", "/* eslint-disable a/b"}},
		"a.rs":  {"#[allow(\n    dead_code\n)]\n// #[allow(x)]\n#[derive(Debug)]\n", []string{"#[allow( dead_code )]"}},
	} {
		t.Run(path, func(t *testing.T) {
			if d := cmp.Diff(tc.want, trimmed(Of(path).Suppressions(tc.raw))); d != "" {
				t.Error(d)
			}
		})
	}
}

func trimmed(all []string) []string {
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func TestAlive_returnsOnTheOuterLevel(t *testing.T) {
	for name, tc := range map[string]struct {
		path, code string
		rest       string // what never runs
		exits      int
	}{
		"go, return":           {"a.go", "t *testing.T) {\n\tf()\n\treturn\n\tg()\n}", "\treturn\n\tg()\n}", 0},
		"go, in a closure":     {"a.go", "t *testing.T) {\n\tgo func() {\n\t\treturn\n\t}()\n}", "", 0},
		"go, condition":        {"a.go", "t *testing.T) {\n\tif x {\n\t\treturn\n\t}\n\tg()\n}", "", 1},
		"go, for one platform": {"a.go", "t *testing.T) {\n\tif runtime.GOOS == \"windows\" {\n\t\treturn\n\t}\n}", "", 0},
		"js, on one line":      {"a.js", "it('a', () => {\n  if (!x) return;\n  g();\n});", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := Of(tc.path)
			alive, exits := l.Alive(Mask(l, tc.code))
			if got := tc.code[alive:]; got != tc.rest || exits != tc.exits {
				t.Errorf("%q and %d, want %q and %d", got, exits, tc.rest, tc.exits)
			}
		})
	}
}
