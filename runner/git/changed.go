package git

// ChangedFile is a changed text file before and after. A renamed file is two: one that no longer exists and one that
// did not exist before.
type ChangedFile struct {
	Path            string // slash-separated, relative to the root of the repository, or to the project
	Before, After   string // empty if the file does not exist
	Existed, Exists bool   // before, after
}

// HiddenFile is a file that git does not show.
type HiddenFile struct {
	File  string // slash-separated, relative to the root of the repository; of a folder that is not tracked: with a slash at the end
	Flag  string // "assume-unchanged", "skip-worktree"; empty: an ignore rule
	Rule  string // the rule, such as "*_test.go"
	Place string // the file with the rule
	// Untracked is true for what was never committed.
	Untracked bool
}

// Lost is something that the repository had and does not have any more.
type Lost struct {
	What string `json:"what"` // one of the constants below
	// Name is that of the branch, tag or worktree; of commits: the branch that had them.
	Name string `json:"name,omitempty"`
	OID  string `json:"oid,omitempty"`  // the object that brings it back
	Text string `json:"text,omitempty"` // what is gone, with the command that brings it back
	// Gone is true for commits whose branch is gone, too.
	Gone bool `json:"gone,omitempty"`
	// Harmless is true if nothing but a name is gone.
	Harmless bool     `json:"harmless,omitempty"`
	Commits  []string `json:"commits,omitempty"` // that are on no branch any more
}

// What can be lost.
const (
	LostCommits  = "commits"
	LostBranch   = "branch"
	LostTag      = "tag"
	LostStash    = "stash"
	LostWorktree = "worktree"
	// LostCrossed are stash entries that two turns exchanged. A person has to say that nothing is missing.
	LostCrossed = "crossed"
)
