package git

import "ralph/state/option"

// CommitOptions are the options for ralph's own commits.
type CommitOptions struct {
	AutoCommit   bool   // commit what the agent left uncommitted if the checks pass
	CommitPrefix string // of the messages of these commits
}

// Options returns the rows of the option table that fill o.
func (o *CommitOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Commits", Key: "AUTO_COMMIT", YAML: "git.auto_commit",
		Kind: option.Bool, Default: "false", Field: &o.AutoCommit,
		Help: "Commit what the agent left uncommitted when no required check fails; " +
			"false leaves all commits to the agent.",
	}, {
		Group: "Commits", Key: "COMMIT_PREFIX", YAML: "git.commit_prefix",
		Kind: option.String, Default: "[ralph]", Field: &o.CommitPrefix,
		Help: "Prefix of the messages of ralph's own commits; empty means none.",
	}}
}
