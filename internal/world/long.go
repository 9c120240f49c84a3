package world

import "testing"

// Long skips a test under -short, which make test sets. what names what takes long; by this reason
// testgate can tell these tests from those that lack a program.
func Long(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: " + what)
	}
}
