package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Plant is a way to make git start a program. In its script, $E is a command that says which plant it is of.
type Plant struct {
	Name, Script string
	User         string // a command of the user that starts it, beside the usual ones
	Leads        bool   // it leads git to another repository, which ends a run
	Quiet        bool   // git starts it only in a terminal, or a newer git does: what is put back is all that can be seen
}

const attributes = "mkdir -p .git/info; echo '* filter=q diff=q merge=q' > .git/info/attributes; "

// elsewhere makes a folder of git with a program, in the project.
const elsewhere = "git init -q .evil; git -C .evil config core.fsmonitor \"$E\"; "

// Plants are the ways.
func Plants() []Plant {
	return []Plant{
		{Name: "filter.clean", Script: attributes + `git config filter.q.clean "$E"`},
		{Name: "filter.smudge", Script: attributes + `git config filter.q.smudge "$E"`, User: "rm a.txt; git checkout -q -- a.txt"},
		{Name: "filter.process", Script: attributes + `git config filter.q.process "$E"`},
		{Name: "attributes of the user's filter", Script: `echo '* filter=mine' > .git/info/attributes`},
		{Name: "core.attributesFile", Script: `echo '* filter=q' > rules; git config core.attributesFile "$PWD/rules"; git config filter.q.clean "$E"`},
		{Name: "pre-commit", Script: hook("pre-commit")},
		{Name: "post-commit", Script: hook("post-commit")},
		{Name: "post-index-change", Script: hook("post-index-change")},
		{Name: "reference-transaction", Script: hook("reference-transaction")},
		{Name: "a changed hook", Script: hook("commit-msg")},
		{Name: "a disabled hook", Script: `chmod +x .git/hooks/pre-merge-commit`, User: "git merge -q --no-ff -m m other"},
		{Name: "hooks are a link", Script: `mkdir bad; mv .git/hooks .old; ln -s ../bad .git/hooks; printf '#!/bin/sh\n%s\n' "$E" > bad/pre-commit; chmod +x bad/*`},
		{Name: "info is a link", Script: `mv .git/info .old; ln -s .. .git/info; echo '* filter=q' > attributes; git config filter.q.clean "$E"`},
		{Name: "core.hooksPath", Script: `mkdir bad; printf '#!/bin/sh\n%s\n' "$E" > bad/pre-commit; chmod +x bad/*; git config core.hooksPath bad`},
		{Name: "core.fsmonitor", Script: `git config core.fsmonitor "$E"`},
		{Name: "core.sshCommand", Script: `git config core.sshCommand "$E"; git config remote.origin.url ssh://x.invalid/y`},
		{Name: "core.gitProxy", Script: `git config core.gitProxy "$HOME/evil-proxy"; git config remote.origin.url git://x.invalid/y`},
		{Name: "core.editor", Script: `git config core.editor "$E"`, User: "git commit -q --amend"},
		{Name: "sequence.editor", Script: `git config sequence.editor "$E"`, User: "git rebase -q -i HEAD~1"},
		{Name: "core.pager", Script: `git config core.pager "$E"`, Quiet: true},
		{Name: "core.askPass", Script: `git config core.askPass "$HOME/evil-askpass"`, User: "printf 'url=https://x.invalid\n\n' | git credential fill"},
		{Name: "credential.helper", Script: `git config credential.helper "!$E"`, User: "printf 'url=https://x.invalid\n\n' | git credential fill"},
		{Name: "diff.external", Script: `git config diff.external "$E"`},
		{Name: "diff.command", Script: attributes + `git config diff.q.command "$E"`},
		{Name: "diff.textconv", Script: attributes + `git config diff.q.textconv "$E"`},
		{Name: "merge.driver", Script: attributes + `git config merge.q.driver "$E"`, User: "git merge -q -m m conflict"},
		{Name: "alias", Script: `git config alias.st "!$E"`, User: "git st"},
		{Name: "include.path", Script: `printf '[core]\n\tfsmonitor = %s\n' "$E" > inc; git config include.path ../inc`},
		{Name: "includeIf", Script: `printf '[core]\n\tfsmonitor = %s\n' "$E" > inc; git config includeIf.onbranch:*.path ../inc`},
		{Name: "a section in the line of another", Script: `printf '[branch "x"] [core] fsmonitor = %s\n' "$E" >> .git/config`},
		{Name: "gpg.program", Script: `git config gpg.program "$HOME/evil-gpg"; git config commit.gpgSign true`},
		{Name: "remote.uploadpack", Script: `git config remote.origin.uploadpack "$E"`},
		{Name: "remote.receivepack", Script: `git config remote.origin.receivepack "$E"`, User: "git push -q origin HEAD:refs/heads/new"},
		{Name: "remote.vcs", Script: `git config remote.origin.vcs ext; git config remote.origin.url "$E"; git config protocol.ext.allow always`},
		{Name: "ext", Script: `git config remote.origin.url "ext::$E"; git config protocol.ext.allow always`},
		{Name: "insteadOf", Script: `git config "url.ext::$E .insteadOf" "$HOME/remote"; git config protocol.allow always`},
		{Name: "branch.remote", Script: `git config branch.$(git branch --show-current).remote "ext::$E"; git config protocol.ext.allow always`},
		{Name: "a remote with hooks", Script: `git init -q --bare .bad; printf '#!/bin/sh\n%s\n' "$E" > .bad/hooks/pre-receive; chmod +x .bad/hooks/pre-receive; git config remote.origin.url "$PWD/.bad"`,
			User: "git push -q origin HEAD:refs/heads/new"},
		{Name: "remotes", Script: `mkdir -p .git/remotes; echo "URL: ext::$E" > .git/remotes/other; git config protocol.ext.allow always`, User: "git fetch other"},
		{Name: "trailer", Script: `git config trailer.x.key X; git config trailer.x.cmd "$E"`, User: "git commit -q --allow-empty -m t --trailer x=1"},
		{Name: "tar", Script: `git config tar.q.command "$E"`, User: "git archive --format=q HEAD"},
		{Name: "gc.recentObjectsHook", Script: `git config gc.recentObjectsHook "$E"`, User: "git gc -q --prune=now", Quiet: true},
		{Name: "rebase", Script: `mkdir .git/rebase-merge; echo refs/heads/x > .git/rebase-merge/head-name; git rev-parse HEAD > .git/rebase-merge/onto; ` +
			`git rev-parse HEAD > .git/rebase-merge/orig-head; touch .git/rebase-merge/interactive; printf 'exec %s\n' "$E" > .git/rebase-merge/git-rebase-todo`,
			User: "git rebase --continue"},
		{Name: "submodule.update", Script: `git config submodule.lib.update "!$E"`, User: "git -C lib commit -q --allow-empty -m x; git submodule update"},
		{Name: "the configuration of a submodule", Script: `git -C lib config core.fsmonitor "$E"`},
		{Name: "a hook of a submodule", Script: `printf '#!/bin/sh\n%s\n' "$E" > .git/modules/lib/hooks/post-index-change; chmod +x .git/modules/lib/hooks/*`, User: "git -C lib reset -q"},
		{Name: "the .git of a submodule", Script: elsewhere + `rm lib/.git; echo "gitdir: ../.evil/.git" > lib/.git`},
		{Name: "commondir of a submodule", Script: elsewhere + `echo "$PWD/.evil/.git" > .git/modules/lib/commondir`},
		{Name: "a new repository in the index", Script: `git init -q sub; git -C sub -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git add sub 2>/dev/null; git -C sub config core.fsmonitor "$E"`},
		{Name: "a new repository", Script: `git init -q sub; git -C sub -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git -C sub config core.fsmonitor "$E"`},
		{Name: "config.worktree", Script: `git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$E"`},
		{Name: "config.worktree of another work tree", Script: `git config extensions.worktreeConfig true; printf '[core]\n\tfsmonitor = %s\n' "$E" > .git/worktrees/tree/config.worktree`, User: "git -C ../tree status"},
		{Name: "commondir of another work tree", Script: elsewhere + `echo "$PWD/.evil/.git" > .git/worktrees/tree/commondir`, User: "git -C ../tree status"},
		{Name: "alternates", Script: `mkdir -p .git/objects/info; echo "$PWD/.evil/objects" > .git/objects/info/alternates`, Quiet: true},
		{Name: "a FIFO for the configuration", Script: `rm .git/config; mkfifo .git/config`, Quiet: true},
		{Name: "a link to a file outside", Script: `rm .git/config; ln -s "$HOME/outside" .git/config`, Quiet: true},
		{Name: "commondir", Script: elsewhere + `echo "$PWD/.evil/.git" > .git/commondir`, Leads: true},
		{Name: ".git is a file", Script: elsewhere + `mv .git .moved; echo "gitdir: .evil/.git" > .git`, Leads: true},
	}
}

