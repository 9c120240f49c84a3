package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/internal/world"
	"ralph/runner/prompt"
	"ralph/runner/task/store"
	"ralph/state"
)

const initChild = "RALPH_TEST_INIT_DIR"

// TestMain lets the test binary be a "ralph init" that can be interrupted.
// initWorld is a project, a factory for it, and its own home.
type initWorld struct {
	*cmdline.Factory
	t        *testing.T
	out, err bytes.Buffer
}

func newInitWorld(t *testing.T, files map[string]string) *initWorld {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	w := &initWorld{t: t}
	w.Factory = &cmdline.Factory{In: null, Out: &w.out, Err: &w.err, Env: []string{"HOME=" + home}, Dir: filepath.Join(t.TempDir(), "shop")}
	for name, text := range files {
		w.write(name, text)
	}
	if err := os.MkdirAll(w.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *initWorld) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *initWorld) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// written lists what init may write and is there.
func (w *initWorld) written() []string {
	var names []string
	for _, name := range []string{".ralph", ".ralph/PROMPT.md", ".ralph/fix_plan.md", ".ralph/AGENT.md", ".ralph/.gitignore", ".ralphrc"} {
		if _, err := os.Lstat(filepath.Join(w.Dir, name)); err == nil {
			names = append(names, name)
		}
	}
	return names
}

func (w *initWorld) load() *config.Config {
	w.t.Helper()
	cfg, warnings, err := w.Loader(w.Dir, nil).Load()
	if err != nil || len(warnings) > 0 {
		w.t.Fatalf("load: %v, warnings %v\n%s", err, warnings, w.read(".ralphrc"))
	}
	return cfg
}

// init runs ralph init with these flags.
func (w *initWorld) init(o initOptions) error {
	o.Factory = w.Factory
	return initRun(&o)
}

// typed runs init on a terminal on which the text is typed.
func (w *initWorld) typed(text string, f initOptions) error {
	w.t.Helper()
	w.In = world.Typed(w.t, text)
	return w.init(f)
}

func goProject() map[string]string {
	return map[string]string{"go.mod": "module shop\n", "shop.go": "package shop\n"}
}

