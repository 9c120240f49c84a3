package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// probe is an attack that works without a sandbox. A sandbox in which it works, too, is
// named with it: docs/sandbox.md says so.
type probe struct {
	script string
	works  string // the sandbox; empty: none
	net    []string
}

// Each probe is tried without a sandbox first: one that cannot work proves nothing.
func TestEscape_probes(t *testing.T) {
	probes := probesOf(t)
	home, project := home(t)
	for name, c := range probes {
		if ok, out := sh(t, Box{Place: Place{Dir: project}}, home, c.script); !ok {
			t.Errorf("%s does not work without a sandbox: %s", name, out)
		}
	}
	each(t, func(t *testing.T, p profile) {
		for name, c := range probes {
			if ok, out := sh(t, box(t, p.name, project, c.net...), home, c.script); ok != (c.works == p.name) {
				t.Errorf("%s: works %v\n%s", name, ok, out)
			}
		}
	})
}

func probesOf(t *testing.T) map[string]probe {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	none := []string{netNone}
	connect := func(path string) string {
		return fmt.Sprintf(`%s -e "require('net').connect({path:'%s'}).on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))"`, filepath.Base(node), path)
	}
	tcp := func(host string) string {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return fmt.Sprintf("exec 3<>/dev/tcp/%s/%d", host, l.Addr().(*net.TCPAddr).Port)
	}
	listen := func(path string) string {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if path[0] == '@' { // Node.js would fill the name up with zeros
			return fmt.Sprintf(`perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,pack("Sa*",AF_UNIX,"\0%s")) or exit 1'`, path[1:])
		}
		return connect(path)
	}
	// Where the Docker socket and D-Bus are, and below it, for tests that run side by side.
	run, err := os.MkdirTemp("/run", "ralph-escape-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	self := os.Getpid()
	probes := map[string]probe{
		"IPv4":                     {script: tcp("127.0.0.1"), net: none},
		"IPv6":                     {script: tcp("::1"), net: none},
		"IPv4 without proxy vars":  {script: `env -i PATH="$PATH" bash -c '` + tcp("127.0.0.1") + `'`, net: none},
		"the Docker socket":        {script: listen(filepath.Join(run, "docker.sock")), works: "landlock", net: none},
		"D-Bus":                    {script: listen(filepath.Join(run, "bus")), works: "landlock", net: none},
		"a socket in /tmp":         {script: listen(fmt.Sprintf("/tmp/ralph-escape-%d.sock", self)), works: "landlock", net: none},
		"an abstract socket":       {script: listen(fmt.Sprintf("@ralph-escape-probe-%d", self)), net: none},
		"the environment of ralph": {script: fmt.Sprintf("tr '\\0' '\\n' < /proc/%d/environ | grep -q =", self)},
		"the memory of ralph":      {script: fmt.Sprintf("grep -q . /proc/%d/maps", self)},
		"the files of ralph":       {script: fmt.Sprintf("test -e /proc/%d/root/etc/passwd && ls /proc/%[1]d/fd | grep -q .", self)},
		"a signal to ralph":        {script: fmt.Sprintf("kill -0 %d", self)},
	}
	if os.Geteuid() == 0 { // which needs no capability for that
		const setting = "/proc/sys/vm/swappiness"
		probes["settings of the kernel"] = probe{script: "v=$(cat " + setting + ") && echo $v > " + setting}
	}
	withPrograms(t, probes)
	return probes
}

// withPrograms adds probes that need programs of their own.
func withPrograms(t *testing.T, probes map[string]probe) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err == nil {
		name := fmt.Sprintf("ralph-escape-%d", os.Getpid())
		tmux := func(args ...string) error {
			cmd := exec.Command("tmux", append([]string{"-L", name, "-f", os.DevNull}, args...)...)
			cmd.Env = append(os.Environ(), "TMUX_TMPDIR=/tmp")
			return cmd.Run()
		}
		if err := tmux("new-session", "-d"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tmux("kill-server") })
		probes["the tmux server"] = probe{script: "TMUX_TMPDIR=/tmp tmux -L " + name + " list-sessions", works: "landlock", net: []string{netNone}}
	}
	if _, err := exec.LookPath("strace"); err == nil {
		victim := exec.Command("sleep", "600")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
		probes["ptrace"] = probe{script: fmt.Sprintf("timeout 1 strace -o /dev/null -p %d; test $? = 124", victim.Process.Pid)}
	}
}
