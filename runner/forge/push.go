package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/git/command"
	"ralph/runner/git/replica"
	"ralph/state"
)

// pusher pushes commits of a project from a repository of its own, which borrows the objects of the project. It has the
// settings of the project as they were when the run began: a later turn could set another address, or a program to run.
type pusher struct {
	root, dir string // of the project, and its own
	Remote    string // its name
	address   string
	on, track string // the branch that is checked out, and the one on the remote that it follows; empty: none
}

// newPusher finds the remote: that of the branch, or the only one. It is never nil.
func newPusher(ctx context.Context, dir string) (*pusher, error) {
	root, _ := command.Root(dir)
	p := &pusher{root: cmp.Or(root, dir)}
	p.on, _ = command.Line(ctx, root, "symbolic-ref", "--quiet", "--short", "HEAD") // detached: none
	p.Remote, _ = command.Line(ctx, root, "config", "branch."+p.on+".remote")
	track, _ := command.Line(ctx, root, "config", "branch."+p.on+".merge")
	all, err := command.Line(ctx, root, "remote")
	names := strings.Fields(all)
	switch {
	case err != nil:
		return p, err
	case slices.Contains(names, p.Remote):
		p.track = strings.TrimPrefix(track, "refs/heads/")
	case p.Remote != "" && p.Remote != ".": // as gh pr checkout sets it for a fork: its commits must not become those of origin
		return p, usage("your branch follows %s, which is no remote with a name", logs.Redact(termtext.Line(p.Remote)))
	case len(names) == 0:
		return p, usage("the repository has no remote; add one with: git remote add origin URL")
	case len(names) > 1:
		return p, usage("there are %d remotes, and your branch follows none; choose with: git branch --set-upstream-to=REMOTE/BRANCH", len(names))
	default:
		p.Remote = names[0]
	}
	if p.address, err = command.Line(ctx, root, "remote", "get-url", "--push", p.Remote); err != nil {
		return p, err
	}
	if local := filepath.Join(root, p.address); !strings.Contains(p.address, ":") && !filepath.IsAbs(p.address) {
		p.address = local
	}
	cache, sum := replica.CacheDir(os.Environ()), sha256.Sum256([]byte(dir)) // a repository may have several projects
	if cache == "" {
		return p, usage("there is no cache folder: HOME is not set")
	}
	p.dir = filepath.Join(cache, "ralph", "push", hex.EncodeToString(sum[:8]))
	if err = errors.Join(os.RemoveAll(p.dir), os.MkdirAll(filepath.Join(p.dir, "refs"), 0o700)); err != nil { // a kill leaves it
		return p, err
	}
	return p, p.fill(ctx)
}

// fill makes the repository.
func (p *pusher) fill(ctx context.Context) error {
	format, err := command.Line(ctx, p.root, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = " + format + "\n"
	all, err := command.Run(ctx, p.root, "config", "--list", "-z", "--local", "--includes")
	if err != nil {
		return err
	}
	reach := []string{"credential.", "http.", "url.", "core.sshcommand", "core.askpass", "core.gitproxy", "ssh.", "protocol."}
	for _, entry := range command.Entries(all) {
		key, value, _ := strings.Cut(entry, "\n")
		if !slices.ContainsFunc(reach, func(k string) bool { return strings.HasPrefix(key, k) }) {
			continue
		}
		section, name := key[:strings.Index(key, ".")], key[strings.LastIndex(key, ".")+1:]
		if sub := strings.TrimSuffix(strings.TrimPrefix(key, section+"."), name); sub != "" {
			section += fmt.Sprintf(" %s", quoted(strings.TrimSuffix(sub, ".")))
		}
		config += fmt.Sprintf("[%s]\n\t%s = %s\n", section, name, quoted(value))
	}
	common := command.CommonDir(p.root)
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config,
		"objects/info/alternates": filepath.Join(common, "objects") + "\n"}
	if shallow, err := os.ReadFile(filepath.Join(common, "shallow")); err == nil { // file: in the folder of git
		files["shallow"] = string(shallow)
	}
	for name, text := range files {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil { // file: in the cache
			return err
		}
	}
	return nil
}

