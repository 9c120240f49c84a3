// Command bench measures what ralph itself costs. Next to each figure it prints the
// bound, and what the same run compares the figure with:
//
//	go run ./internal/bench [quick] [start] [git] [plain] [flood] [records] [reading] [many] [plan] [folder] [slots] [hook] [viewers]
//
// quick measures less often, and leaves out what takes longest; it says what.
//
// A missed bound is listed at the end but is not a failure: other work on the machine
// affects every figure.
//
// Why some bounds are missed:
//
//   - start: an empty Go program took 2.1 ms, ralph status 5.1 ms. The inits of all packages take about half
//     of the difference. Two thirds of what they allocate are tcell's tables of terminals and character sets:
//     without the monitor, ralph version took 0.4 ms less. Only a separate program for the monitor would save that.
//   - between two agents: one git status, two rounds of files that must be on disk (what the last call
//     cost and showed, then the call that begins), and three processes: the agent, its guard and git. The first
//     round goes on while the next turn is prepared. Six files are made on the way. On an ext4 without a journal a
//     new file took 0.05 ms, and up to 1.3 ms where many were deleted in the minutes before.
//   - flood: a pty passes 4 KiB at a time, and each time the kernel wakes up the reader, and the reader the kernel.
//     That wait is most of the time: half of both processors stays idle with a reader that does nothing else.
//     What ralph does with the output costs little, as long as one goroutine reads and decodes: to pass it to another
//     one for each 4 KiB is one more wait. Looking for secrets took 1.5 to 2 ns a byte, a sixth of what the pty
//     takes to deliver it.
//   - records: what an agent prints that works comes in many small records. Reading one, and hiding its secrets, costs
//     more than the pty takes to deliver it; the rest of the run waits for one processor at most.
//   - folder: stat, open, read and close of 20,000 files took the kernel 190 ms on two processors. Parsing
//     them, with what Go allocates for it, took about as long.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if os.Getenv(fakeVar) != "" {
		fakeAgent()
		return
	}
	run := func() error { return bench(os.Args[1:], os.Stdout) }
	if os.Getenv(peakVar) != "" {
		run = func() error { return printPeak(os.Args[1:]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// figure is one line of the table.
type figure struct {
	what, measured, against, bound string
	missed                         bool
}

type bencher struct {
	dir     string // scratch
	bin     string // folder of the programs
	quick   bool   // a look in a minute
	out     io.Writer
	figures []figure
}

// part is a group of figures that can be measured alone.
type part struct {
	name string
	run  func(*bencher) error
	slow bool // quick leaves it out
}

// parts are listed in the order in which they run.
var parts = []part{
	{"start", (*bencher).startup, false}, {"git", (*bencher).gapInGit, false}, {"plain", (*bencher).gapOutside, false},
	{"flood", (*bencher).flood, false}, {"records", (*bencher).records, false}, {"reading", (*bencher).reading, false},
	{"many", (*bencher).many, true}, {"plan", (*bencher).plan, true}, {"folder", (*bencher).folders, true},
	{"slots", (*bencher).slots, true}, {"hook", (*bencher).hook, false}, {"viewers", (*bencher).viewers, true},
}

func bench(only []string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "ralph-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bencher{dir: dir, bin: filepath.Join(dir, "bin"), out: out, quick: slices.Contains(only, "quick")}
	only = slices.DeleteFunc(slices.Clone(only), func(name string) bool { return name == "quick" })
	build := exec.Command("go", "build", "-trimpath", "-o", b.bin+"/", "./cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	fmt.Fprintf(out, "%d processors, load %s before\n", runtime.NumCPU(), load())
	var known, left []string
	for _, p := range parts {
		if known = append(known, p.name); b.quick && p.slow && len(only) == 0 {
			left = append(left, p.name)
		}
	}
	for _, name := range only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown part %q; known: quick, %s", name, strings.Join(known, ", "))
		}
	}
	for _, p := range parts {
		if len(only) > 0 && !slices.Contains(only, p.name) || slices.Contains(left, p.name) {
			continue
		}
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if len(left) > 0 {
		fmt.Fprintln(out, "left out:", strings.Join(left, ", "))
	}
	b.print(out)
	return nil
}

// print names the figures that miss their bound.
func (b *bencher) print(out io.Writer) {
	kept := true
	for _, f := range b.figures {
		if f.missed {
			kept = false
			fmt.Fprintf(out, "MISSED: %s: %s, bound %s\n", f.what, f.measured, f.bound)
		}
	}
	if kept {
		fmt.Fprintln(out, "all bounds kept")
	}
}

// add prints a figure at once: all of them take minutes.
func (b *bencher) add(f figure) {
	b.figures = append(b.figures, f)
	verdict := "kept"
	if f.missed {
		verdict = "MISSED"
	}
	fmt.Fprintf(b.out, "%-48s  %-22s  %-34s  %-28s  %s\n", f.what, f.measured, f.against, f.bound, verdict)
}

// load returns the machine's load average of the last minute; "unknown" outside Linux.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// timed returns the median of n runs of a command.
func timed(n int, dir, name string, args ...string) (time.Duration, error) {
	var all []time.Duration
	for range n {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState == nil {
			return 0, fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		all = append(all, time.Since(start))
	}
	return median(all), nil
}

const startBound = 5 * time.Millisecond

func (b *bencher) startup() error {
	project, err := b.project("startup", 0, false)
	if err != nil {
		return err
	}
	if err := b.run(project, 1); err != nil {
		return err
	}
	bare, err := timed(50, project, "/bin/true")
	if err != nil {
		return err
	}
	for _, c := range [][]string{{"ralph", "--version"}, {"ralph", "status"}} {
		t, err := timed(50, project, filepath.Join(b.bin, c[0]), c[1:]...)
		if err != nil {
			return err
		}
		b.add(figure{"start of " + strings.Join(c, " "), ms(t), "/bin/true " + ms(bare), "under " + ms(startBound),
			t >= startBound})
	}
	return nil
}

// project makes a folder with n committed files and a plan that never ends.
func (b *bencher) project(name string, n int, git bool) (string, error) {
	dir := filepath.Join(b.dir, name)
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("pkg%02d", i%50), fmt.Sprintf("file%04d.txt", i))
		if err := write(path, strings.Repeat(path+"\n", 20)); err != nil {
			return "", err
		}
	}
	for path, text := range map[string]string{".ralph/PROMPT.md": "Do it.\n",
		".ralph/fix_plan.md": "- [ ] one\n- [ ] two\n"} {
		if err := write(filepath.Join(dir, path), text); err != nil {
			return "", err
		}
	}
	if !git {
		return dir, nil
	}
	return dir, commit(dir)
}

// commit makes a git project of a folder.
func commit(dir string) error {
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "files"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	// git status reads files again that are as young as the index. Real repositories are
	// older than a second.
	time.Sleep(1100 * time.Millisecond)
	_, err := timed(1, dir, "git", "status")
	return err
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// command returns a run of n iterations with the fake agent.
func (b *bencher) command(project string, n int, env ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(b.bin, "ralph"), "--headless", "--calls=1000000",
		"--max-iterations="+strconv.Itoa(n))
	self, _ := os.Executable()
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "CLAUDE_CODE_CMD="+self, "MAX_ITERATIONS_PER_TASK=0", "COOLDOWN_ON_ERROR=0s",
		fakeVar+"="+filepath.Join(project, ".ralph", "times"),
		"HOME="+b.dir, "XDG_STATE_HOME="+b.dir)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// ceiling is the exit code of a run that used all its iterations.
const ceiling = 4

func (b *bencher) run(project string, n int, env ...string) error {
	out, err := b.command(project, n, env...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != ceiling) {
		return fmt.Errorf("run: %w\n%s", err, out)
	}
	return nil
}
