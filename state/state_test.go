package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func acquire(t *testing.T, dir string) *Writer {
	t.Helper()
	w, aside, err := Acquire(dir, Owner{PID: os.Getpid(), RunID: "r1", StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if len(aside) > 0 {
		t.Fatalf("set aside: %v", aside)
	}
	t.Cleanup(func() { _ = w.Release() })
	return w
}

func TestReader_nothingThere_readsZeroAndCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	r := Open(dir)
	s, err := r.Status()
	if err != nil || s.RunID != "" {
		t.Errorf("Status() = %+v, %v", s, err)
	}
	b, err := r.Breaker()
	if err != nil || b.State != BreakerClosed {
		t.Errorf("Breaker() = %+v, %v, want CLOSED", b, err)
	}
	if c, err := r.Calls(); err != nil || c != (Calls{}) {
		t.Errorf("Calls() = %+v, %v", c, err)
	}
	if _, alive := r.Owner(); alive {
		t.Error("Owner() is alive without a lock")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading created %s", dir)
	}
}

func TestWriter_everySnapshot_readsBackTheSame(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), ".ralph"))
	now := time.Now().Truncate(time.Second).UTC()
	status := Status{V: statusVersion, LastAction: "executing", RunID: "r", PID: 7, Timestamp: now, StartedAt: now, Status: StatusRunning, Limit: &Limit{Name: "five_hour", ResetsAt: now, Utilization: 1},
		Usage: Usage{InputTokens: 1, CostUSD: 0.5}, Task: TaskStatus{ID: "T1", Title: "x", Done: 1, Total: 2}, WakeAt: now}
	breaker := Breaker{State: BreakerOpen, NoProgress: 3, OpenedAt: now, LastChange: now, Reason: "x", OutputSizes: []int{1}}
	session := Session{Agent: "claude", SessionID: "abc-1", CreatedAt: now, LastUsed: now}
	calls := Calls{Hour: time.Date(2026, 11, 20, 4, 0, 0, 0, time.Local), Calls: 7, Tokens: 900}
	for _, err := range []error{w.SaveStatus(status), w.SaveBreaker(breaker), w.SaveSession(session), w.SaveCalls(calls), w.SaveSignals(Signals{DoneSignals: []int{2}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gotStatus, _ := w.Status()
	gotBreaker, _ := w.Breaker()
	gotSession, _ := w.Session()
	gotCalls, _ := w.Calls()
	for name, diff := range map[string]string{
		"status": cmp.Diff(status, gotStatus), "breaker": cmp.Diff(breaker, gotBreaker),
		"session": cmp.Diff(session, gotSession), "calls": cmp.Diff(calls, gotCalls),
	} {
		if diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
	want := map[string]string{fileCalls: "7\n", fileTokens: "900\n", fileReset: "2026112004\n"}
	for name, text := range want {
		if data, _ := os.ReadFile(w.path(name)); string(data) != text {
			t.Errorf("%s holds %q, want %q", name, data, text)
		}
	}
	data, _ := os.ReadFile(w.path(fileSignals))
	if strings.Contains(string(data), "null") {
		t.Errorf("%s holds null: %s", fileSignals, data)
	}
}

func TestAcquire_unusableFiles_setAsideAndReplacedByDefaults(t *testing.T) {
	bad := map[string][]string{
		fileStatus:  {"", "{", "[]", `{"loop_count":-1}`, strings.Repeat(" ", maxSnapshot+1), "null\x00", `{"next_reset":"05:00:00"}`},
		fileBreaker: {"", "{}", `{"state":"BROKEN"}`, `{"state":"OPEN","consecutive_no_progress":-4}`, "CLOSED"},
		fileSession: {"{", `{"session_id":"a b"}`, `{"session_id":"{"}`},
		fileSignals: {"[1,2]", ""},
		fileCalls:   {"", "-1\n", "0\n0\n", "7 calls", "99999999999999999999", "$(id)", "0x10"},
		fileTokens:  {"abc"},
		fileReset:   {"yesterday", "20261120", "2026112025"},
	}
	for name, texts := range bad {
		for _, text := range texts {
			t.Run(fmt.Sprintf("%s/%.12q", name, text), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), ".ralph")
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				w, aside, err := Acquire(dir, Owner{PID: os.Getpid(), StartedAt: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Release()
				if len(aside) != 1 {
					t.Errorf("reported %v, want one", aside)
				}
				kept, _ := filepath.Glob(filepath.Join(dir, name+".corrupt-*"))
				if len(kept) != 1 {
					t.Fatalf("kept %v, want one copy", kept)
				}
				if data, _ := os.ReadFile(kept[0]); string(data) != text {
					t.Errorf("the copy holds %.40q, want %.40q", data, text)
				}
				if _, err := w.Breaker(); err != nil {
					t.Error(err)
				}
				if _, err := w.Calls(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestAcquire_symlinkAsStateFile_isNotFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(outside, []byte("7\n"), 0o600), os.Symlink(outside, filepath.Join(dir, fileCalls))); err != nil {
		t.Fatal(err)
	}
	w, aside, err := Acquire(dir, Owner{PID: os.Getpid()})
	if err != nil || len(aside) != 1 {
		t.Fatalf("Acquire() = %v, %v", aside, err)
	}
	defer w.Release()
	if err := w.SaveCalls(Calls{Hour: time.Now(), Calls: 8}); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(outside); string(data) != "7\n" {
		t.Errorf("the file outside was changed to %q", data)
	}
}

func TestAcquire_heldByAnother_namesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	w := acquire(t, dir)
	owner, alive := Open(dir).Owner()
	if !alive || owner.PID != os.Getpid() || owner.RunID != "r1" {
		t.Errorf("Owner() = %+v, %v", owner, alive)
	}
	_, _, err := Acquire(dir, Owner{PID: 2, RunID: "r2"})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Owner.PID != os.Getpid() {
		t.Fatalf("Acquire() = %v, want a LockedError of this process", err)
	}
	if err := w.Release(); err != nil {
		t.Fatal(err)
	}
	if _, alive := Open(dir).Owner(); alive {
		t.Error("alive after Release")
	}
	if acquire(t, dir) == nil {
		t.Error("cannot acquire after Release")
	}
}

func TestOwner_pidIsAliveButHoldsNoLock_isDead(t *testing.T) {
	dir := t.TempDir()
	data, _ := json.Marshal(Owner{PID: os.Getpid(), RunID: "killed"})
	if err := os.WriteFile(filepath.Join(dir, fileLock), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if owner, alive := Open(dir).Owner(); alive || owner.RunID != "killed" {
		t.Errorf("Owner() = %+v, %v, want the dead one", owner, alive)
	}
}

func TestOwner_pollingReaders_keepNobodyFromAcquiring(t *testing.T) {
	dir := t.TempDir()
	data, _ := json.Marshal(Owner{PID: os.Getpid()}) // the pid was given to us: readers test the lock
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for r := Open(dir); ; r.Owner() {
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 20 {
		if err := os.WriteFile(filepath.Join(dir, fileLock), data, 0o600); err != nil {
			t.Fatal(err)
		}
		w, _, err := Acquire(dir, Owner{PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Release(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestSaveStatus_readerInATightLoop_neverSeesATornFile(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), ".ralph"))
	if err := w.SaveStatus(Status{RunID: "r"}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if s, err := w.Status(); err != nil || s.RunID != "r" {
					t.Errorf("Status() = %+v, %v", s, err)
					return
				}
			}
		}
	})
	for i := range 200 {
		if err := w.SaveStatus(Status{RunID: "r", LoopCount: i, Reason: strings.Repeat("x", i*7)}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
}

func TestEnsure_stateDirectoryDeleted_isMadeAgainAndStillLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	w := acquire(t, dir)
	if lost, err := w.Ensure(); lost || err != nil {
		t.Fatalf("Ensure() = %v, %v with nothing missing", lost, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if lost, err := w.Ensure(); !lost || err != nil {
		t.Fatalf("Ensure() = %v, %v, want lost", lost, err)
	}
	if _, _, err := Acquire(dir, Owner{PID: 2}); err == nil {
		t.Error("a second runner got the lock")
	}
	if err := w.SaveStatus(Status{RunID: "r"}); err != nil {
		t.Error(err)
	}
}

func TestRequests_sentAndTaken_inOrderAndOnce(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), ".ralph"))
	sent := []Request{RequestPause, RequestResume.OfAgent(), RequestAbort}
	for _, q := range sent {
		if err := Send(w.Dir(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.path(dirControl, "note"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := w.TakeRequests()
	if err != nil || !cmp.Equal(got, sent) {
		t.Errorf("TakeRequests() = %v, %v", got, err)
	}
	if got, _ := w.TakeRequests(); len(got) != 0 {
		t.Errorf("taken twice: %v", got)
	}
	if err := Send(w.Dir(), "explode"); err == nil {
		t.Error("an unknown request was sent")
	}
}

func TestClearRun_deadRunsSignals_areGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	if err := Send(dir, RequestAbort); err != nil {
		t.Fatal(err)
	}
	w := acquire(t, dir)
	if err := errors.Join(w.SaveSignals(Signals{DoneSignals: []int{1, 2}}), w.SaveAnalysis(map[string]bool{"exit_signal": true}), Send(dir, RequestStop), w.SaveCalls(Calls{Hour: time.Now(), Calls: 3})); err != nil {
		t.Fatal(err)
	}
	if err := w.ClearRun(); err != nil {
		t.Fatal(err)
	}
	if s, _ := w.Signals(); len(s.DoneSignals) > 0 {
		t.Error("signals are left")
	}
	if _, err := os.Stat(w.path(fileAnalysis)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the analysis is left")
	}
	if q, _ := w.TakeRequests(); !cmp.Equal(q, []Request{RequestStop}) {
		t.Errorf("requests %v, want only the one for this run", q)
	}
	if c, _ := w.Calls(); c.Calls != 3 {
		t.Error("the hour's counter is gone")
	}
}

func TestBreakerHistory_manyChanges_keepsTheLatest(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), ".ralph"))
	var before bytes.Buffer
	for i := range historyKept {
		data, _ := json.Marshal(BreakerChange{Loop: i})
		before.Write(append(data, '\n'))
	}
	if err := os.WriteFile(w.path(fileHistory), before.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.AddBreakerChange(BreakerChange{Loop: historyKept + i}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := w.History()
	if err != nil || len(all) != historyKept || all[0].Loop != 3 {
		t.Errorf("History() has %d entries from %d, %v", len(all), all[0].Loop, err)
	}
}

func TestResetBreaker_closesItAndKeepsItsHistory(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), ".ralph"))
	opened := BreakerChange{Loop: 3, FromState: BreakerClosed, ToState: BreakerOpen, Reason: "no progress"}
	if err := errors.Join(w.AddBreakerChange(opened), w.SaveBreaker(Breaker{State: BreakerOpen, CurrentLoop: 3})); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.ResetBreaker("ralph reset --circuit", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := w.History()
	if err != nil || len(all) != 2 || all[0] != opened || all[1].ToState != BreakerClosed || all[1].Reason != "ralph reset --circuit" {
		t.Errorf("%+v, %v", all, err)
	}
	if b, err := w.Breaker(); err != nil || b.State != BreakerClosed {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestGitignore_hidesStateAndShowsTheUsersFiles(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	project := t.TempDir()
	w := acquire(t, filepath.Join(project, DirName))
	if err := w.SaveStatus(Status{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PROMPT.md", "fix_plan.md", "tasks.json", "config.yaml", "specs/a.md"} {
		path := w.path(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = project
		cmd.Env = []string{"HOME=" + project, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	run("init", "-q")
	got := strings.Fields(run("ls-files", "--others", "--exclude-standard"))
	want := []string{".ralph/.gitignore", ".ralph/PROMPT.md", ".ralph/config.yaml", ".ralph/fix_plan.md", ".ralph/specs/a.md", ".ralph/tasks.json"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("git sees (-want +got):\n%s", diff)
	}
}

func FuzzSnapshots(f *testing.F) {
	for _, seed := range []string{"", "{}", "7\n", "7\r\n", "2026112004\n", `{"state":"OPEN"}`, `{"session_id":"x"}`, "[", "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{fileStatus, fileBreaker, fileSession, fileSignals, fileCalls, fileTokens, fileReset, fileHistory, fileLock} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, _, err := Acquire(dir, Owner{PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Release()
		if c, err := w.Calls(); err != nil || c.Calls < 0 || c.Tokens < 0 {
			t.Errorf("Calls() = %+v, %v after setting aside", c, err)
		}
		if b, err := w.Breaker(); err != nil || b.NoProgress < 0 {
			t.Errorf("Breaker() = %+v, %v", b, err)
		}
	})
}
