package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ralph/internal/scripted"
	"ralph/runner/turn"
	"ralph/state"
)

const serveVar = "RALPH_TEST_SERVE" // serve one assignment

// This binary is also the agent, and `ralph turn`.
// seen is what a turn reported and what came of it.
type seen struct {
	Events []state.Event
	Result turn.Result
}

// differ has the fields that differ between two runs of the same assignment.
var differ = []string{"base", "head", "time", "started", "duration_ns", "seconds", "taken_at", "Duration"}

// compare shows how two runs differ, apart from their times and folders.
func compare(t testing.TB, a, b seen, dirs [2]string) string {
	t.Helper()
	normal := func(s seen, dir string) any {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		text := strings.ReplaceAll(string(data), dir, "DIR")
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	ignore := cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return slices.Contains(differ, key) })
	return cmp.Diff(normal(a, dirs[0]), normal(b, dirs[1]), ignore)
}

func here(t testing.TB, a turn.Assignment) seen {
	t.Helper()
	var s seen
	var err error
	w := &turn.Worker{}
	defer w.Close()
	s.Result, err = w.Run(t.Context(), a, func(e state.Event) {
		e.Seq = int64(len(s.Events) + 1)
		s.Events = append(s.Events, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// server is another process that serves one assignment.
type server struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func serve(t testing.TB, a turn.Assignment) *server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveVar+"=1")
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if err := json.NewEncoder(in).Encode(a); err != nil {
		t.Fatal(err)
	}
	return &server{in: in, out: bufio.NewReader(out), cmd: cmd}
}

// read reads to the last line.
func (s *server) read(t testing.TB) seen {
	t.Helper()
	var all seen
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the server ended without a result: %v", err)
		}
		var last answer
		if json.Unmarshal(line, &last) == nil && last.Result != nil {
			all.Result = *last.Result
			return all
		}
		var e state.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, e)
	}
}

// The same scripted agent leaves the same events and the same Result, whether
// the turn runs in this process or in another one.
func TestServe_anyScript_equalsARunInThisProcess(t *testing.T) {
	steps := rapid.SliceOfN(rapid.SampledFrom([]scripted.Step{
		{Do: "say", Text: "working on it"}, {Do: "say", Text: "token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, {Do: "tool", Text: "make"},
		{Do: "write", Text: "code.go"}, {Do: "write", Text: "new.go"}, {Do: "write", Text: "broken"}, {Do: "tick", Text: "one"}, {Do: "tick", Text: "two"},
		{Do: "deny", Text: "rm -rf /"}, {Do: "fail", Text: ""}, {Do: "crash", Text: ""},
		{Do: "final", Text: "done\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n"},
	}), 0, 6)
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("30") // each takes two turns; a fifth of it with -short
		t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
	}
	rapid.Check(t, func(rt *rapid.T) {
		script := steps.Draw(rt, "script")
		first, second := scripted.Project(t, script), scripted.Project(t, script)
		a, b := here(t, first), serve(t, second).read(t)
		if len(a.Events) == 0 {
			rt.Error("no events")
		}
		if diff := compare(t, a, b, [2]string{first.Dir, second.Dir}); diff != "" {
			rt.Errorf("in this process (-) and in another one (+):\n%s", diff)
		}
	})
}

// ralph fails after the call: what the agent did and cost is still reported.
func TestServe_restoringFailsAfterTheCall_resultComesWithTheError(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "run", Text: "rm -r steers && ln -s nowhere/at/all steers"}, {Do: "final", Text: "done"}})
	prompt := filepath.Join(a.Dir, "steers", "prompt.md")
	if err := errors.Join(os.Mkdir(filepath.Dir(prompt), 0o700), os.WriteFile(prompt, []byte("Do it."), 0o600)); err != nil {
		t.Fatal(err)
	}
	a.Protect = []string{prompt}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	in, keep := io.Pipe()
	defer keep.Close()
	go func() { _, _ = keep.Write(data) }()
	var out bytes.Buffer
	w := &turn.Worker{}
	defer w.Close()
	failed := ServeTurn(t.Context(), w, in, &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last answer
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if failed == nil || last.Error == "" || last.Result == nil || !last.Result.Call.Made {
		t.Errorf("failed with %v, the last line is %s", failed, lines[len(lines)-1])
	}
}

