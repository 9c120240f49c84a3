package audit

import (
	"slices"
	"testing"
)

func TestTouchedTests_onlyThoseWhoseBodyChanged(t *testing.T) {
	for name, c := range map[string]struct {
		path, before, after string
		want                []string
	}{
		"go": {"x_test.go",
			"func TestAdd(t *testing.T) {\n\tx()\n}\n\nfunc TestMul(t *testing.T) {\n\ty()\n}\n",
			"func TestAdd(t *testing.T) {\n\tz()\n}\n\nfunc TestMul(t *testing.T) {\n\ty()\n}\n\nfunc help() {}\n\nfunc TestNew(t *testing.T) {\n}\n",
			[]string{"TestAdd", "TestNew"}},
		"python": {"tests/test_a.py",
			"def test_a():\n    assert f(1) == 1\n\n\nclass TestB:\n    def test_c(self):\n        assert 1\n\n    def test_d(self):\n        assert 2\n",
			"def test_a():\n    assert f(1) == 1\n\n\nX = 1\n\n\nclass TestB:\n    def test_c(self):\n        assert 3\n\n    def test_d(self):\n        assert 2\n",
			[]string{"test_c"}},
		"javascript": {"a.test.js",
			"describe('sums', () => {\n  it('adds', () => {\n    x();\n  });\n  it('adds two', () => {\n    y();\n  });\n});\n",
			"describe('sums', () => {\n  it('adds', () => {\n    x();\n  });\n  const k = 1;\n  it('adds two', () => {\n    z();\n  });\n});\n",
			[]string{"adds two"}},
		"rust": {"src/lib.rs",
			"fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        x();\n    }\n    #[test]\n    fn muls() {\n        y();\n    }\n}\n",
			"fn f() { g() }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        x();\n    }\n    #[test]\n    fn muls() {\n        z();\n    }\n}\n",
			[]string{"muls"}},
		"a new file":     {"new_test.go", "", "func TestNew(t *testing.T) {\n\tx()\n}\n", []string{"TestNew"}},
		"none of a test": {"x.go", "a", "b", nil},
	} {
		if got := TouchedTests(File{Path: c.path, Before: c.before, After: c.after, Existed: c.before != "", Exists: true}); !slices.Equal(got, c.want) {
			t.Errorf("%s: touched %q, want %q", name, got, c.want)
		}
	}
}
