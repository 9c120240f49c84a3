package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
)

// bounds are what a sandbox may add to one call, in milliseconds. A container has none.
func bounds() map[string]float64 { return map[string]float64{"landlock": 2, "bwrap": 15, bare: 15} }

// bare is bubblewrap with nothing to bind but the root: what ralph cannot save.
const bare = "bare bwrap"

// BenchmarkCall measures what a sandbox adds to one call: to the time that passes, and to the time of processors, which
// other programs on a busy machine do not disturb as much.
func BenchmarkCall(b *testing.B) {
	calls := calls(b)
	var spare ptyexec.Spare
	defer spare.Close()
	took, spent := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for name, wrap := range calls {
			before, begun := processors(b), time.Now()
			c, err := wrap()
			if c.Spare = &spare; err == nil {
				_, err = ptyexec.Run(b.Context(), c, func([]byte) bool { return false })
			}
			if err != nil {
				b.Fatal(err)
			}
			took[name] = append(took[name], time.Since(begun))
			time.Sleep(200 * time.Millisecond) // the next guard starts meanwhile, as it does during a call
			spent[name] = append(spent[name], processors(b)-before)
		}
	}
	ms := func(of map[string][]time.Duration, name string, pick func([]time.Duration) time.Duration) float64 {
		return float64(pick(of[name]).Microseconds()) / 1000
	}
	b.Logf("no sandbox: %.1f ms of processors", ms(spent, Off, median))
	for _, name := range []string{"landlock", "bwrap", bare} {
		if len(took[name]) == 0 {
			continue
		}
		more := func(of map[string][]time.Duration, pick func([]time.Duration) time.Duration) float64 {
			return ms(of, name, pick) - ms(of, Off, pick)
		}
		b.Logf("%s adds %.1f ms, at least %.1f; %.1f ms of processors, at least %.1f; bound %.0f ms", name, more(took, median),
			more(took, slices.Min), more(spent, median), more(spent, slices.Min), bounds()[name])
		unit := strings.ReplaceAll(name, " ", "-")
		b.ReportMetric(more(took, median), unit+"-ms-more")
		b.ReportMetric(more(took, slices.Min), unit+"-least-ms-more")
		b.ReportMetric(more(spent, median), unit+"-cpu-ms-more")
	}
}

// calls are one command without a sandbox, and in each that works here.
func calls(b *testing.B) map[string]func() (ptyexec.Command, error) {
	b.Helper()
	home, project := desktop(b)
	program := ptyexec.Command{Args: []string{"true"}, Dir: project,
		Env: append(os.Environ(), "HOME="+home, "TMPDIR="+filepath.Join(home, "src"))}
	all := map[string]func() (ptyexec.Command, error){Off: func() (ptyexec.Command, error) { return program, nil }}
	for _, p := range profiles() {
		s := Settings{Sandbox: p.name}
		if s.InContainer() || p.works(s) != nil {
			continue
		}
		here, err := s.At(project, names())
		if err != nil {
			b.Fatal(err)
		}
		box := here.Box(project, "")
		box.Agent = agent.Variables{State: []string{".ours/"}, Fixed: []string{".ours/settings.json"}}
		all[p.name] = func() (ptyexec.Command, error) { return box.Wrap(program) }
		if p.name == bwrapProgram {
			alone := program
			alone.Args = []string{bwrapProgram, "--die-with-parent", "--cap-drop", "ALL", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
				"--unshare-cgroup-try", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"}
			all[bare] = func() (ptyexec.Command, error) { return alone, nil }
		}
	}
	return all
}

// desktop is a home folder of somebody who has used it for years, with a repository in it.
func desktop(b *testing.B) (home, project string) {
	b.Helper()
	// Not below the folder for temporary files: nobody's home is, and each entry beside it is a rule of landlock.
	home, err := filepath.Abs(filepath.Join("..", "..", ".cache"))
	if err == nil {
		err = os.MkdirAll(home, 0o755)
	}
	if err == nil {
		home, err = os.MkdirTemp(home, "home-")
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(home) })
	project = filepath.Join(home, "src", "project")
	made := []string{".ssh/id", ".aws/credentials", ".gnupg/trust", ".kube/config", ".netrc", ".bash_history", ".viminfo", ".mozilla/profiles.ini",
		".config/gh/hosts.yml", ".config/google-chrome/Login", ".docker/config.json", ".local/share/keyrings/login", ".theirs/login", ".ours/login"}
	for dir, entries := range map[string]int{"": 40, ".config": 60, ".local/share": 60, "src": 20} {
		for i := range entries {
			made = append(made, fmt.Sprintf("%s/entry%d/file", dir, i))
		}
	}
	for _, name := range made {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return home, project
}

func median(all []time.Duration) time.Duration { return slices.Sorted(slices.Values(all))[len(all)/2] }

// processors is the time that this process and those that it has waited for have spent.
func processors(b *testing.B) (sum time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}
