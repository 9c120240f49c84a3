package hollow

import "testing"

func TestMessage_onlyAValueInItsPlace(t *testing.T) {
	for line, want := range map[string]bool{
		"assert(convert(1, 'km', 'm'), 1000);": true, "assert.ok(r.kept, [[6, 4, 3]])": true, "assert(() => roll(text), /cannot keep/);": true,
		"assert(r, { a: 1 });": true, "assert(a === b, [a, b])": false, "assert(!a.has(1), [1]);": false, "assert(list.some((x) => x), [2]);": true, "assert(list.includes(a, 3));": false, "assert(a > 1, 'a, 1');": false, "assert(ok, `no ${a}`);": false,
		"assert.equal(f(1), 2);": false, "assert(text.startsWith('('), 5);": true, "assert(ok, name);": false, "assert(f([1, 2]));": false,
	} {
		if got := message("  " + line + "\n"); (got != "") != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
