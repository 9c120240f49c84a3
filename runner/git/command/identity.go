package command

import "context"

// Identity returns variables that give git an author, if none is configured.
func Identity(ctx context.Context, root string) []string {
	if _, err := Run(ctx, root, "var", "GIT_AUTHOR_IDENT"); err == nil {
		if _, err = Run(ctx, root, "var", "GIT_COMMITTER_IDENT"); err == nil {
			return nil
		}
	}
	return []string{"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_COMMITTER_NAME=ralph",
		"GIT_COMMITTER_EMAIL=ralph@localhost"}
}
