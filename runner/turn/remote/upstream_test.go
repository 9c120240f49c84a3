package remote

import (
	"strings"
	"testing"

	"ralph/internal/world"
)

func TestUpstream_addressThatCouldRunAProgram_isRefused(t *testing.T) {
	oid := strings.Repeat("1", 40)
	for address, fine := range map[string]bool{
		"https://example.org/a/b.git": true, "http://h/p": true, "git://h/p": true, "ssh://me@h:22/p": true, "file:///srv/p.git": true,
		"/srv/p.git": true, "me@h:a/b.git": true, "h:/a": true, "git@h.org:~me/p": true,
		"": false, "-x": false, "--upload-pack=touch x": false, "--upload-pack=x": false, "ext::sh -c x": false, "ext::x": false,
		"fd::17": false, "transport::https://h/p": false, "ssh://-oProxyCommand=x/p": false, "ssh://-x@h/p": false, "-oProxyCommand=x:p": false,
		"h:-p": false, "me@-oProxyCommand=x:p": false, "../p": false, "p": false, "ftp://h/p": false, "https:///p": false,
		"file://h/p": false, "https://h/p?token=x": false, "https://h/p#x": false, "h:p\nx": false, "h: p": false, ":p": false, "ssh://h": false,
		"a/b:c": false, "https://h:x/p": false,
	} {
		if err := (&Upstream{URL: address, Ref: "refs/heads/main", Base: oid}).Check(); (err == nil) != fine {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, u := range []Upstream{{Ref: "main"}, {Ref: "refs/heads/"}, {Ref: "refs/heads/a:refs/heads/b"}, {Ref: "refs/heads/*"}, {Ref: "refs/heads/a b"},
		{Ref: "refs/tags/a"}, {Ref: "refs/heads/a", Base: "HEAD"}, {Ref: "refs/heads/a", Base: "--all"}} {
		if u.URL = "/p"; u.Base == "" {
			u.Base = oid
		}
		if u.Check() == nil {
			t.Errorf("%+v", u)
		}
	}
}

func TestFindUpstream_ofABranch(t *testing.T) {
	f := repository(t)
	branch := strings.TrimSpace(f.Git("symbolic-ref", "--short", "HEAD"))
	find := func() string {
		t.Helper()
		u, err := FindUpstream(t.Context(), f.Dir)
		if err != nil {
			return err.Error()
		}
		return u.URL + " " + u.Ref + " " + u.tracking
	}
	if got := find(); got != "the branch follows none of a git remote" {
		t.Error(got)
	}
	bare := world.Folder{TB: t, Dir: t.TempDir()}
	bare.Git("init", "--quiet", "--bare")
	f.Git("remote", "add", "origin", bare.Dir)
	f.Git("push", "--quiet", "origin", "HEAD:main", "HEAD:other")
	f.Git("fetch", "--quiet", "origin")
	f.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	if got, want := find(), bare.Dir+" refs/heads/main refs/remotes/origin/main"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.Git("branch", "--quiet", "--set-upstream-to=origin/other", branch)
	f.Git("config", "remote.origin.url", "https://me:secret@example.org/p.git")
	if got, want := find(), "https://example.org/p.git refs/heads/other refs/remotes/origin/other"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for address, want := range map[string]string{"https://token@h/p": "https://h/p", "ssh://git:x@h/p": "ssh://git@h/p", "git@h:p": "git@h:p",
		"https://h/p": "https://h/p", "https://me:100%@h/p": "https://h/p", "https://me:a#b@h/p@1": "https://h/p@1"} {
		if got := withoutCredentials(address); got != want {
			t.Errorf("%q: %q", address, got)
		}
	}
	f.Git("config", "remote.origin.url", "work:p.git")
	f.Git("config", "url.https://me:secret@example.org/.insteadOf", "work:")
	if got, want := find(), "https://example.org/p.git refs/heads/other refs/remotes/origin/other"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.Git("config", "remote.origin.url", "../p")
	if got := find(); !strings.Contains(got, `"../p" is no address that a worker can use`) {
		t.Error(got)
	}
}
