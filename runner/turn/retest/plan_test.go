package retest

import (
	"testing"

	"ralph/runner/git"
)

func TestLoosened_onlyFilesWhereNothingButAssertionsChanged(t *testing.T) {
	const lib = "# Helpers.\nsetup() {\n\tKV=bin/kv\n}\nassert_eq() { # WANT GOT NAME\n\tif [ \"$1\" = \"$2\" ]; then\n\t\techo ok\n\tfi\n}\n"
	const python = "def setup():\n    return 1\n\ndef assert_total(cart, want):\n    assert cart.total() == want\n"
	for name, c := range map[string]struct {
		path, before, after string
		want                bool
	}{
		"it accepts more":       {"tests/lib.sh", lib, "# Helpers.\nsetup() {\n\tKV=bin/kv\n}\nassert_eq() { # WANT GOT NAME\n\tif [ -n \"$2\" ]; then\n\t\techo ok\n\tfi\n}\n", true},
		"another set-up":        {"tests/lib.sh", lib, "# Helpers.\nsetup() {\n\tKV=bin/store\n}\nassert_eq() { # WANT GOT NAME\n\tif [ \"$1\" = \"$2\" ]; then\n\t\techo ok\n\tfi\n}\n", false},
		"one more function":     {"tests/lib.sh", lib, lib + "assert_ne() {\n\t[ \"$1\" != \"$2\" ]\n}\n", false},
		"python":                {"tests/helpers.py", python, "def setup():\n    return 1\n\ndef assert_total(cart, want):\n    assert cart.total() >= want\n", true},
		"python, another setup": {"tests/helpers.py", python, "def setup():\n    return 2\n\ndef assert_total(cart, want):\n    assert cart.total() == want\n", false},
		"a macro":               {"tests/common/mod.rs", "#[macro_export]\nmacro_rules! assert_close {\n    ($a:expr) => {{\n        assert!($a < 1e-9);\n    }};\n}\n", "/// Relative.\n#[macro_export]\nmacro_rules! assert_close {\n    ($a:expr) => {{\n        assert!($a < 1e-1);\n    }};\n}\n", true},
		"with a new function":   {"tests/helpers.py", python, "def setup():\n    return 1\n\ndef rounded(n):\n    return n // 10\n\ndef assert_total(cart, want):\n    assert rounded(cart.total()) == rounded(want)\n", true},
		"brackets":              {"test/helpers.js", "function event() {\n  return {};\n}\n\nfunction assertWire(a, b) {\n  assert.deepEqual(a, b);\n}\n", "function event() {\n  return {};\n}\n\nfunction stable(a) {\n  return a.b;\n}\n\nfunction assertWire(a, b) {\n  assert.deepEqual(stable(a), stable(b));\n}\n", true},
		"code":                  {"lib.sh", lib, "", false},
	} {
		f := git.Text{Path: c.path, Before: c.before, After: c.after, Existed: true, Exists: true}
		if got := len(loosened([]git.Text{f}).files) > 0; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
