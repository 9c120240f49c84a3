package runner

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ralph/runner/gate"
	"ralph/runner/turn"
	"ralph/state"
)

// patchVar names the folder with what the fake agent "patches" writes, by call.
const patchVar = "RALPH_TEST_PATCH"

var caseFakes = map[string]func(*fake) int{
	"patches": func(f *fake) int {
		this := filepath.Join(os.Getenv(patchVar), fmt.Sprint(f.call))
		for name := range strings.Lines(read1(this + ".delete")) {
			_ = os.Remove(strings.TrimSpace(name))
		}
		if _, err := os.Stat(this); err == nil {
			if out, err := exec.Command("cp", "-R", this+"/.", ".").CombinedOutput(); err != nil {
				panic(string(out))
			}
		}
		if read1(filepath.Join(this, planName)) == "" {
			put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
		}
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
}

// proofCase is one case of testdata/*.txtar; the head of proof.txtar describes the parts.
type proofCase struct {
	check, want string
	missed      string            // why a cheat is not found
	base        string            // name of what has the files and the check that are not given
	files       map[string]string // below 0/, 1/, ...
}

func proofCases(t *testing.T) map[string]proofCase {
	var files []txtar.File
	for _, name := range glob("testdata/*.txtar") {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, archive.Files...)
	}
	all := map[string]proofCase{}
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			t.Fatalf("%s is given twice", f.Name)
		}
		seen[f.Name] = true
		part := strings.SplitN(f.Name, "/", 3)
		name, text := part[0]+"/"+part[1], string(f.Data)
		c, known := all[name]
		if !known {
			c.files = map[string]string{}
		}
		switch part[2] {
		case "base":
			c.base = strings.TrimSpace(text)
		case "check":
			c.check = strings.TrimSpace(text)
		case "want":
			c.want = strings.Join(strings.Fields(text), " ")
		case "missed":
			c.missed = strings.TrimSpace(text)
		default:
			c.files[part[2]] = text
		}
		all[name] = c
	}
	for name, c := range all {
		base, ok := all["base/"+c.base]
		if !ok {
			continue
		}
		for path, text := range base.files {
			if _, own := c.files[path]; !own {
				c.files[path] = text
			}
		}
		c.check = cmp.Or(c.check, base.check)
		all[name] = c
	}
	maps.DeleteFunc(all, func(name string, _ proofCase) bool { return strings.HasPrefix(name, "base/") })
	return all
}

// An honest change ends with exit code 0, a cheat never does unless its data says why it is missed.
func TestRun_cheatsAndHonestChanges(t *testing.T) {
	cases := proofCases(t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			tool, _, _ := strings.Cut(c.check, " ")
			if testing.Short() && tool != "" {
				t.Skipf("long: a project that really uses %s", tool)
			}
			t.Parallel()
			b := newBench(t, "patches")
			patches := t.TempDir()
			for path, text := range c.files {
				if file, ok := strings.CutPrefix(path, "0/"); ok {
					b.write(file, text)
					continue
				}
				path = filepath.Join(patches, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				put(path, text)
			}
			b.d.Plan = filepath.Join(b.dir, planName)
			b.d.Env = append(b.d.Env, patchVar+"="+patches)
			if tool != "" {
				b.d.Env = append(b.d.Env, toolEnv(t, tool)...)
				b.d.Checks, b.d.Mode = []gate.Check{{Name: "test", Command: c.check}}, gate.ModeTDD
			}
			b.o.AntiCheat, b.o.OptionalSections, b.o.MaxIterations = turn.AnswerRevert, []string{"Optional"}, 6
			b.inGit()
			r := b.run(t.Context())
			var left []string
			for _, item := range r.Decision.Review {
				left = append(left, item.Name)
			}
			slices.Sort(left)
			exit := state.ExitReview
			if strings.HasPrefix(name, "honest/") || c.missed != "" {
				exit = state.ExitComplete // a cheat that is found now does not end so: delete its part "missed"
			}
			if exit == state.ExitReview && r.Decision.Exit == state.ExitClaimed && r.Done < r.Total {
				return // the task is open, and the agent was told why
			}
			if r.Decision.Exit != exit || !slices.Contains(append(left, ""), c.want) {
				t.Errorf("exit %d, to look at: %q, want %d %q\n%s\n%s", r.Decision.Exit, left, exit, c.want, r.Decision.Reason, b.said())
			}
		})
	}
}

// toolEnv lets a tool find its files, and keeps what it writes in the test's folder.
func toolEnv(t *testing.T, tool string) []string {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("no %s here", tool)
	}
	// With the flags of these tests, the standard library is compiled already.
	env := []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "npm_config_update_notifier=false"}
	cache, _ := os.UserCacheDir()
	home, _ := os.UserHomeDir()
	for name, other := range map[string]string{"GOCACHE": filepath.Join(cache, "go-build"), "RUSTUP_HOME": filepath.Join(home, ".rustup"),
		"PYENV_ROOT": filepath.Join(home, ".pyenv"), "CGO_ENABLED": ""} {
		if v := os.Getenv(name); v != "" {
			other = v
		}
		env = append(env, name+"="+other)
	}
	return env
}
