package remote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"ralph/logs/termtext"
	"ralph/runner/git/command"
)

const (
	fetchTimeout = 10 * time.Minute
	maxReason    = 300 // bytes
	fetched      = refs + "remote"
)

// outside is a folder in which git finds no repository. The home folder may be in one.
const outside = "/"

// fetch fetches commits from the project's own remote, as the user of this machine. why says why it could not; empty:
// the commit is here.
func (p *place) fetch(ctx context.Context, u *Upstream) (why string) {
	if err := u.Check(); err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	one := flock.New(filepath.Join(p.top, "fetch"))
	if _, err := one.TryLockContext(ctx, lockPoll); err != nil {
		return err.Error()
	}
	defer one.Unlock()
	if p.contains(ctx, u.Base) {
		return ""
	}
	if err := p.fetchFrom(ctx, u); err != nil {
		return reason(err)
	}
	if !p.contains(ctx, u.Base) {
		return fmt.Sprintf("%s of the git remote does not have %.12s", strings.TrimPrefix(u.Ref, "refs/heads/"), u.Base)
	}
	return ""
}

// fetchFrom fetches into the objects of the repository, but uses a second repository for it that no agent knows: the
// settings of a repository decide which programs git runs.
func (p *place) fetchFrom(ctx context.Context, u *Upstream) error {
	bare := filepath.Join(p.top, "remote.git")
	if _, err := os.Stat(filepath.Join(bare, "HEAD")); err != nil {
		if _, err := command.Run(ctx, outside, "init", "--quiet", "--bare", bare); err != nil {
			return err
		}
	}
	// Nobody is there to be asked.
	c := command.Call{Dir: outside, Env: []string{"GIT_DIR=" + bare,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(p.repo, ".git", "objects"),
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force"}}
	const tip = "refs/upstream/tip"
	if _, err := c.Run(ctx, "-c", "fetch.unpackLimit=1", "-c", "fetch.fsckObjects=true", "fetch", "--quiet",
		"--no-tags", "--no-auto-maintenance", "--no-recurse-submodules", "--no-write-fetch-head",
		"--upload-pack=git-upload-pack", "--", u.URL, "+"+u.Ref+":"+tip); err != nil {
		return err
	}
	oid, err := c.Run(ctx, "rev-parse", "--verify", "--quiet", tip+"^{commit}")
	if err != nil {
		return err
	}
	return p.alone(ctx, func() error {
		_, err := command.Run(ctx, p.repo, "update-ref", fetched, strings.TrimSpace(oid))
		return err
	})
}

// contains reports whether the repository has a commit and all commits before it.
func (p *place) contains(ctx context.Context, oid string) bool {
	out, err := command.Run(ctx, p.repo, "for-each-ref", "--count=1", "--contains", oid, refs)
	return err == nil && out != ""
}

// reason returns an error in one line, without the names and passwords that git may show in an address.
func reason(err error) string {
	text := regexp.MustCompile(`//[^/\s]*@`).ReplaceAllString(termtext.Line(err.Error()), "//")
	return text[:min(len(text), maxReason)]
}