func hook(name string) string {
	return `printf '#!/bin/sh\n%s\n' "$E" > .git/hooks/` + name + `; chmod +x .git/hooks/` + name
}

// usual are what a person does after a run, and with what git starts for them.
const usual = `echo more >> a.txt; git status; git diff; git add -A; git status; git commit -q -m done; git log -p -2; git show; git fetch; git checkout -q -- .; git stash list`

// Yard makes a repository of a user who has hooks and settings, a submodule, another work tree and a remote.
func (w *World) Yard() {
	w.Helper()
	w.Write("../evil", "#!/bin/sh\ntouch \"$HOME/ran/$1\"\n")
	for _, name := range []string{"proxy", "askpass", "gpg"} {
		w.Write("../evil-"+name, "#!/bin/sh\ntouch \"$HOME/ran/"+name+"\"\n")
	}
	w.Sh(`chmod +x ../evil*; mkdir ../ran ../tmp; echo outside > ../outside
git init -q --bare ../remote; git init -q ../lib; git -C ../lib commit -q --allow-empty -m lib
echo one > a.txt; printf '.evil\n.moved\n.old\n' > .gitignore; git add .; git commit -qm a
git checkout -qb other; echo > b.txt; git add b.txt; git commit -qm b; git checkout -q -; git checkout -qb conflict; echo other > a.txt; git commit -qam other; git checkout -q -; echo mine > a.txt; git commit -qam mine
git -c protocol.file.allow=always submodule -q add ../lib lib; git commit -qm lib
git worktree add -q ../tree; git remote add origin "$HOME/remote"; git push -q -u origin HEAD
printf '#!/bin/sh\ntouch "$HOME/mine"\n' > .git/hooks/commit-msg; chmod +x .git/hooks/commit-msg
printf '#!/bin/sh\n"$HOME/evil" disabled\n' > .git/hooks/pre-merge-commit
git config alias.mine "!echo mine"; git config filter.mine.clean "$HOME/evil attributes"`)
}

