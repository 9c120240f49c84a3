// Package changed is what a call did to a file, as those who look at the repository tell those who judge it.
package changed

// File is a changed text file before and after. A renamed file is two: one that no longer exists and one that
// did not exist before.
type File struct {
	Path            string // slash-separated, relative to the root of the repository, or to the project
	Before, After   string // empty if the file does not exist
	Existed, Exists bool   // before, after
}

// Hidden is a file that git does not show.
type Hidden struct {
	File  string // slash-separated, relative to the root of the repository
	Flag  string // "assume-unchanged", "skip-worktree"; empty: an ignore rule
	Rule  string // the rule, such as "*_test.go"
	Place string // the file with the rule
}
