package turn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/git"
)

func TestChanged_whatTheUserWroteIntoDotRalph_isComparedByContent(t *testing.T) {
	dir := world.Project(t, map[string]string{
		".ralphrc": "A=1\n", ".ralph/config.yaml": "x", ".ralph/PROMPT.md": "p", ".ralph/specs/a.md": "a", ".ralph/specs/sub/b.bin": "\xff1",
		".git/config": "[core]\n", ".git/hooks/pre-push.sample": "", ".git/HEAD": "ref",
		".git/modules/lib/a/config": "[core]\n", ".git/modules/lib/a/hooks/pre-push.sample": "", ".git/modules/lib/a/HEAD": "ref",
		".git/modules/lib/a/objects/config": "x",
		".new-cli/rules":                    "", ".ralph/fix_plan.md": "- [ ] one\n", ".ralph/status.json": "{}", "code.go": "",
	})
	before := readSteering(dir, []string{".mcp.json", ".new-cli/"})
	if changed := before.Changed(readSteering(dir, []string{".mcp.json", ".new-cli/"})); changed != nil {
		t.Errorf("nothing changed: %+v", changed)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".ralphrc", ".ralph/fix_plan.md", ".ralph/status.json", "code.go", ".ralph/specs/new.md", ".git/HEAD",
		".git/hooks/pre-commit", ".git/hooks/pre-push.sample", ".mcp.json", ".new-cli/hooks.json", ".git/modules/lib/a/config", ".git/modules/lib/a/HEAD",
		".git/modules/lib/a/hooks/pre-push", ".git/modules/lib/a/objects/config"} {
		write(name, "B=2\n")
	}
	write(".ralph/specs/sub/b.bin", "\xff2")
	if err := os.Remove(filepath.Join(dir, ".ralph/config.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ".ralph/PROMPT.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../code.go", filepath.Join(dir, ".ralph/PROMPT.md")); err != nil {
		t.Fatal(err)
	}
	found := before.Changed(readSteering(dir, []string{".mcp.json", ".new-cli/"}))
	for i := range found {
		if strings.HasSuffix(found[i].Path, ".bin") {
			found[i].Before, found[i].After = "", ""
		}
	}
	want := []git.ChangedFile{
		{Path: ".git/hooks/pre-commit", After: "B=2\n", Exists: true},
		{Path: ".git/modules/lib/a/config", Before: "[core]\n", After: "B=2\n", Existed: true, Exists: true},
		{Path: ".git/modules/lib/a/hooks/pre-push", After: "B=2\n", Exists: true},
		{Path: ".mcp.json", After: "B=2\n", Exists: true},
		{Path: ".new-cli/hooks.json", After: "B=2\n", Exists: true},
		{Path: ".ralph/PROMPT.md", Before: "p", After: "a link to ../code.go", Existed: true, Exists: true},
		{Path: ".ralph/config.yaml", Before: "x", Existed: true},
		{Path: ".ralph/specs/new.md", After: "B=2\n", Exists: true},
		{Path: ".ralph/specs/sub/b.bin", Existed: true, Exists: true},
		{Path: ".ralphrc", Before: "A=1\n", After: "B=2\n", Existed: true, Exists: true},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// A folder that the call made a link may lead to what the call cannot read itself. Findings quote texts.
func TestRead_belowALink_isNoticedButNotRead(t *testing.T) {
	base := t.TempDir()
	dir, outside := filepath.Join(base, "p"), filepath.Join(base, "outside")
	for _, name := range []string{"p/.cli/rules", "p/.ralph/specs/rules", "outside/rules"} {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("secret of "+name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	look := func() steerFiles { return readSteering(dir, []string{".cli/rules"}) }
	before := look()
	for _, name := range []string{".cli", ".ralph"} {
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, name)), os.Symlink("../outside", filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(outside, "specs"), 0o700),
		os.WriteFile(filepath.Join(outside, "specs", "rules"), []byte("secret of the link"), 0o600)); err != nil {
		t.Fatal(err)
	}
	linked := look()
	found := before.Changed(linked)
	all := ""
	for _, f := range found {
		all += f.Path + " " + f.After + "\n"
	}
	if len(found) != 3 || strings.Contains(all, "secret") { // .cli/rules; .ralph/specs, and the file in it
		t.Errorf("%+v", found)
	}
	if err := os.WriteFile(filepath.Join(outside, "rules"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := linked.Changed(look()); len(found) != 1 || strings.Contains(found[0].Before+found[0].After, "changed") {
		t.Errorf("%+v", found)
	}
}

// A link in the place of a file is a lost file, whatever it leads to.
func TestRestore_linkInPlaceOfAFile_isReplacedByTheFile(t *testing.T) {
	for _, to := range []string{"../outside", "nowhere"} {
		dir := filepath.Join(t.TempDir(), "p")
		file, outside := filepath.Join(dir, ".ralph", "PROMPT.md"), filepath.Join(dir, "outside")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("mine"), 0o640),
			os.WriteFile(outside, []byte("other"), 0o600)); err != nil {
			t.Fatal(err)
		}
		kept := protectFiles(dir, []string{file})
		if err := errors.Join(os.Remove(file), os.Symlink(to, file)); err != nil {
			t.Fatal(err)
		}
		names, err := kept.Restore(dir)
		info, _ := os.Lstat(file)
		text, _ := os.ReadFile(file)
		left, _ := os.ReadFile(outside)
		if err != nil || len(names) != 1 || info.Mode() != 0o640 || string(text) != "mine" || string(left) != "other" {
			t.Errorf("%s: %v, %v, %v, %q, %q", to, names, err, info.Mode(), text, left)
		}
	}
}

// What an agent CLI writes at each call is compared only as far as it starts programs, and
// nothing of the home folder is shown: it may be a key.
func TestHome_whatStartsProgramsChanged_isFoundWithoutItsText(t *testing.T) {
	dir := world.Project(t, map[string]string{
		".cli/settings.json": "{}", ".cli/locked/x": "", ".cli/commands/a.md": "a", ".cli/session": "1",
		".cli.json": `{"starts": 1, "mcpServers": {"mine": {"command": "x"}}, "projects": {"/p": {"allowedTools": [], "mcpServers": {}}}}`,
	})
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var m steerMemory
	project := t.TempDir()
	m.Read(project)
	m.AtHome([]string{"HOME=" + dir}, []string{".cli/locked/"}, []string{".cli/settings.json", ".cli/commands/", ".cli/hooks.json", ".cli/locked/"}, []string{".cli.json"})
	changed := func() string {
		var names []string
		for _, f := range m.Changed(project) {
			if strings.Contains(f.Before+f.After, "secret") {
				t.Errorf("shown: %+v", f)
			}
			names = append(names, f.Path)
		}
		return strings.Join(names, " ")
	}
	write(".cli/session", "2")
	write(".cli.json", `{"starts": 2, "mcpServers": {"mine": {"command": "x"}}, "projects": {"/q": {"allowedTools": []}}}`)
	if got := changed(); got != "" {
		t.Errorf("changed: %s", got)
	}
	write(".cli.json", `{"mcpServers": {"mine": {"command": "x"}}, "projects": {"/p": {"mcpServers": {"evil": {"env": {"KEY": "secret"}}}}}}`)
	write(".cli/settings.json", `{"env": "secret"}`)
	write(".cli/hooks.json", "{}")
	write(".cli/locked/x", "x")
	write(".cli/commands/b.md", "b")
	if got := changed(); got != "~/.cli.json ~/.cli/commands/b.md ~/.cli/hooks.json ~/.cli/settings.json" {
		t.Errorf("changed: %s", got)
	}
	m.AtHome(nil, nil, []string{".cli/settings.json"}, []string{".cli.json"})
	if got := changed(); !strings.HasSuffix(got, "settings.json") {
		t.Errorf("forgotten: %s", got)
	}
}

func TestRepair_aFolderThatIsGone_isNotAsBefore(t *testing.T) {
	dir := world.Project(t, map[string]string{".git/config": "[core]\n", ".git/HEAD": "ref"})
	before := readSteering(dir, []string{".mcp.json", ".new-cli/"})
	if err := os.Rename(filepath.Join(dir, ".git"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: moved\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = ".git was changed, which leads git to another repository; ralph removed that file, and now there is no .git: if it was moved, move it back"
	if got := repairGit(dir, before.Changed(readSteering(dir, []string{".mcp.json", ".new-cli/"}))); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
