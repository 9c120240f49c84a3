package state

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func FuzzTakeRequests_anyFileNames_giveOnlyKnownRequests(f *testing.F) {
	for _, seed := range []string{"pause", "00000000000000000001-7-stop", "-", "x-abort", ".1-2-stop", "stop-", "1-2-STOP", "1-2-stop\n", "1-2-resume.corrupt", "1-2-agent+stop", "1-agent+agent+stop", "agent+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 255 {
			return
		}
		dir := t.TempDir()
		w, _, err := Acquire(dir, Owner{PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Release()
		if err := os.WriteFile(filepath.Join(dir, dirControl, name), nil, 0o600); err != nil {
			return // no name for a file here
		}
		all, err := w.TakeRequests()
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range all {
			if plain, _ := q.Plain(); !slices.Contains(Requests(), plain) || !strings.HasSuffix(name, string(q)) {
				t.Errorf("%q gave %q", name, q)
			}
		}
		if again, _ := w.TakeRequests(); len(again) > 0 {
			t.Errorf("%q was taken twice", name)
		}
	})
}

func FuzzHistory_anyLines_areReadOrLeftOutAndAppendedTo(f *testing.F) {
	for _, seed := range []string{"", "\n", `{"loop":1,"to_state":"OPEN"}`, "{\n}\n", `{"loop":1}` + "\n" + `{"loop":`, "null\n[]\n7\n", "\x00\xff\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileHistory), data, 0o600); err != nil {
			t.Fatal(err)
		}
		w, _, err := Acquire(dir, Owner{PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Release()
		before, _ := w.History()
		if err := w.AddBreakerChange(BreakerChange{Loop: 7, ToState: BreakerOpen}); err != nil {
			t.Fatal(err)
		}
		after, err := w.History()
		if err != nil || len(after) != min(len(before)+1, historyKept) || after[len(after)-1].Loop != 7 {
			t.Errorf("%d entries before, %d after, %v", len(before), len(after), err)
		}
	})
}

func FuzzStatus_whatIsReadable_isTheSameAfterBeingSaved(f *testing.F) {
	for _, seed := range []string{`{}`, `{"status":"running","loop_count":3,"limit":null}`, `{"wake_at":"2026-11-20T04:00:00Z"}`, `{"usage":{"cost_usd":1e300}}`,
		`{"limit":{"kind":"five_hour","utilization":1}}`, `{"timestamp":"0001-01-01T00:00:00Z"}`, "{\"reason\":\"\xff\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileStatus), data, 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := Open(dir).Status()
		if err != nil {
			return
		}
		w, _, err := Acquire(dir, Owner{PID: os.Getpid(), StartedAt: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Release()
		if err := w.SaveStatus(first); err != nil {
			t.Fatal(err)
		}
		first.V, first.LastAction = statusVersion, first.action()
		second, err := w.Status()
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if err != nil || string(a) != string(b) {
			t.Errorf("saved %s\nread  %s\n%v", a, b, err)
		}
	})
}
