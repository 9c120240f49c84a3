package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/git/command"
)

// Upstream is where a worker can get commits of the project by itself.
type Upstream struct {
	URL  string `json:"url"`
	Ref  string `json:"ref"`  // a branch there: refs/heads/...
	Base string `json:"base"` // the commit to get; that branch has it

	tracking string // the ref here that says what the branch there has
}

// FindUpstream finds what the current branch of a repository follows, else the main branch of origin. The error says in
// words why there is nothing that workers can use.
func FindUpstream(ctx context.Context, root string) (*Upstream, error) {
	u, name, err := follows(ctx, root)
	if err != nil {
		return nil, err
	}
	address, err := command.Run(ctx, root, "remote", "get-url", name) // as git rewrites it
	if err != nil {
		return nil, fmt.Errorf("the git remote %q has no address", name)
	}
	u.URL = withoutCredentials(strings.TrimSpace(address))
	return u, u.checkAddress()
}

// follows finds a branch of a remote, and the name of that remote.
func follows(ctx context.Context, root string) (u *Upstream, name string, err error) {
	if branch, err := command.Run(ctx, root, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		out, err := command.Run(ctx, root, "for-each-ref",
			"--format=%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)", strings.TrimSpace(branch))
		f := strings.Split(strings.TrimSpace(out), "\x00")
		if err == nil && len(f) == 3 && f[0] != "" && f[1] != "" && f[1] != "." {
			return &Upstream{Ref: f[2], tracking: f[0]}, f[1], nil
		}
	}
	const origin = "refs/remotes/origin/"
	head, err := command.Run(ctx, root, "symbolic-ref", "--quiet", origin+"HEAD")
	if err != nil {
		return nil, "", errors.New("the branch follows none of a git remote")
	}
	head = strings.TrimSpace(head)
	return &Upstream{Ref: "refs/heads/" + strings.TrimPrefix(head, origin), tracking: head}, "origin", nil
}

// at is the same with the latest commit of HEAD that the remote has; nil: it has none, as far as this repository knows.
func (u *Upstream) at(ctx context.Context, root string) *Upstream {
	base, err := command.Run(ctx, root, "merge-base", "HEAD", u.tracking)
	if err != nil {
		return nil
	}
	found := *u
	found.Base = strings.TrimSpace(base)
	return &found
}

// Check says why a worker must not follow these words; nil: it may.
func (u *Upstream) Check() error {
	const special = " ~^:?*[\\"
	branch, ok := strings.CutPrefix(u.Ref, "refs/heads/")
	if !ok || branch == "" || strings.ContainsAny(branch, special) || strings.ContainsFunc(branch, control) ||
		!isOID(u.Base) {
		return errors.New("the run names no branch and commit of its git remote")
	}
	return u.checkAddress()
}

// schemes are those of git that start no program of somebody else's choice.
func schemes() []string { return []string{"https", "http", "ssh", "git", "file"} }

// checkAddress refuses what makes git run a program, or that git could take for an option.
func (u *Upstream) checkAddress() error {
	bad := fmt.Errorf("%q is no address that a worker can use: write https://, ssh://, git:// or file://, "+
		"HOST:PATH or an absolute path", termtext.Line(u.URL))
	if u.URL == "" || u.URL[0] == '-' || strings.Contains(u.URL, "::") || strings.ContainsFunc(u.URL, control) {
		return bad
	}
	if strings.Contains(u.URL, "://") {
		a, err := url.Parse(u.URL)
		if err != nil || !slices.Contains(schemes(), a.Scheme) || a.RawQuery != "" || a.Fragment != "" ||
			strings.HasPrefix(a.Host, "-") || strings.HasPrefix(a.User.Username(), "-") ||
			(a.Host == "") != (a.Scheme == "file") || !strings.HasPrefix(a.Path, "/") {
			return bad
		}
		return nil
	}
	host, path, remote := strings.Cut(u.URL, ":")
	name := host[strings.LastIndexByte(host, '@')+1:]
	if strings.HasPrefix(u.URL, "/") ||
		remote && name != "" && name[0] != '-' && path != "" && path[0] != '-' && host[0] != '-' &&
			!strings.Contains(host, "/") {
		return nil
	}
	return bad
}

// control is true for what no address has: control characters and spaces.
func control(r rune) bool { return r <= ' ' || r == 0x7f }

// withoutCredentials is an address without a password. In one of the web, the name may be a token. A password that is
// not escaped as it should be works for git, so that the address is not parsed.
func withoutCredentials(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest[:strings.IndexByte(rest+"/", '/')], '@')
	if at < 0 {
		return address
	}
	if name, _, _ := strings.Cut(rest[:at], ":"); scheme == "ssh" && name != "" {
		return scheme + "://" + name + rest[at:]
	}
	return scheme + "://" + rest[at+1:]
}