// quoted is a text as the files of settings of git write it.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// pushBound is how long git may take, so that a connection that hangs is not all that a run tries.
const pushBound = 10 * time.Minute

// run runs git where it may reach the server, and asks nobody for a password.
func (p *pusher) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pushBound)
	defer cancel()
	line, err := command.Program(append([]string{"--git-dir=."}, args...)...)
	if err != nil {
		return "", err
	}
	return command.Call{Dir: p.dir, Program: line[0], Env: append(command.Ralph(), "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
		"SSH_ASKPASS_REQUIRE=never")}.Run(ctx, line[1:]...)
}

// Push pushes a commit to a ref of the remote, if that only adds commits to it.
func (p *pusher) Push(ctx context.Context, oid, ref string) error {
	out, err := p.run(ctx, "push", "--porcelain", "--no-follow-tags", "--no-recurse-submodules", p.address, oid+":"+ref)
	if err == nil {
		return nil
	}
	name := strings.TrimPrefix(ref, "refs/heads/")
	said := logs.Redact(out + "\n" + err.Error())
	for _, row := range []struct{ words, text string }{
		{"(fetch first)|(non-fast-forward)|(needs force)", name + " on " + p.Remote + " has commits that this repository lacks: somebody has moved it"},
		{"[remote rejected]", p.Remote + " does not take " + name},
		{"permission|denied|error: 403|not found|does not appear to be a git repository", "no right to push to " + p.Remote},
		{"authentication|could not read|error: 401", "no login for " + p.Remote},
	} {
		if saysOne(said, row.words) {
			return usage("%s: %s", row.text, termtext.Fit(termtext.Line(told(said)), 300))
		}
	}
	return &Error{Exit: state.ExitError, Text: "push to " + p.Remote + ": " + termtext.Fit(termtext.Line(told(said)), 300)}
}

// told is what a failed push says, without the lines that only frame it.
func told(said string) string {
	lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "To ") || strings.HasPrefix(line, "Done") || strings.HasPrefix(line, "hint:")
	})
	return strings.Join(lines, "; ")
}

// PushNotes pushes notes, joined with those that are on the remote by now.
func (p *pusher) PushNotes(ctx context.Context, oid, ref string) error {
	err := p.Push(ctx, oid, ref)
	if err == nil {
		return nil
	}
	if _, fetched := p.run(ctx, "fetch", "--no-tags", "--quiet", p.address, "+"+ref+":"+ref+"-there"); fetched != nil {
		return err
	}
	if _, err = p.run(ctx, "update-ref", ref, oid); err == nil {
		_, err = p.run(ctx, "notes", "--ref", ref, "merge", "--quiet", "--strategy=ours", ref+"-there")
	}
	if err != nil {
		return err
	}
	return p.Push(ctx, ref, ref)
}

// At returns the commit of a branch on the remote; empty: it has none.
func (p *pusher) At(ctx context.Context, branch string) (oid string, err error) {
	out, err := p.run(ctx, "ls-remote", p.address, "refs/heads/"+branch)
	oid, _, _ = strings.Cut(out, "\t")
	return oid, err
}

// Ref is the repository on the service that the address leads to.
func (p *pusher) Ref() (r Ref) {
	host, path := "", p.address
	if u, err := url.Parse(p.address); err == nil && u.Scheme != "" {
		host, path = u.Host, u.Path
		if u.Scheme == "ssh" {
			host = u.Hostname()
		}
	} else if before, after, ok := strings.Cut(p.address, ":"); ok && !strings.Contains(before, "/") {
		host, path = before[strings.LastIndex(before, "@")+1:], after
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	r.Service, r.Repo = "gh", strings.Join(parts[max(0, len(parts)-2):], "/")
	if host != "github.com" {
		r.Host = host
	}
	return r
}

// Close removes its repository.
func (p *pusher) Close() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}
