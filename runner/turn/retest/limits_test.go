package retest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/audit/mutate"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
)

// below is a probe of a project in a folder of a repository.
func below(t *testing.T) (*probe, world.Folder) {
	t.Helper()
	p := world.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "repo")}
	p.Write("shop/src/cart.py", "def total(a):\n    return a\n")
	p.Write("other/cart.py", "")
	p.Git("init", "-q")
	return &probe{p: turn.Proven{Assignment: turn.Assignment{Dir: p.Path("shop")}}}, p
}

func TestSources_projectInAFolder_havePathsOfTheRepository(t *testing.T) {
	x, p := below(t)
	p.Do(os.Symlink("/etc/hosts", p.Path("shop/src/link.py")))
	p.Write("shop/large.py", "")
	p.Do(os.Truncate(p.Path("shop/large.py"), maxTests+1))
	all, err := x.sources(t.Context())
	if _, ok := all["shop/src/cart.py"]; err != nil || !ok || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

func TestNames_scriptOfACheck(t *testing.T) {
	x, _ := below(t)
	for _, c := range []gate.Check{{Command: "./check.sh"}, {Command: "sh check.sh -v"}, {Command: "bash ../check.sh", Dir: "src"}} {
		if !x.names(c, "shop/check.sh") || x.names(c, "check.sh") {
			t.Error(c)
		}
	}
}

// Methods of one name that follow each other may have more mutants than one function.
func TestTested_firstFunctionsInLinesThatChanged(t *testing.T) {
	s := mutate.Sources{"a.py": "def other(a):\n    b = a + 1\n    return b\n\n\ndef total(a):\n    b = a + 1\n    return b\n\n\ndef total(a):\n    c = a + 2\n    return c\n",
		"b.py": "def far(a):\n    b = a + 1\n    return b\n", "c.py": "def none(a):\n    b = a + 1\n    return b\n"}
	u := undo{files: []git.Text{{Path: "test_a.py", Before: "other(1)\ntotal(1)", After: "other(1)", Existed: true, Exists: true}}}
	var got []string
	for _, m := range tested(s, u, []string{"far(1)"}) {
		got = append(got, m.Func)
	}
	if d := cmp.Diff([]string{"total", "total", "total", "total"}, got); d != "" {
		t.Error(d)
	}
	u.files[0].Before = "other(1)\n"
	got = nil
	for _, m := range tested(s, u, []string{"far(1)"}) {
		got = append(got, m.Func)
	}
	if d := cmp.Diff([]string{"other", "other", "far", "far"}, got); d != "" {
		t.Error(d)
	}
}

// A sandbox that may reach some hosts cannot run any check without its route.
func TestContain_sandboxWithHosts_keepsItsRoute(t *testing.T) {
	route := sandbox.Route{Hub: "/bin/ralph-hub", Socket: "/tmp/s"}
	x := &probe{suite: &gate.Suite{Place: gate.Place{Box: sandbox.Box{Route: route}}}, copied: &replica.Replica{Dir: t.TempDir()}}
	if err := x.contain(sandbox.Settings{Sandbox: "bwrap", SandboxNet: []string{"example.com"}}); err != nil || x.suite.Place.Box.Route != route {
		t.Error(err, x.suite.Place.Box.Route)
	}
}
