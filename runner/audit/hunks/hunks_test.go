package hunks

import (
	"strings"
	"testing"
)

func TestFind_onlyWhatAsksForLess(t *testing.T) {
	const py = "def test_total():\n    assert total([100]) == 100\n    assert total([]) == 0\n"
	const goTest = "func TestA(t *testing.T) {\n\tif got := A(1); got != 2 {\n\t\tt.Fatal(got)\n\t}\n}\n"
	const rust = "#[test]\nfn bad() {\n    assert_eq!(\n        read(\"a\"),\n        Err(Error::Text { line: 1 })\n    );\n}\n"
	const goOrder = "func TestA(t *testing.T) {\n\tgot := A()\n\twant := []A{1, 2}\n\tfor i := range want {\n\t\tif got[i] != want[i] {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n}\n"
	const frames = "    let (frame, used) = decode(&bytes).unwrap();\n    assert_eq!(used, 4);\n"
	for name, c := range map[string]struct{ before, after, task, want string }{
		"a vague assertion":           {py, strings.Replace(py, "[100]) == 100", "[100]) is not None", 1), "", "assert total([100]) == 100"},
		"an assertion that is gone":   {py, strings.Replace(py, "    assert total([]) == 0\n", "", 1), "", "assert total([]) == 0"},
		"one behind a comment":        {py, strings.Replace(py, "    assert total([]) == 0", "    # assert total([]) == 0", 1), "", "assert total([]) == 0"},
		"beside a new test":           {py, strings.Replace(py, "[]) == 0\n", "[]) >= 0\n\n\ndef test_mean():\n    assert mean([1]) == 1\n", 1), "", "assert total([]) == 0"},
		"one over lines":              {rust, strings.NewReplacer("assert_eq!(", "assert!(matches!(", "line: 1", "..", ");\n}", "));\n}").Replace(rust), "", `assert_eq!(read("a"),Err(Error::Text { line: 1 }));`},
		"another value over lines":    {rust, strings.Replace(rust, "line: 1", "line: 2", 1), "", ""},
		"only if it is well":          {frames, "    if let Ok((frame, used)) = decode(&bytes) {\n        assert_eq!(used, 4);\n    }\n", "", "if let Ok((frame, used)) = decode(&bytes) {"},
		"Go, without the order":       {goOrder, strings.NewReplacer("i := range want", "_, a := range []A{1, 2}", "got[i] != want[i]", "!has(got, a)", "\twant := []A{1, 2}\n", "", "got)", "a, \"is not there\")").Replace(goOrder), "", `want := []A{1, 2}`},
		"a test that was split":       {py, strings.Replace(py, "    assert total([]) == 0", "\n\ndef test_none():\n    assert total([]) == 0", 1), "", ""},
		"an early end":                {py, strings.Replace(py, "    assert total([]) == 0", "    return\n    assert total([]) == 0", 1), "", "return"},
		"a shell that ends":           {"x=1\n[ $x = 2 ] || exit 1\n", "x=1\nexit 0\n[ $x = 2 ] || exit 1\n", "", "exit 0"},
		"a failure dropped":           {"check milk MILK\n", "check milk MILK || true\n", "", "check milk MILK || true"},
		"Go, a vague one":             {goTest, strings.Replace(goTest, "got != 2", "got == 0", 1), "", "if got := A(1); got != 2 {"},
		"a row":                       {"rows := []row{\n\t{\"a\", 1},\n\t{\"b\", 2},\n}\n", "rows := []row{\n\t{\"a\", 1},\n}\n", "", `{"b", 2},`},
		"another value":               {py, strings.Replace(py, "== 100", "== 99", 1), "", ""},
		"an error instead":            {py, strings.Replace(py, "    assert total([]) == 0", "    with pytest.raises(ValueError):\n        total([])", 1), "total raises ValueError for an empty list", ""},
		"nothing instead":             {py, strings.Replace(py, "total([]) == 0", "total([]) is None", 1), "", ""},
		"another value in a new test": {py, strings.Replace(py, "    assert total([100]) == 100\n", "    assert total([]) == 0\n\n\ndef test_cap():\n    assert total([100]) == 50\n", 1), "", ""},
		"a row with another value":    {"R = [\n    (\"a\", 1),\n]\n", "R = [\n    (\"a\", 2),\n]\n", "", ""},
		"another order":               {"R = [\n    (\"a\", 1),\n    (\"b\", 2),\n]\n", "R = [\n    (\"b\", 2),\n    (\"a\", 1),\n]\n", "", ""},
		"a new test":                  {py, py + "\n\ndef test_b():\n    if b():\n        return\n    assert b() == 2\n", "", ""},
		"a parametrized one":          {py, "@pytest.mark.parametrize(\"prices, want\", [([100], 100), ([], 0)])\ndef test_total(prices, want):\n    assert total(prices) == want\n", "", ""},
		"a pattern":                   {py, strings.Replace(py, "assert total([]) == 0", "assert re.match(r'^z+$', total([]))", 1), "", ""},
		"another helper":              {"import a\n" + py, "import b\n" + py, "", ""},
	} {
		got := strings.Join(Find(c.before, c.after, c.task).Lines, "; ")
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFind_textHasOnlyTheWeakPartsAsTheyWere(t *testing.T) {
	before := "def test_a():\n    assert a() == 1\n\n\ndef test_b():\n    assert b() == 2\n"
	after := "def test_a():\n    assert a()\n\n\ndef test_b():\n    assert b() == 3\n\n\ndef test_c():\n    assert c() == 4\n"
	if got, want := Find(before, after, "").Text, strings.Replace(after, "assert a()\n", "assert a() == 1\n", 1); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A new test may have the lines that an old one lost.
func TestFind_linesThatANewTestHas_comeBackToTheOldOne(t *testing.T) {
	const old = "#[test]\nfn short() {\n    let (a, n) = decode(&b).unwrap();\n    assert_eq!(n, 4);\n}\n\n#[test]\nfn bad() {\n    assert!(f());\n}\n"
	const fresh = "#[test]\nfn long() {\n    let (a, n) = decode(&b).unwrap();\n    assert_eq!(n, 6);\n}\n\n"
	const loose = "    if let Ok((a, n)) = decode(&b) {\n        assert_eq!(n, 4);\n    }\n"
	now := strings.Replace(old, "    let (a, n) = decode(&b).unwrap();\n    assert_eq!(n, 4);\n", loose, 1)
	now = strings.Replace(now, "#[test]\nfn bad", fresh+"#[test]\nfn bad", 1)
	if got, want := Find(old, now, "").Text, strings.Replace(old, "#[test]\nfn bad", fresh+"#[test]\nfn bad", 1); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
