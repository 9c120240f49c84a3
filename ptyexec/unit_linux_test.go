package ptyexec

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSpec_decodedIsWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 5)
		list := func(name string) []string { return append([]string(nil), texts.Draw(t, name)...) }
		want := spec{
			path: rapid.String().Draw(t, "path"), dir: rapid.String().Draw(t, "dir"),
			args: list("args"), env: list("env"),
			tty: rapid.Bool().Draw(t, "tty"), prompt: rapid.Bool().Draw(t, "prompt"),
			grace: time.Duration(rapid.Int64Min(0).Draw(t, "grace")),
			mark:  uint64(rapid.Int64Min(0).Draw(t, "mark")),
		}
		got, err := readSpec(bytes.NewReader(want.encode()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(spec{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSpec_tornMessage_isAnError(t *testing.T) {
	whole := spec{path: "/bin/agent", dir: "/", args: []string{"agent", "-p"}, env: []string{"A=1"}}.encode()
	for n := range whole {
		if s, err := readSpec(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d of %d bytes: got %+v", n, len(whole), s)
		}
		short := bytes.Clone(whole[:max(n, 4)])
		short[0] = byte(len(short) - 4)
		if s, err := readSpec(bytes.NewReader(short)); err == nil {
			t.Errorf("body of %d bytes: got %+v", len(short)-4, s)
		}
	}
}

func TestRecord_decodedIsWhatWasEncoded(t *testing.T) {
	want := record{recordExited, -1, 1 << 30}
	if got, err := readRecord(bytes.NewReader(want.encode())); err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestParseStat(t *testing.T) {
	tests := []struct {
		name, stat string
		want       process
		ok         bool
	}{
		{"plain", "12 (sh) S 10 12 11 34816 12 4194304", process{"S", 10}, true},
		{"name like a stat", "12 (a) Z 1 (b) c) Z 7 12 9 0", process{"Z", 7}, true},
		{"empty", "", process{}, false},
		{"torn", "12 (sh) S", process{}, false},
		{"no numbers", "12 (sh) S x y z", process{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := parseStat(tt.stat)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
}

func TestClocks_earliestOneIsNext(t *testing.T) {
	type step struct {
		wait  time.Duration
		do    func(*clocks)
		cause Cause
		left  time.Duration
	}
	final := func(c *clocks) { c.setFinal(true) }
	notFinal := func(c *clocks) { c.setFinal(false) }
	nothing := func(*clocks) {}
	touch := func(c *clocks) { c.whileReading(func() {}) }
	extendIdle := func(silent, more time.Duration) func(*clocks) {
		return func(c *clocks) {
			if !c.extendIdle(func(d time.Duration) time.Duration { return more - (d - silent) }) && more > 0 {
				t.Error("not extended")
			}
		}
	}
	tests := []struct {
		name  string
		c     Command
		steps []step
	}{
		{"none", Command{}, []step{{time.Hour, nothing, "", 0}, {0, final, "", 0}}},
		{"timeout is not moved by output", Command{Timeout: time.Minute}, []step{
			{0, nothing, CauseTimeout, time.Minute}, {50 * time.Second, touch, CauseTimeout, 10 * time.Second}, {20 * time.Second, nothing, CauseTimeout, -10 * time.Second},
		}},
		{"silence is", Command{Timeout: time.Hour, IdleTimeout: time.Minute}, []step{
			{0, nothing, CauseIdle, time.Minute}, {50 * time.Second, touch, CauseIdle, time.Minute}, {time.Minute, nothing, CauseIdle, 0},
		}},
		{"silence that is allowed", Command{Timeout: 24 * time.Hour, IdleTimeout: 10 * time.Minute}, []step{
			{0, touch, CauseIdle, 10 * time.Minute},
			{10 * time.Minute, extendIdle(10*time.Minute, 20*time.Minute), CauseIdle, 20 * time.Minute},
			{5 * time.Minute, touch, CauseIdle, 15 * time.Minute},
			{15 * time.Minute, extendIdle(15*time.Minute, 0), CauseIdle, 0},
		}},
		{"grace starts at the first final record", Command{Timeout: time.Hour, FinalGrace: 30 * time.Second}, []step{
			{time.Minute, final, CauseFinal, 30 * time.Second}, {10 * time.Second, final, CauseFinal, 20 * time.Second},
			{time.Second, notFinal, CauseTimeout, time.Hour - 71*time.Second}, {time.Second, final, CauseFinal, 30 * time.Second},
		}},
		{"final at once", Command{FinalGrace: time.Second}, []step{{0, final, CauseFinal, time.Second + 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clocks := newClocks(tt.c)
				for i, s := range tt.steps {
					time.Sleep(s.wait)
					s.do(clocks)
					if cause, left := clocks.next(); cause != s.cause || left != s.left {
						t.Errorf("step %d: got %q %v, want %q %v", i, cause, left, s.cause, s.left)
					}
				}
			})
		})
	}
}

func TestClocks_outputThatIsRead_isNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocks := newClocks(Command{IdleTimeout: time.Minute})
		check := func(when string) {
			if cause, left := clocks.next(); cause != CauseIdle || left != time.Minute {
				t.Errorf("%s: got %q %v", when, cause, left)
			}
		}
		clocks.whileReading(func() {
			time.Sleep(2 * time.Minute) // sleep: the clock of the test is no real one
			check("while it is read")
		})
		check("after it")
	})
}

func TestRun_initNotCalled_isAnErrorAndNoEndlessRestart(t *testing.T) {
	initialised.Store(false)
	defer initialised.Store(true)
	if _, _, err := try(t, Command{Args: []string{"/bin/true"}}); err == nil || !strings.Contains(err.Error(), "Init") {
		t.Errorf("got %v", err)
	}
}
