package command

import (
	"os"
	"testing"
)

// What an agent sets up in a repository is not started by ralph's own git, even while it is there.
func TestRun_programsSetAfterTheTrust_doNotRun(t *testing.T) {
	for _, key := range []string{"merge.q.driver", "diff.q.command", "diff.q.textconv", "diff.external", "core.fsmonitor", "core.editor", "sequence.editor",
		"core.pager", "gpg.program", "core.sshCommand", "credential.helper", "core.askPass", "trailer.x.cmd", "trailer.x.command", "alias.status", "remote.origin.uploadpack", "core.alternateRefsCommand",
		"submodule.lib.update", "gc.recentObjectsHook"} {
		t.Run(key, func(t *testing.T) {
			p := repository(t)
			p.Write(".gitattributes", "*.txt merge=q diff=q\n")
			p.Write("a.txt", "one\ntwo\nthree\n")
			p.Commit("base")
			p.Git("checkout", "-q", "-b", "side")
			p.Write("a.txt", "ONE\ntwo\nthree\n")
			p.Commit("side")
			p.Git("checkout", "-q", "-")
			p.Write("a.txt", "one\ntwo\nTHREE\n")
			p.Commit("main")
			ctx := trust(p)
			p.Git("config", key, "touch "+p.Path("mark")+"; :")
			p.Git("config", "commit.gpgSign", "true")
			p.Git("config", "trailer.x.key", "X")
			for _, args := range [][]string{{"status", "--porcelain"}, {"diff", "--no-ext-diff", "--no-textconv", "HEAD~1"}, {"log", "-1"}, {"show", "HEAD:a.txt"}, {"diff-tree", "-p", "HEAD"},
				{"cherry-pick", "--no-commit", "--no-gpg-sign", "side"}, {"commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", "x\n\nX: 1"}, {"for-each-ref"},
				{"rev-list", "--all"}, {"grep", "two"}} {
				if _, err := Run(ctx, p.Dir, args...); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
			if text := p.Read("a.txt"); text != "ONE\ntwo\nTHREE\n" {
				t.Errorf("merged: %q", text)
			}
			if _, err := os.Stat(p.Path("mark")); err == nil {
				t.Error("it ran")
			}
		})
	}
}
