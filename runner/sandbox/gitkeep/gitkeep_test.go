package gitkeep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
)

func TestMain(m *testing.M) { os.Exit(world.Main(m)) }

// place is a repository, and where its records are.
func place(t testing.TB) (world.Folder, Repository, Place) {
	p := world.Folder{TB: t, Dir: t.TempDir()}
	p.Git("init", "-q")
	p.Write("a", "a")
	p.Commit("first")
	p.Write(".git/hooks/pre-push", "mine")
	git := p.Path(".git")
	return p, Repository{Dir: p.Dir, Git: []string{git, git}, DotGit: git}, Place{Records: filepath.Join(t.TempDir(), "git"), Logs: filepath.Join(t.TempDir(), "logs")}
}

func opened(t testing.TB, r Repository, p Place) *Window {
	t.Helper()
	w, err := Open(r, p)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func closed(t testing.TB, w *Window) string {
	t.Helper()
	back, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(back.Files, " ")
}

func TestClose_putsBackOnlyWhatStartsPrograms(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"nothing":                         {":", ""},
		"what branches are for":           {"git config branch.main.remote origin; git config branch.main.merge refs/heads/main; git config user.name x", ""},
		"a branch whose remote is a path": {"git config branch.main.remote ../x", ".git/config"},
		"a value over two lines":          {`printf '[branch "x"]\n\tremote = a\\\n[core]\n\tfsmonitor = x\n' >> .git/config`, ".git/config"},
		"a section in a line":             {`printf '[branch "x"] [core]\n\tmerge = x\n' >> .git/config`, ".git/config"},
		"a commit":                        {"echo b > b; git add b; git -c user.name=x -c user.email=x commit -qm b; git gc -q; git branch x", ""},
		"a work tree":                     {"git worktree add -q ../tree", ""},
		"a work tree in the project":      {"git worktree add -q tree", ""},
		"a clone of a server":             {"git init -q clone; git -C clone remote add origin https://example.invalid/x.git", ""},
		"a clone with an alias":           {"git init -q clone; git -C clone config alias.x '!evil'", "clone/.git/config"},
		"a hook":                          {"echo x > .git/hooks/pre-commit; echo x > .git/hooks/pre-commit.sample", ".git/hooks/pre-commit"},
		"no hook any more":                {"rm .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a folder for a file":             {"rm .git/hooks/pre-push; mkdir .git/hooks/pre-push; echo x > .git/hooks/pre-push/x", ".git/hooks/pre-push .git/hooks/pre-push/x"},
	} {
		t.Run(name, func(t *testing.T) {
			p, r, at := place(t)
			p.Dir = r.Dir
			w := opened(t, r, at)
			if out, code := p.Run("sh", "-ec", c.script); code != 0 {
				t.Fatal(out)
			}
			if got := closed(t, w); got != c.want {
				t.Errorf("put back %q", got)
			}
			if got := p.Read(".git/hooks/pre-push"); got != "mine" {
				t.Errorf("the user's hook is %q", got)
			}
		})
	}
}

// Through a link in git's folders, the user's git would write outside of the project.
func TestClose_linksInGitsFolders_leadNowhere(t *testing.T) {
	for name, c := range map[string]struct{ before, script, want string }{
		"all submodules":              {"", "mv .git/modules .old; ln -s ../.old .git/modules", ".git/modules"},
		"a submodule":                 {"", "mv .git/modules/a/lib .old; ln -s ../../../.old .git/modules/a/lib", ".git/modules/a/lib"},
		"a part of its name":          {"", "mv .git/modules/a .old; ln -s ../../.old .git/modules/a", ".git/modules/a"},
		"a submodule to come":         {"", `ln -s "$OUT" .git/modules/new`, ".git/modules/new"},
		"one in a part of a name":     {"", `ln -s "$OUT" .git/modules/a/new`, ".git/modules/a/new"},
		"submodules of a submodule":   {"", `ln -s "$OUT" .git/modules/a/lib/modules`, ".git/modules/a/lib/modules"},
		"the first submodule":         {"rm -rf lib .git/modules; git rm -qf --cached lib", `ln -s "$OUT" .git/modules`, ".git/modules"},
		"work trees":                  {"", `ln -s "$OUT" .git/worktrees`, ".git/worktrees"},
		"the log of HEAD":             {"", `rm .git/logs/HEAD; ln -s "$OUT/x" .git/logs/HEAD`, ".git/logs/HEAD"},
		"the log of a submodule":      {"", `rm -rf .git/modules/a/lib/logs; ln -s "$OUT" .git/modules/a/lib/logs`, ".git/modules/a/lib/logs"},
		"branches":                    {"", `ln -s "$OUT" .git/refs/heads/x`, ".git/refs/heads/x"},
		"the message of a commit":     {"", `ln -sf "$OUT/x" .git/COMMIT_EDITMSG`, ".git/COMMIT_EDITMSG"},
		"objects":                     {"", `rm -rf .git/objects/ab; ln -s "$OUT" .git/objects/ab`, ".git/objects/ab"},
		"another link than before":    {"ln -s ../mine .git/modules/b", `ln -sfn "$OUT" .git/modules/b`, ".git/modules/b"},
		"the link that was there":     {`rm .git/logs/HEAD; ln -s "$OUT/x" .git/logs/HEAD; ln -s "$OUT" .git/modules/b`, "git commit -q --allow-empty -m x", ""},
		"a submodule that is gone":    {"", "rm -rf .git/modules/a lib; git rm -qf --cached lib", ""},
		"a branch in the old way":     {"", "git branch x; ln -sf refs/heads/x .git/HEAD", ""},
		"a lock of Emacs":             {"", "ln -s me@host.12:34 .git/.#COMMIT_EDITMSG", ""},
		"what another program keeps":  {"", `mkdir -p .git/annex/objects; ln -s "$OUT" .git/annex/objects/x`, ""},
		"a link in the work tree":     {"", `ln -s "$OUT" .git-link; git add .git-link`, ""},
		"a submodule, and its commit": {"", "git -C lib commit -q --allow-empty -m y; git -C lib branch y; git add lib; git commit -qm y", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r, at := place(t)
			out := t.TempDir()
			run := func(script string) {
				t.Helper()
				if said, code := p.Run("sh", "-ec", "OUT='"+out+"'; "+script); code != 0 {
					t.Fatal(said)
				}
			}
			run("mkdir -p .git/modules/a; git init -q --separate-git-dir=.git/modules/a/lib lib; git -C lib commit -q --allow-empty -m x; git add lib; git commit -qm lib; " + c.before)
			w := opened(t, r, at)
			run(c.script)
			if got := closed(t, w); got != c.want {
				t.Errorf("put back %q", got)
			}
			if c.want == "" {
				return
			}
			p.Run("sh", "-c", "echo more >> a; git commit -qam more; git branch x/y; git worktree add -q ../tree; git -C lib commit -q --allow-empty -m more")
			if left, _ := os.ReadDir(out); len(left) > 0 {
				t.Errorf("git wrote outside: %v", left)
			}
		})
	}
}

