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
