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

func TestChanged_windowOfWholeStatements(t *testing.T) {
	for name, tc := range map[string]struct{ path, before, after, was, is string }{
		"a line":         {"a.go", "f {\n\ta(1)\n\tb(1)\n\tc(1)\n}\n", "f {\n\ta(1)\n\tb(2)\n\tc(1)\n}\n", "\tb(1)\n", "\tb(2)\n"},
		"over lines":     {"a.py", "x()\nf(\n  1,\n  2)\ny()\n", "x()\nf(\n  1,\n  3)\ny()\n", "f(\n  1,\n  2)\n", "f(\n  1,\n  3)\n"},
		"an object":      {"a.js", "it('a', () => {\n  x();\n  e({\n    a: 1,\n  });\n  y();\n});\n", "it('a', () => {\n  x();\n  e({\n    a: 2,\n  });\n  y();\n});\n", "  e({\n    a: 1,\n  });\n", "  e({\n    a: 2,\n  });\n"},
		"a string":       {"a.py", "f(1)\ns = \"\"\"\na\nb\n\"\"\"\n", "f(1)\ns = \"\"\"\na\nc\n\"\"\"\n", "s = \"\"\"\na\nb\n\"\"\"\n", "s = \"\"\"\na\nc\n\"\"\"\n"},
		"lines are new":  {"a.go", "a()\nb()\n", "a()\na()\nb()\n", "", "a()\n"},
		"nothing":        {"a.go", "a()\n", "a()\n", "", ""},
		"all":            {"a.go", "", "a()", "", "a()"},
		"no end of line": {"a.go", "a(1)", "a(2)", "a(1)", "a(2)"},
	} {
		t.Run(name, func(t *testing.T) {
			l := Of(tc.path)
			was, is := Changed(Mask(l, tc.before), Mask(l, tc.after))
			if was.Text != tc.was || is.Text != tc.is || len(was.Code) != len(was.Text) {
				t.Errorf("%q and %q, want %q and %q", was.Text, is.Text, tc.was, tc.is)
			}
		})
	}
}

func TestHollow_onlyWhatCannotFail(t *testing.T) {
	for path, lines := range map[string]struct{ hollow, honest []string }{
		"a.go": {
			[]string{"if got != 3 && false {", "if false && got != 3 {", "if F(1) != F(1) {", "assert.Equal(t, F(1), F(1))", "require.True(t, x == 1 || true)"},
			[]string{"if got != 3 && ok {", "if F(1) != F(2) {", "assert.Equal(t, 1, F(1))", "if ok == false && got != 3 {", "if a.b(1, 2) != c.b(1, 2) {", `if f("a") != f("b") {`},
		},
		"a.py": {
			[]string{"assert f(1) == 2 or True", "assert True or f(1)", "assert f(1) == f(1)", "assert f(1) is f(1), 'x'", "self.assertEqual(f(1), f(1))"},
			[]string{"assert f(1) == 2 or x", "assert f(1) == g(1)", "assert x is not None", "assert a == b and b == c", "self.assertEqual(f(1), f(2))"},
		},
		"a.test.js": {
			[]string{"expect(f(1)).toBe(f(1));", "expect(f(1) === 2 || true).toBe(true);", "assert.equal(f(1), f(1));", "assert.ok(f(1) === f(1));"},
			[]string{"expect(f(1)).not.toBe(f(1));", "expect(f(1)).toBe(f(2));", "expect(f(x || 'a')).toBe(2);", "assert.equal(f(1), 1);", "expect(a).toBe(b);"},
		},
		"a.rs": {
			[]string{"assert_eq!(a(), a());", "assert!(a() == a());", "assert!(a() == 2 || true);"},
			[]string{"assert_eq!(a(1), a(2));", "assert!(a() == b());", "assert_ne!(a(), a());"},
		},
	} {
		l := Of(path)
		for want, all := range map[bool][]string{true: lines.hollow, false: lines.honest} {
			for _, line := range all {
				if l.Hollow(Mask(l, line)) != want {
					t.Errorf("%s: %s: hollow is not %v", path, line, want)
				}
			}
		}
	}
}