func TestOpen_whatAPersonChangesBetweenCommands_stays(t *testing.T) {
	p, r, at := place(t)
	closed(t, opened(t, r, at))
	p.Git("config", "alias.x", "!mine")
	w := opened(t, r, at)
	p.Git("config", "alias.x", "!evil")
	if got := closed(t, w); got != ".git/config" || p.Git("config", "alias.x") != "!mine" {
		t.Errorf("put back %q, alias %s", got, p.Git("config", "alias.x"))
	}
}

// What one command plants is not taken for the user's because another one starts meanwhile.
func TestOpen_whileAnotherCommandRuns_theFirstDecides(t *testing.T) {
	p, r, at := place(t)
	tree := filepath.Join(t.TempDir(), "tree")
	first := opened(t, r, at)
	p.Git("worktree", "add", "-q", tree)
	p.Git("config", "alias.x", "!evil")
	other := Repository{Dir: tree, Git: []string{p.Path(".git/worktrees/tree"), p.Path(".git")}, DotGit: filepath.Join(tree, ".git")}
	second := opened(t, other, at)
	if text := p.Read(".git/config"); strings.Contains(text, "evil") {
		t.Error("ralph's own git could start it while the other command runs")
	}
	p.Git("config", "alias.x", "!evil")
	p.Write(".git/hooks/pre-commit", "evil")
	if got := closed(t, first); got != ".git/config .git/hooks/pre-commit" {
		t.Errorf("the first put back %q", got)
	}
	p.Write(".git/hooks/pre-commit", "evil")
	p.Write(".git/worktrees/tree/config.worktree", "[alias]\n\tx = !evil\n")
	if got := closed(t, second); got != ".git/config .git/hooks/pre-commit .git/worktrees/tree/config.worktree" {
		t.Errorf("the second put back %q", got)
	}
	if text := p.Read(".git/config") + p.Read(".git/hooks/pre-commit") + p.Read(".git/worktrees/tree/config.worktree"); strings.Contains(text, "evil") {
		t.Errorf("left: %s", text)
	}
}

func TestRecover_recordOfADeadRalph_isUsedOnceAndOnlyThen(t *testing.T) {
	p, r, at := place(t)
	var said []string
	recover := func() {
		p.Do(Recover(at.Records, r.Dir, func(r Replaced) { said = append(said, r.String()) }))
	}
	w := opened(t, r, at)
	p.Git("config", "alias.x", "!evil")
	if recover(); len(said) > 0 {
		t.Errorf("while its ralph lives: %q", said)
	}
	p.Do(w.held.Close()) // as if it were killed
	recover()
	recover()
	if len(said) != 1 || strings.Contains(p.Read(".git/config"), "evil") {
		t.Errorf("said %q", said)
	}
	kept, _ := filepath.Glob(filepath.Join(at.Logs, "planted.git.config"))
	if len(kept) != 1 {
		t.Error("what was planted is not kept")
	}
}

func TestClose_plantedTwice_keepsBoth(t *testing.T) {
	p, r, at := place(t)
	for n, name := range []string{"a/b", "a.b", "a.b"} {
		w := opened(t, r, at)
		p.Write(".git/hooks/"+name, string(rune('1'+n)))
		closed(t, w)
	}
	var all string
	for _, name := range []string{"", ".2", ".3"} {
		all += p.In(at.Logs).Read("planted.git.hooks.a.b" + name)
	}
	if all != "123" {
		t.Errorf("kept %q", all)
	}
}

func BenchmarkWindow_nothingChanged(b *testing.B) {
	p, r, at := place(b)
	for n := range 5000 {
		name := filepath.Join("dir", string(rune('a'+n%26)), strings.Repeat("x", n%100+1))
		p.Write(name, "x")
	}
	p.Commit("more")
	for b.Loop() {
		closed(b, opened(b, r, at))
	}
}