func TestInit_withoutTerminal_writesWhatARunNeeds(t *testing.T) {
	w := newInitWorld(t, goProject())
	if err := w.init(initOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := len(w.written()); n != 6 {
		t.Fatalf("wrote %q", w.written())
	}
	cfg := w.load()
	if cfg.TestCommand != "go test ./..." || cfg.BuildCommand != "go build -o /dev/null ./..." || cfg.LintCommand != "go vet ./..." {
		t.Errorf("commands %q, %q, %q", cfg.TestCommand, cfg.BuildCommand, cfg.LintCommand)
	}
	if !cfg.AutoCommit {
		t.Error("what the agent forgets stays uncommitted")
	}
	if !slices.Contains(cfg.AllowedTools, "Bash(go:*)") || !slices.Contains(cfg.AllowedTools, "Bash(git commit *)") {
		t.Errorf("the agent may use %q", cfg.AllowedTools)
	}
	if u, err := w.Loader(w.Dir, nil).Untrusted(); u != nil || err != nil {
		t.Errorf("untrusted: %v, %v", u, err)
	}
	if _, err := prompt.Find(w.Dir, ""); err != nil {
		t.Error(err)
	}
	if list, err := store.Locate(w.Dir, "", cfg.OptionalSections); err != nil || list.Remaining() != 2 {
		t.Errorf("%d open tasks, %v", list.Remaining(), err)
	}
	for _, words := range []string{"found: Go\n", "wrote .ralph/PROMPT.md\n", "wrote .ralphrc\n", "edit .ralph/fix_plan.md",
		"git -C " + w.Dir + " init ", " add .ralph .ralphrc && git -C " + w.Dir + " commit", "ralph -C " + w.Dir + " doctor", "--dry-run", "--monitor"} {
		if !strings.Contains(w.out.String(), words) {
			t.Errorf("does not say %q:\n%s", words, &w.out)
		}
	}
	if w.err.Len() > 0 {
		t.Errorf("stderr: %s", &w.err)
	}
}

func TestInit_noCommandFound_isCommentedOut(t *testing.T) {
	w := newInitWorld(t, map[string]string{"package.json": "{}", "x.js": ""})
	if err := w.init(initOptions{yes: true}); err != nil {
		t.Fatal(err)
	}
	if cfg := w.load(); cfg.TestCommand != "" || cfg.BuildCommand != "" || cfg.LintCommand != "" {
		t.Errorf("commands %q, %q, %q", cfg.TestCommand, cfg.BuildCommand, cfg.LintCommand)
	}
	if rc := w.read(".ralphrc"); !strings.Contains(rc, "\n# TEST_COMMAND=\"\"\n") {
		t.Errorf("not commented out:\n%s", rc)
	}
	if !strings.Contains(w.out.String(), "set TEST_COMMAND in .ralphrc") {
		t.Errorf("does not say what is missing:\n%s", &w.out)
	}
}

// A target that cannot run as it is would be a check that always fails.
func TestInit_makeTargetThatNeedsAValue_saysWhatIsMissing(t *testing.T) {
	for makefile, want := range map[string]string{
		"test: ; ./run $(NAME)\n": `no test command: make test needs a value for NAME; set TEST_COMMAND="make test NAME=..." in .ralphrc`,
		"test:\nifndef PKG_NAME\n\t$(error no package)\nendif\n\tgo test $(PKG_NAME)\n": `TEST_COMMAND="make test PKG_NAME=..."`,
		"ifndef TARGET\n$(error TARGET is not set)\nendif\ntest:\n\t./run\n":            `TEST_COMMAND="make test TARGET=..."`,
		"test:\n\t./run $(filter-out $@,$(MAKECMDGOALS))\n":                             `make test needs the name of another target; set TEST_COMMAND="make test ..."`,
		"test:\n\t./run $(NAME)\ncheck:\n\t./run all\n":                                 "check: make check",
		"test: ; ./run all\n": "check: make test",
	} {
		w := newInitWorld(t, map[string]string{"Makefile": makefile, "run": ""})
		if err := w.init(initOptions{yes: true}); err != nil || !strings.Contains(w.out.String(), want) {
			t.Errorf("%q: %v, want %q in\n%s", makefile, err, want, w.out.String())
		}
	}
}

func TestInit_settings_showTheDefaultsOfTheTable(t *testing.T) {
	w := newInitWorld(t, nil)
	if err := w.init(initOptions{}); err != nil {
		t.Fatal(err)
	}
	before := w.load()
	w.write(".ralphrc", strings.ReplaceAll(w.read(".ralphrc"), "\n# MAX_", "\nMAX_"))
	after := w.load()
	if after.Source("MAX_ITERATIONS").Kind != config.SourceRC {
		t.Fatal("the comment was not removed")
	}
	if diff := cmp.Diff(before.Options, after.Options); diff != "" {
		t.Error(diff)
	}
}

func TestInit_filesAreThere_areKept(t *testing.T) {
	files := goProject()
	files["prd.json"] = `{"userStories":[]}`
	files[".ralph/AGENT.md"] = "mine"
	w := newInitWorld(t, files)
	if err := w.init(initOptions{}); err != nil {
		t.Fatal(err)
	}
	if w.read(".ralph/AGENT.md") != "mine" || slices.Contains(w.written(), ".ralph/fix_plan.md") {
		t.Errorf("wrote %q", w.written())
	}
	for _, words := range []string{"kept  .ralph/AGENT.md, which exists", "kept  prd.json, which serves as .ralph/fix_plan.md", "edit prd.json"} {
		if !strings.Contains(w.out.String(), words) {
			t.Errorf("does not say %q:\n%s", words, &w.out)
		}
	}
}

func TestInit_everythingIsThere_saysSoAndWritesNothing(t *testing.T) {
	w := newInitWorld(t, goProject())
	if err := w.init(initOptions{}); err != nil {
		t.Fatal(err)
	}
	w.write(".ralphrc", "# mine\n")
	w.out.Reset()
	if err := w.typed("", initOptions{}); err != nil { // it has nothing to ask
		t.Fatal(err)
	}
	if w.read(".ralphrc") != "# mine\n" || !strings.Contains(w.out.String(), "nothing was written") {
		t.Errorf("says %s", &w.out)
	}
}

func TestInit_force_writesOverItsOwnFilesAndHidesNoOther(t *testing.T) {
	files := goProject()
	files[".ralph/PROMPT.md"], files[".ralphrc"], files["fix_plan.md"] = "old", "MODEL=old\nAGENT=codex\nALLOWED_TOOLS=Read\n", "- [ ] mine\n"
	w := newInitWorld(t, files)
	for range 2 {
		if err := w.init(initOptions{force: true}); err != nil {
			t.Fatal(err)
		}
	}
	if w.read(".ralph/PROMPT.md") == "old" || w.read("fix_plan.md") != "- [ ] mine\n" || slices.Contains(w.written(), ".ralph/fix_plan.md") {
		t.Errorf("wrote %q", w.written())
	}
	cfg := w.load()
	if cfg.Agent != "codex" || cfg.Model != "" {
		t.Errorf("agent %q, model %q", cfg.Agent, cfg.Model)
	}
	if diff := cmp.Diff([]string{"Read", "Bash(go:*)", "Bash(gofmt:*)"}, cfg.AllowedTools); diff != "" {
		t.Error(diff)
	}
}

func TestInit_otherFileRunsPrograms_isNotTrusted(t *testing.T) {
	files := goProject()
	files[".ralphrc"], files[".ralph/config.yaml"] = "", "agent:\n  command: ./evil\n"
	w := newInitWorld(t, files)
	if err := w.init(initOptions{force: true}); err != nil {
		t.Fatal(err)
	}
	if u, err := w.Loader(w.Dir, nil).Untrusted(); len(u) != 1 || err != nil || !strings.Contains(u[0].File, "config.yaml") {
		t.Errorf("untrusted: %v, %v", u, err)
	}
}

func TestInit_brokenSettings_areKeptAndReported(t *testing.T) {
	files := goProject()
	files[".ralphrc"] = "rm -rf /\n"
	w := newInitWorld(t, files)
	if err := w.init(initOptions{}); err != nil {
		t.Fatal(err)
	}
	if w.read(".ralphrc") != "rm -rf /\n" || len(w.written()) != 6 {
		t.Errorf("wrote %q", w.written())
	}
}

func TestInit_yesOnTerminal_asksNothing(t *testing.T) {
	w := newInitWorld(t, goProject())
	if err := w.typed("", initOptions{yes: true}); err != nil {
		t.Fatal(err)
	}
	if len(w.written()) != 6 || w.err.Len() > 0 {
		t.Errorf("wrote %q, asked %s", w.written(), &w.err)
	}
}

func TestInit_endOfFileInTheMiddle_writesNothing(t *testing.T) {
	world.Long(t, "a terminal")
	for _, typed := range []string{"\x04", "\n\n\x04", "\n\n\ncodex\x04\x04"} {
		w := newInitWorld(t, goProject())
		err := w.typed(typed, initOptions{})
		if code := cmdline.ExitCode(err); code != state.ExitInterrupted {
			t.Errorf("typed %q: exit code %d", typed, code)
		}
		if len(w.written()) > 0 || err == nil || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("typed %q: wrote %q, %v", typed, w.written(), err)
		}
	}
}

