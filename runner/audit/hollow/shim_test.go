package hollow_test

import (
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
