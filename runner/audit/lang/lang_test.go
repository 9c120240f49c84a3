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
