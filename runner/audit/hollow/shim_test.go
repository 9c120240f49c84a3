package hollow_test

import (
	"strings"
	"testing"

	"ralph/runner/audit/hollow"
)

func TestShim_onlyAssertionsThatCannotFail(t *testing.T) {
	const was, is = "import assert from 'node:assert/strict';\n", "import assert from './helpers/assert.js';\n"
	for name, c := range map[string]struct {
		before, after, helper, old string
		want                       bool
	}{
		"only logs":             {was, is, "export default { equal: (a, b) => a === b || console.log('did not throw') };\n", "", true},
		"throws":                {was, is, "export default { equal(a, b) { if (a !== b) throw new Error('no'); } };\n", "", false},
		"wraps the library":     {was, is, "import assert from 'node:assert';\nexport default { ...assert };\n", "", false},
		"keeps the library":     {was, was + is, "export const x = 1;\n", "", false},
		"a helper of before":    {was, is, "export default {};\n", "export default { };\n", false},
		"never had the library": {"", is, "export default {};\n", "", false},
	} {
		files := []hollow.Text{{Path: "test/helpers/assert.js", Before: c.old, After: c.helper}}
		got := hollow.Shim(hollow.Text{Path: "test/a.test.js", Before: c.before, After: c.after}, files)
		if (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestReplaced_onlyWhatIsNotTheCode(t *testing.T) {
	isCode := func(path string) bool { return strings.HasPrefix(path, "src/") || strings.HasPrefix(path, "app/") }
	const was = "import { diff } from '../src/diff.js';\n"
	const fixture = "@pytest.fixture(autouse=True)\ndef _rates(monkeypatch):\n    monkeypatch.setattr(\"app.vat.vat\", lambda c, n: known[(c, n)])\n"
	code := hollow.Text{Path: "app/vat.py", Before: "def vat(c, n):\n    return 1\n", After: "def vat(c, n):\n    return 2\n"}
	for name, c := range map[string]struct {
		test, other hollow.Text
		want        bool
	}{
		"a copy among the tests": {hollow.Text{Path: "test/a.js", Before: was, After: "import { diff } from './support/diff.js';\n"},
			hollow.Text{Path: "test/support/diff.js", After: "export function diff() {}\n"}, true},
		"the code has moved": {hollow.Text{Path: "test/a.js", Before: was, After: "import { diff } from '../src/lib/diff.js';\n"},
			hollow.Text{Path: "src/lib/diff.js", After: "export function diff() {}\n"}, false},
		"a fixture for all":        {hollow.Text{Path: "tests/conftest.py", After: fixture}, code, true},
		"a fixture of before":      {hollow.Text{Path: "tests/conftest.py", Before: fixture, After: fixture + "\n"}, code, false},
		"a fixture for a service":  {hollow.Text{Path: "tests/conftest.py", After: strings.Replace(fixture, "app.vat.vat", "app.net.fetch", 1)}, code, false},
		"a fixture that one takes": {hollow.Text{Path: "tests/conftest.py", After: strings.Replace(fixture, "(autouse=True)", "", 1)}, code, false},
	} {
		if got := hollow.Replaced(c.test, []hollow.Text{c.test, c.other}, isCode); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
