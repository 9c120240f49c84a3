// Command bench measures what ralph itself costs and prints it as a table,
// each figure beside what it is compared with in the same run.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

func main() {
	if os.Getenv(fakeVar) != "" {
		fakeAgent()
		return
	}
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is one line of the table.
type row struct{ what, ralph, against, ratio string }

type bencher struct {
	dir  string // scratch
	bin  string // folder of the programs
	rows []row
}

func bench() error {
	dir, err := os.MkdirTemp("", "ralph-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bencher{dir: dir, bin: filepath.Join(dir, "bin")}
	if out, err := exec.Command("go", "build", "-trimpath", "-o", b.bin+"/", "./cmd/...").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	for _, step := range []func() error{b.startup, b.gapInGit, b.gapOutside, b.flood, b.many} {
		if err := step(); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "what\tralph\tagainst\tratio")
	for _, r := range b.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.what, r.ralph, r.against, r.ratio)
	}
	return w.Flush()
}

func (b *bencher) add(what string, ours, theirs time.Duration, theirName string) {
	b.rows = append(b.rows, row{what, ms(ours), ms(theirs) + " " + theirName, fmt.Sprintf("%.2f", float64(ours)/float64(theirs))})
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// timed is the median of n runs of a command.
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
	for _, c := range [][]string{{"ralph", "--version"}, {"ralph-status"}} {
		t, err := timed(50, project, filepath.Join(b.bin, c[0]), c[1:]...)
		if err != nil {
			return err
		}
		b.add("start: "+strings.Join(c, " "), t, bare, "/bin/true")
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
	for path, text := range map[string]string{".ralph/PROMPT.md": "Do it.\n", ".ralph/fix_plan.md": "- [ ] one\n- [ ] two\n"} {
		if err := write(filepath.Join(dir, path), text); err != nil {
			return "", err
		}
	}
	if !git {
		return dir, nil
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "files"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	// Files as young as the index are read again by every git status, as in no
	// repository that is older than a second.
	time.Sleep(1100 * time.Millisecond)
	_, err := timed(1, dir, "git", "status")
	return dir, err
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// command is a run of n iterations with the fake agent.
func (b *bencher) command(project string, n int, env ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(b.bin, "ralph"), "--headless", "--calls=1000000", "--max-iterations="+strconv.Itoa(n))
	self, _ := os.Executable()
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "CLAUDE_CODE_CMD="+self, fakeVar+"="+filepath.Join(project, ".ralph", "times"),
		"HOME="+b.dir, "XDG_STATE_HOME="+b.dir)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func (b *bencher) run(project string, n int, env ...string) error {
	out, err := b.command(project, n, env...).CombinedOutput()
	if e := (*exec.ExitError)(nil); err != nil && (!asExit(err, &e) || e.ExitCode() != 4) {
		return fmt.Errorf("run: %w\n%s", err, out)
	}
	return nil
}

func asExit(err error, e **exec.ExitError) bool {
	x, ok := err.(*exec.ExitError) //nolint:errorlint // straight from exec
	*e = x
	return ok
}

// gaps are the times between one agent's last act and the next one's first.
func gaps(project string) ([]time.Duration, error) {
	data, err := os.ReadFile(filepath.Join(project, ".ralph", "times"))
	if err != nil {
		return nil, err
	}
	var all []time.Duration
	var ended int64
	for line := range strings.Lines(string(data)) {
		var from, to int64
		if _, err := fmt.Sscan(line, &from, &to); err != nil {
			return nil, err
		}
		if ended > 0 {
			all = append(all, time.Duration(from-ended))
		}
		ended = to
	}
	return all, nil
}

// bareStart is how long a program of this kind takes from fork to main: the
// agent's own part of a gap.
func (b *bencher) bareStart() (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	scratch := filepath.Join(b.dir, "bare")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return 0, err
	}
	times := filepath.Join(scratch, "times")
	var all []time.Duration
	for range 50 {
		_ = os.Remove(times)
		cmd := exec.Command(self)
		cmd.Dir = scratch
		cmd.Env = append(os.Environ(), fakeVar+"="+times)
		start := time.Now().UnixNano()
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		data, err := os.ReadFile(times)
		if err != nil {
			return 0, err
		}
		var from int64
		if _, err := fmt.Sscan(string(data), &from); err != nil {
			return 0, err
		}
		all = append(all, time.Duration(from-start))
	}
	return median(all), nil
}

func (b *bencher) gap(name string, files int, git bool) (time.Duration, string, error) {
	project, err := b.project(name, files, git)
	if err != nil {
		return 0, "", err
	}
	if err := b.run(project, 41, workVar+"=300ms"); err != nil {
		return 0, "", err
	}
	all, err := gaps(project)
	if err != nil {
		return 0, "", err
	}
	start, err := b.bareStart()
	return median(all) - start, project, err
}

func (b *bencher) gapInGit() error {
	gap, project, err := b.gap("git", 2000, true)
	if err != nil {
		return err
	}
	status, err := timed(50, project, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	b.add("between two agents, 2,000 files in git", gap, status, "git status --porcelain")
	b.rows = append(b.rows, row{"  beyond git status (bound: 5 ms)", ms(gap - status), "", ""})
	return nil
}

func (b *bencher) gapOutside() error {
	gap, _, err := b.gap("plain", 20, false)
	if err != nil {
		return err
	}
	b.add("between two agents, outside git", gap, 5*time.Millisecond, "bound")
	return nil
}

const floodBytes = 1 << 30

func (b *bencher) flood() error {
	bare, err := b.bareFlood()
	if err != nil {
		return err
	}
	project, err := b.project("flood", 0, false)
	if err != nil {
		return err
	}
	cmd := b.command(project, 1, floodVar+"=1")
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	peak := watchMemory(cmd.Process.Pid)
	_ = cmd.Wait() // ends with the ceiling
	took := time.Since(start)
	kib := <-peak
	b.rows = append(b.rows,
		row{"1 GiB of stream-json through the loop", rate(took), rate(bare) + " bare pty reader", fmt.Sprintf("%.2f", float64(bare)/float64(took))},
		row{"  peak memory of ralph", fmt.Sprintf("%d MiB", kib>>10), "40 MiB bound", fmt.Sprintf("%.2f", float64(kib>>10)/40)})
	return nil
}

func rate(d time.Duration) string { return fmt.Sprintf("%.0f MB/s", floodBytes/d.Seconds()/1e6) }

// bareFlood reads the same flood from a raw pty and does nothing with it.
func (b *bencher) bareFlood() (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), fakeVar+"="+filepath.Join(b.dir, "flood-times"), floodVar+"=1")
	master, tty, err := pty.Open()
	if err != nil {
		return 0, err
	}
	defer master.Close()
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr = tty, tty
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_ = tty.Close()
	_, _ = io.CopyBuffer(onlyWriter{io.Discard}, master, make([]byte, 256<<10)) // ends with EIO
	took := time.Since(start)
	return took, cmd.Wait()
}

// onlyWriter hides io.Discard's own ReadFrom, which would choose its buffer.
type onlyWriter struct{ io.Writer }

// watchMemory samples the resident set of a process until it ends and gives
// the largest, in KiB.
func watchMemory(pid int) <-chan int {
	peak := make(chan int, 1)
	go func() {
		most := 0
		for {
			kib := resident(pid)
			if kib == 0 {
				peak <- most
				return
			}
			most = max(most, kib)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return peak
}

// resident is VmRSS in KiB; 0 once the process has ended.
func resident(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, _ := strconv.Atoi(string(bytes.Fields(rest)[0]))
			return n
		}
	}
	return 0
}
