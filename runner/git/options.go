package git

// CommitOptions is what a user can say about ralph's own commits.
type CommitOptions struct {
	AutoCommit   bool   // commit what the agent left over when the checks pass
	CommitPrefix string // of those commits' messages
}
