package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"ralph/internal/scripted"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	if os.Getenv(serveVar) != "" {
		_ = os.Unsetenv(serveVar) // not for the agent
		w := &turn.Worker{}
		defer w.Close()
		if err := ServeTurn(context.Background(), w, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	scripted.Main()
	os.Exit(world.GitMain(m))
}

const version = "1.4.0"

// repository makes a git repository with one commit.
func repository(t *testing.T) world.Folder {
	t.Helper()
	f := world.Folder{TB: t, Dir: t.TempDir()}
	f.Git("init", "--quiet")
	f.Write("a", "1\n")
	f.Commit("first")
	return f
}

// saying is the way to a worker that says these lines, whatever it hears.
func saying(t *testing.T, f world.Folder, lines ...any) Trip {
	t.Helper()
	var text strings.Builder
	for _, l := range lines {
		if said, ok := l.(string); ok {
			text.WriteString(said + "\n")
			continue
		}
		f.Do(NewWriter(&text).Send(l.(Line)))
	}
	script := filepath.Join(t.TempDir(), "lines")
	f.Do(os.WriteFile(script, []byte(text.String()), 0o600))
	return Trip{Args: []string{"/bin/sh", "-c", `cat "$0"; cat >/dev/null`, script}, Ralph: version, Repo: "p-1", Root: f.Dir, Temp: t.TempDir()}
}

func hello() Line { return Line{Hello: &Hello{Protocol: Protocol, Ralph: version, Host: "build1"}} }

func told(p state.Payload) Line {
	e := state.NewEvent(state.Origin{Run: "other", Iteration: 9, Task: "t9", Host: "evil"}, time.Unix(1, 0), p)
	e.Seq = 77
	return Line{Event: &e}
}

func assignment() turn.Assignment {
	return turn.Assignment{V: turn.Version, Origin: state.Origin{Run: "run-1", Host: "here", Iteration: 1, Task: "t1", Role: "developer"},
		Task: task.Task{ID: "t1", Title: "one"}, Agent: turn.Agent{Spec: agent.Spec{Name: "claude"}},
		Checks: turn.Checks{Rows: []gate.Check{{Name: "test", Command: "make test"}}}}
}

func TestSend_aWorkerThatLies_cannotSpeakForTheRun(t *testing.T) {
	f := repository(t)
	forged := []state.Payload{state.RunEnd{}, state.RunStart{}, state.IterationEnd{}, state.Decision{}, state.TaskChange{},
		state.Verdict{}, state.Question{}, state.Answer{}, state.Hook{}, state.Commit{}, state.Feedback{}, state.AgentChange{},
		state.Phase{Name: state.PhaseHook}, state.Finding{Source: "qa", Text: "looks fine"}}
	lines := []any{"Welcome to build1!", hello(), told(state.Text{Text: "at work"})}
	for _, p := range forged {
		lines = append(lines, told(p))
	}
	res := turn.Result{V: turn.Version, Origin: state.Origin{Task: "t9"}, Task: task.Task{ID: "t9"}, Agent: "another",
		Proof: turn.Proof{Merge: state.MergeConflict}, Started: time.Now().Add(time.Hour), Duration: time.Hour, Checks: turn.Checks{Rows: []gate.Check{{Name: "test", Command: "true"}}}}
	a, before := assignment(), time.Now()
	var got []state.Event
	res, err := saying(t, f, append(lines, Line{End: &End{Result: &res}})...).Send(t.Context(), a, func(e state.Event) { got = append(got, e) })
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Data != (state.Text{Text: "at work"}) {
		t.Fatalf("%+v", got)
	}
	if said := got[1].Data.(state.Finding).Text; !strings.Contains(said, "14 events") {
		t.Errorf("%q", said)
	}
	from := a.Origin
	from.Host = "build1"
	for _, e := range got {
		if e.Origin != from || e.Time.Before(before) || e.Seq != 0 {
			t.Errorf("%+v, want the origin %+v and a time of this machine", e, from)
		}
	}
	if res.Origin != from || res.Task.ID != "t1" || res.Agent != "claude" || res.Checks.Rows[0].Command != "make test" || res.Proof.Merge != "" ||
		res.Started.After(time.Now()) || res.Duration > time.Minute {
		t.Errorf("%+v", res)
	}
}

// What each kind of event is taken for is decided here; a new one is not for workers until somebody says so.
func TestMayTell_everyKind(t *testing.T) {
	var may []string
	for _, row := range state.Kinds() {
		p := row.Payload
		switch p.(type) {
		case state.Phase:
			p = state.Phase{Name: state.PhaseAgent}
		case state.Finding:
			p = state.Finding{Source: state.FoundByAudit}
		}
		if mayTell(p) {
			may = append(may, string(row.Kind))
		}
	}
	want := []string{"phase", "baseline", "session", "text", "tool", "tool_result", "usage", "denied", "blocked", "limit",
		"retry", "error", "result", "finding", "check"}
	if !slices.Equal(may, want) {
		t.Errorf("%q, want %q", may, want)
	}
}

func TestSend_aWorkerThatFails_isOneLine(t *testing.T) {
	f := repository(t)
	later := hello()
	later.Hello.Ralph = "1.6.0"
	other := hello()
	other.Hello.Protocol = Protocol + 1
	refuses := hello()
	refuses.Hello.Error = "no claude\nhere"
	tip := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
	lacking := End{Result: &turn.Result{V: turn.Version}, Head: strings.Repeat("1", 40), Left: tip}
	for want, lines := range map[string][]any{
		`it has ralph "1.6.0" and this is ralph "1.4.0"`: {later},
		"it speaks protocol 2":                           {other},
		"no claude here":                                 {refuses},
		"ended without an answer":                        {"Welcome!"},
		"the worker failed: disk full":                   {hello(), Line{End: &End{Error: "disk full"}}},
		"the worker failed":                              {hello(), Line{End: &End{}}},
		"read message":                                   {hello(), `{"end": 5}`},
		"they are not complete":                          {hello(), Line{End: &lacking}},
		"unpack commits":                                 {hello(), Line{Pack: []byte("no pack")}, Line{End: &End{Result: lacking.Result, Head: tip, Left: tip}}},
		"which is no commit":                             {hello(), Line{End: &End{Result: lacking.Result, Head: "--all", Left: tip}}},
	} {
		trip := saying(t, f, lines...)
		if want == "ended without an answer" {
			trip.Args[2] = `cat "$0"`
		}
		_, err := trip.Send(t.Context(), assignment(), func(state.Event) {})
		if failed := (*FailedError)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if after := strings.TrimSpace(f.Git("rev-parse", "HEAD")); after != tip {
			t.Errorf("%s: the worktree moved to %s", want, after)
		}
	}
}

func TestSend_noWorker_saysWhatTheCarrierSaid(t *testing.T) {
	f := repository(t)
	for want, args := range map[string][]string{
		"Permission denied (publickey).": {"/bin/sh", "-c", "echo 'Permission denied (publickey).' >&2; exit 255"},
		"not found":                      {"no-such-carrier"},
	} {
		_, err := Trip{Args: args, Ralph: version, Root: f.Dir, Temp: t.TempDir()}.Send(t.Context(), assignment(), func(state.Event) {})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestSend_anotherWorkerSaysHello_theFirstIsForgotten(t *testing.T) {
	f := repository(t)
	tip := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
	again := hello()
	again.Hello.Host = "build2"
	var told []string
	res, err := saying(t, f, hello(), Line{Pack: []byte("half a pa")}, again,
		Line{End: &End{Result: &turn.Result{V: turn.Version}, Head: tip, Left: tip}}).Send(t.Context(), assignment(), func(e state.Event) {
		if found, ok := e.Data.(state.Finding); ok {
			told = append(told, found.Text)
		}
	})
	if err != nil || res.Origin.Host != "build2" {
		t.Errorf("%+v: %v", res.Origin, err)
	}
	if len(told) != 1 || told[0] != "the worker on build1 no longer answers; the turn starts again on build2" {
		t.Errorf("told: %q", told)
	}
}

func TestPack_commitsThatAreThere_areLeftOut(t *testing.T) {
	from, to := repository(t), world.Folder{TB: t, Dir: t.TempDir()}
	to.Git("init", "--quiet")
	first := strings.TrimSpace(from.Git("rev-parse", "HEAD"))
	from.Write("b", "2\n")
	from.Commit("second")
	second := strings.TrimSpace(from.Git("rev-parse", "HEAD"))
	whole, err := Pack(t.Context(), from.Dir, []string{first}, nil)
	from.Do(err)
	from.Do(Unpack(t.Context(), to.Dir, whole, first))
	rest, err := Pack(t.Context(), from.Dir, []string{second}, []string{first, "--all", strings.Repeat("2", 40)})
	from.Do(err)
	if err := Unpack(t.Context(), to.Dir, "", second); err == nil {
		t.Error("the second commit is there before its pack")
	}
	from.Do(Unpack(t.Context(), to.Dir, rest, second, "^"+first))
	if got := strings.TrimSpace(to.Git("show", second+":b")); got != "2" {
		t.Errorf("%q", got)
	}
	if nothing, err := Pack(t.Context(), from.Dir, []string{second}, []string{second}); err != nil || nothing != "" {
		t.Errorf("%d bytes: %v", len(nothing), err)
	}
}

func TestFit_repositoriesThatCannotBeSent_areNamed(t *testing.T) {
	whole := repository(t)
	if err := Fit(t.Context(), whole.Dir); err != nil {
		t.Error(err)
	}
	whole.Write("a", "2\n")
	whole.Commit("second")
	for want, change := range map[string]func(f world.Folder){
		"git fetch --unshallow": func(f world.Folder) {
			f.Do(os.RemoveAll(f.Dir))
			whole.Git("clone", "--quiet", "--depth=1", "file://"+whole.Dir, f.Dir)
		},
		"git fetch --refetch --no-filter": func(f world.Folder) { f.Git("config", "remote.origin.promisor", "true") },
		`the submodule "sub" cannot be sent`: func(f world.Folder) {
			f.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(f.Git("rev-parse", "HEAD"))+",sub")
		},
		"git LFS (.gitattributes)": func(f world.Folder) {
			f.Write(".gitattributes", "*.bin filter=lfs\n")
			f.Git("add", ".")
		},
	} {
		f := repository(t)
		change(f)
		if err := Fit(context.Background(), f.Dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFits_oneMinorVersionApart(t *testing.T) {
	for theirs, fit := range map[string]bool{"1.4.0": true, "v1.5.9": true, "1.3.0": true, "1.6.0": false, "2.4.0": false,
		"dev": false, "": false, "1.4": false} {
		if err := Fits(version, theirs); (err == nil) != fit {
			t.Errorf("%q: %v", theirs, err)
		}
	}
}

func TestReader_endlessLine_isRefusedWithFlatMemory(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer w.Close()
		for range 300 {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return
			}
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = NewReader(r, MaxReply).Next()
	runtime.ReadMemStats(&after)
	_ = r.Close()
	if err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Error(err)
	}
	// The pieces on the way to 16 MiB, and what the pipe was given.
	if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 200 {
		t.Errorf("%d MiB were allocated", made)
	}
}

func TestReader_halfALine_isNoMessage(t *testing.T) {
	if _, err := NewReader(strings.NewReader(`{"do":"skip"`), MaxReply).Next(); err == nil {
		t.Error("half a line is read")
	}
}

// A signal ends the process if it is not busy, and the work of the turn would be lost.
func TestSend_workerAnswersAfterASignal_theProcessIsBusyUntilThen(t *testing.T) {
	f := repository(t)
	tip := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
	trip := saying(t, f, hello(), told(state.Text{Text: "at work"}))
	end, err := json.Marshal(Line{End: &End{Result: &turn.Result{V: turn.Version}, Head: tip, Left: tip}})
	f.Do(err)
	let := filepath.Join(t.TempDir(), "let")
	f.Do(syscall.Mkfifo(let, 0o600))
	trip.Args = []string{"/bin/sh", "-c", `cat "$0"; until [ "${line#*\"do\"}" != "$line" ]; do read -r line || exit; done; cat "$1"; cat >/dev/null`,
		trip.Args[3], let}
	ctx, cancel := context.WithCancel(t.Context())
	atWork, sent := make(chan bool, 1), make(chan error, 1)
	go func() {
		_, err := trip.Send(ctx, assignment(), func(state.Event) { atWork <- true })
		sent <- err
	}()
	<-atWork
	asked := time.Now()
	cancel()
	w, err := os.OpenFile(let, os.O_WRONLY, 0) // once the worker was told
	f.Do(err)
	if !ptyexec.Busy(asked) {
		t.Error("not busy while the worker ends its turn")
	}
	_, err = w.Write(append(end, '\n'))
	f.Do(errors.Join(err, w.Close()))
	if err := <-sent; err != nil || ptyexec.Busy(asked) {
		t.Errorf("%v, busy afterwards: %v", err, ptyexec.Busy(asked))
	}
}
