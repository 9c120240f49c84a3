package logs

import "ralph/logs/termtext"

// Inert is termtext.Clean.
//
// Deprecated: use termtext.Clean.
func Inert(s string) string { return termtext.Clean(s) }