func TestLoosened_oneValueBecomesMany(t *testing.T) {
	for _, tc := range []struct {
		path, was, is string
		want          bool
	}{
		{"a.py", "assert f(1) == 2", "assert f(1)", true},
		{"a.py", "assert f(1) == 2", "assert f(1) != 7", true},
		{"a.py", "assert f(1) == 2", "assert f(1) > 0", true},
		{"a.py", "assert f(1) == True", "assert f(1)", false},
		{"a.py", "assert len(f(1)) == 0", "assert not f(1)", false},
		{"a.py", "assert f(1) == 2", "assert f(1) == 3", false},
		{"a.py", "assert f(1) == 2", "assert f(1) == 2\nassert f(2)", false},
		{"a.go", "if got := F(1); got != 2 {", "if got := F(1); got == 7 {", true},
		{"a.go", "if got := F(1); got != 2 {", "got, err := F(1)\nif err != nil {\nif got != 2 {", false},
		{"a.test.ts", "expect(f(1)).toBe(2);", "expect(f(1)).not.toBe(7);", true},
		{"a.test.ts", "expect(f(1)).toBe(true);", "assert(f(1));", false},
		{"a.rs", "assert_eq!(f(1), 2);", "assert!(f(1));", true},
	} {
		l := Of(tc.path)
		if got := l.Loosened(Mask(l, tc.was), Mask(l, tc.is)); got != tc.want {
			t.Errorf("%s to %s: %v", tc.was, tc.is, got)
		}
	}
}

func TestSwallowed_onlyAnswersThatCatchAFailedAssertion(t *testing.T) {
	for name, tc := range map[string]struct {
		path, code string
		want       int
	}{
		"py, another error":      {"a.py", "try:\n    f(-1)\n    assert False, 'no error'\nexcept ValueError:\n    pass\n", 0},
		"py, more errors":        {"a.py", "try:\n    assert f() == 3\nexcept (KeyError, my.Error) as e:\n    v = None\n", 0},
		"py, finally":            {"a.py", "try:\n    assert f() == 3\nfinally:\n    close()\n", 0},
		"py, bare":               {"a.py", "try:\n    assert f() == 3\nexcept:\n    pass\n", 1},
		"py, all errors":         {"a.py", "try:\n    assert f() == 3\nexcept Exception as e:\n    print(e)\n", 1},
		"py, really all":         {"a.py", "try:\n    assert f() == 3\nexcept BaseException:\n    pass\n", 1},
		"py, among others":       {"a.py", "try:\n    assert f() == 3\nexcept (ValueError, AssertionError):\n    pass\n", 1},
		"py, a later answer":     {"a.py", "try:\n    assert f() == 3\nexcept ValueError:\n    pass\nexcept Exception:\n    pass\n", 1},
		"py, raised again":       {"a.py", "def test():\n    try:\n        assert f() == 3\n    except:\n        raise\n", 0},
		"java, another error":    {"ATest.java", "try {\n  f(-1);\n  fail();\n} catch (IllegalArgumentException e) {\n}\n", 0},
		"java, all":              {"ATest.java", "try {\n  assertEquals(3, f());\n} catch (IOException e) {\n} catch (final Throwable e) {\n}\n", 1},
		"kotlin, the assertion":  {"ATest.kt", "try {\n  assertEquals(3, f())\n} catch (e: AssertionError) {\n}\n", 1},
		"js":                     {"a.test.js", "try {\n  expect(f()).toBe(3);\n} catch (e) {\n}\n", 1},
		"js, asks for the error": {"a.test.js", "try {\n  f();\n  fail('no');\n} catch (e) {\n  expect(e.code).toBe(3);\n}\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := Of(tc.path)
			if got := l.Swallowed(Mask(l, tc.code).Code); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}

func TestTests_bodiesDoNotOverlap(t *testing.T) {
	for name, tc := range map[string]struct {
		path, code string
		want       []string // name: body with its head
	}{
		"js, one in another":     {"a.test.js", "it('a', () => {\n  it('b', f);\n});\nit('c', g);\n", []string{"a: it('a', () => {\n  it('b', f);\n})", "c: it('c', g)"}},
		"js, on one line":        {"a.test.js", "it('a', f);it('b', g);", []string{"a: it('a', f)", "b: ;it('b', g)"}},
		"js, a bracket misread":  {"a.test.js", "it('a', () => f(x => /\\(/.test(x)));\nit('b', g);\n", []string{"a: it('a', () => f(x => /\\(/.test(x)));", "b: it('b', g)"}},
		"python, one in another": {"test_a.py", "def test_a():\n    def test_b():\n        f()\n", []string{"test_a: def test_a():\n    def test_b():\n        f()\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := Of(tc.path)
			var got []string
			for _, p := range l.Tests(Mask(l, tc.code)) {
				got = append(got, p.Name+": "+p.Head.Text+p.Body.Text)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