func TestInit_controlC_writesNothing(t *testing.T) {
	w := newInitWorld(t, goProject())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(w.Env, initChild+"="+w.Dir, "PATH="+os.Getenv("PATH"))
	ptmx, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	_ = ptmx.SetReadDeadline(time.Now().Add(time.Minute))
	var screen []byte
	await := func(words string) {
		for chunk := make([]byte, 4096); !bytes.Contains(screen, []byte(words)); {
			n, err := ptmx.Read(chunk)
			screen = append(screen, chunk[:n]...)
			if err != nil {
				_ = cmd.Process.Kill()
				t.Fatalf("%v; the screen shows %q", err, screen)
			}
		}
	}
	await("Project name")
	if _, err := ptmx.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	await("Test command")
	if _, err := ptmx.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v", cmd.ProcessState)
	}
	if len(w.written()) > 0 {
		t.Errorf("wrote %q", w.written())
	}
}

// What ralph would detect without init is in force after it, too.
func TestInit_fastLinterAndTypes_areChecksInTheirOrder(t *testing.T) {
	manifest := `{"scripts": {"build": "true", "typecheck": "true", "test": "true", "lint": "true"}}`
	w := newInitWorld(t, map[string]string{"package.json": manifest, ".oxlintrc.json": "{}", "x.js": ""})
	if err := w.init(initOptions{yes: true}); err != nil {
		t.Fatal(err)
	}
	var got []string
	rows, detected := preflight.New(w.Factory, w.Loader(w.Dir, nil), w.load()).Checks()
	for _, row := range rows {
		got = append(got, row.Name+": "+row.Command)
	}
	want := []string{"lint-fast: npx --no-install oxlint", "build: npm run build", "typecheck: npm run typecheck", "test: npm test", "lint: npm run lint"}
	if detected || !slices.Equal(got, want) {
		t.Errorf("checks %q, detected %t", got, detected)
	}
	if u, err := w.Loader(w.Dir, nil).Untrusted(); u != nil || err != nil {
		t.Errorf("untrusted: %v, %v", u, err)
	}
}

// A command for each kind would replace the checks of all packages.
func TestInit_workspace_leavesAllChecksToDetection(t *testing.T) {
	w := newInitWorld(t, map[string]string{"package.json": `{"workspaces": ["web"], "scripts": {"test": "x"}}`, "web/package.json": `{"scripts": {"test": "y"}}`})
	if err := w.init(initOptions{}); err != nil {
		t.Fatal(err)
	}
	cfg := w.load()
	p := preflight.New(w.Factory, w.Loader(w.Dir, nil), cfg)
	rows, detected := p.Checks()
	left, err := p.UnagreedChecks()
	if len(rows) != 2 || !detected || len(left) > 0 || err != nil {
		t.Errorf("%+v, not agreed to: %v, %v", rows, left, err)
	}
	if text := w.read(".ralph/PROMPT.md"); !strings.Contains(text, "`npm test`, `(cd web && npm test)`") || !strings.Contains(w.out.String(), "check: (cd web && npm test)") {
		t.Errorf("%s\n%s", text, w.out.String())
	}
}
