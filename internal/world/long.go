package world

import "testing"

// Long leaves a test out under -short, as make test runs it. what says what takes long; testgate
// tells these tests from those that lack something.
func Long(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: " + what)
	}
}
