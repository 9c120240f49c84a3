package retest

import (
	"path/filepath"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
)

func TestIsScript_projectInAFolderOfItsRepository(t *testing.T) {
	p := world.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "repo")}
	p.Write("shop/src/cart.py", "def total(a):\n    return a\n")
	p.Write("other/cart.py", "")
	p.Git("init", "-q")
	for _, c := range []gate.Check{{Command: "./check.sh"}, {Command: "sh check.sh -v"}, {Command: "bash ../check.sh", Dir: "src"}} {
		if dir := p.Path("shop"); !isScript(dir, c, "shop/check.sh") || isScript(dir, c, "check.sh") {
			t.Error(c)
		}
	}
}

// A sandbox that may reach some hosts cannot run any check without its route.
func TestContain_sandboxWithHosts_keepsItsRoute(t *testing.T) {
	route := sandbox.Route{Hub: "/bin/ralph-hub", Socket: "/tmp/s"}
	x := &probe{suite: &gate.Suite{Place: gate.Place{Box: sandbox.Box{Route: route, Settings: sandbox.Settings{Sandbox: "bwrap", SandboxNet: []string{"example.com"}}}}}, copied: &replica.Replica{Dir: t.TempDir()}}
	if err := x.contain(); err != nil || x.suite.Place.Box.Route != route {
		t.Error(err, x.suite.Place.Box.Route)
	}
}