// Sh runs a script that must not fail.
func (w *World) Sh(script string) string {
	w.Helper()
	out, code := w.Run("sh", "-ec", script)
	if code != 0 {
		w.Fatalf("%s\nended with %d: %s", script, code, out)
	}
	return out
}

// As does what a user does, and returns which programs git started.
func (w *World) As(user string) string {
	w.Helper()
	w.Run("sh", "-c", "exec </dev/null; export EDITOR=true\n"+usual+"\n"+user)
	ran, err := os.ReadDir(filepath.Join(w.Home, "ran"))
	w.Do(err)
	names := []string{}
	for _, e := range ran {
		names = append(names, e.Name())
		w.Do(os.Remove(filepath.Join(w.Home, "ran", e.Name())))
	}
	return strings.Join(names, " ")
}

// Do is the script, with $E set.
func (p Plant) Do() string {
	return `E="$HOME/evil ` + strings.ReplaceAll(p.Name, " ", "-") + `"; ` + p.Script
}

// CopyOf copies a yard, with everything in its home.
func CopyOf(t testing.TB, from string) *World {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if out, err := exec.Command("cp", "-a", from, home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := New(t, home)
	w.Sh(`sed -i "s#` + from + `#$HOME#" .git/config .git/worktrees/tree/gitdir ../tree/.git`)
	return w
}

// NewYard makes one in a home that CopyOf can copy.
func NewYard(t testing.TB) *World {
	t.Helper()
	w := New(t, "")
	w.Begin("# Plan\n\n- [ ] T1 do part 1\n")
	w.Yard()
	return w
}

// Settings are all files that ralph must leave as they are.
func (w *World) Settings() string {
	return w.Sh(`cd .git; for f in config hooks/commit-msg hooks/pre-merge-commit modules/lib/config; do ls -l $f | cut -c1-10; cat $f; done`)
}

// AllPlants is a script that plants what does not lead elsewhere, at once.
func AllPlants() string {
	var script string
	for _, p := range Plants() {
		if !p.Leads && !slices.Contains([]string{"a FIFO for the configuration", "a link to a file outside", "hooks are a link", "info is a link", "rebase"}, p.Name) {
			script += "( " + p.Do() + " )\n"
		}
	}
	return script
}
