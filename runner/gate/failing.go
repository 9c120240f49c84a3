package gate

import (
	"slices"

	"ralph/logs/lazy"
)

// failing matches a line in which a script says that a test failed, and zero one that says that none did: "FAILED: 0".
var (
	failing = lazy.Regexp(`(?m)^(?:FAIL(?:ED)?|not ok)[:\s].*[A-Za-z].*$`)
	zero    = lazy.Regexp(`^[A-Za-z ]+[:\s]*0\b`)
)

// failingLines returns the lines in which a script of an unknown format says that a test failed.
func failingLines(output string) []string {
	return slices.DeleteFunc(failing().FindAllString(output, -1), zero().MatchString)
}
