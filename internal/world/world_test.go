//go:build linux

package world

import (
	"os"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// The tests that demand that nothing is left are worth as much as this.
func TestLiving_processesOfEveryKind_areFoundUntilTheyEnd(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		count  int
	}{
		"with a child":              {"sleep 60 & wait", 2},
		"with its folder elsewhere": {"cd /; exec sleep 60", 1},
		"without its environment":   {"exec env -i sleep 60", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(t, "")
			w.Begin("- [ ] a task\n")
			p := w.Prepare("sh", "-c", c.script)
			p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			p.Launch()
			w.Until("all are seen", func() bool { return len(w.Living()) == c.count })
			w.Do(syscall.Kill(-p.Process.Pid, syscall.SIGKILL))
			if code := p.Wait(Patience); code != 128+9 {
				t.Errorf("ended with %d", code)
			}
			w.NoneLeft(Patience)
		})
	}
}

func TestSet_twice_theLastCounts(t *testing.T) {
	w := New(t, "")
	w.Do(os.MkdirAll(w.Dir, 0o755))
	w.Set("HOW_MANY", "one")
	w.Set("HOW_MANY", "two")
	w.Unset("LANG")
	if out, code := w.Run("sh", "-c", "echo $HOW_MANY $LANG; exit 3"); out != "two\n" || code != 3 {
		t.Errorf("%q, %d", out, code)
	}
}