func TestServe_inputEnds_theAgentEnds(t *testing.T) {
	for name, last := range map[string]string{"closed": "", "abort": `{"do":"abort"}`, "skip": `{"do":"skip"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := scripted.Project(t, []scripted.Step{{Do: "write", Text: "new.go"}, {Do: "hang", Text: ""}})
			s := serve(t, a)
			waitFor(t, filepath.Join(a.Dir, "started"))
			if last == "" {
				if err := s.in.Close(); err != nil {
					t.Fatal(err)
				}
			} else if _, err := io.WriteString(s.in, last+"\n"); err != nil {
				t.Fatal(err)
			}
			res := s.read(t).Result
			want := state.RequestAbort
			if name == "skip" {
				want = state.RequestSkip
			}
			if res.Cut != want || res.Work.Change.Count == 0 {
				t.Errorf("cut by %q, %d files changed", res.Cut, res.Work.Change.Count)
			}
		})
	}
}

// A newer run may send more.
func TestServe_lineThatIsNoControl_isSkipped(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "hang", Text: ""}})
	s := serve(t, a)
	waitFor(t, filepath.Join(a.Dir, "started"))
	lines := "\n" + `{"do":"resize","rows":70}` + "\nhello\n[1]\n" + `{"do":"dance"}` + "\n" + `{"do":"abort"` + "\n" + `{"do":["abort"]}` +
		"\n" + `{"event":"x"}` + "\n{}}\n" + `{"do":"skip"}`
	if _, err := io.WriteString(s.in, lines+"\n"); err != nil {
		t.Fatal(err)
	}
	if res := s.read(t).Result; res.Cut != state.RequestSkip {
		t.Errorf("cut by %q", res.Cut)
	}
}

func TestServe_controlWithMoreInIt_isFollowed(t *testing.T) {
	a := scripted.Project(t, []scripted.Step{{Do: "hang", Text: ""}})
	s := serve(t, a)
	waitFor(t, filepath.Join(a.Dir, "started"))
	if _, err := io.WriteString(s.in, `{"event":"x","pack":3,"do":"skip"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if res := s.read(t).Result; res.Cut != state.RequestSkip {
		t.Errorf("cut by %q", res.Cut)
	}
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s never came", path)
}

func TestServe_badAssignment_isRefusedInOneLine(t *testing.T) {
	for input, want := range map[string]string{
		``:                                  "read assignment: EOF",
		`{"v":`:                             "read assignment: unexpected EOF",
		`{"v":7,"dir":"/tmp"}`:              "assignment has version 7; this ralph speaks version 1",
		`{"v":2,"dir":["/a"],"task":3}`:     "assignment has version 2; this ralph speaks version 1",
		`{"v":1,"dir":["/a"]}`:              "read assignment: json: cannot unmarshal array into Go struct field Assignment.dir of type string",
		`{"v":"2"}`:                         "read assignment: it has no version (v)",
		`[]`:                                "read assignment: it has no version (v)",
		`{}`:                                "read assignment: it has no version (v)",
		`{"v":1}`:                           "assignment names no folder (dir)",
		`{"v":1,"dir":"/tmp","part":"all"}`: `assignment asks for the unknown part "all"; known: "", "baseline", "check", "ask"`,
		`{"v":1,"dir":"/tmp"}`:              "assignment names no agent (agent.spec.name)",
	} {
		var out bytes.Buffer
		w := &turn.Worker{}
		err := ServeTurn(t.Context(), w, strings.NewReader(input), &out)
		w.Close()
		if bad := (*BadAssignmentError)(nil); !errors.As(err, &bad) || err.Error() != want || out.Len() > 0 {
			t.Errorf(" %s: %v, %q; want %q", input, err, out.String(), want)
		}
	}
}
