package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/cmd/internal/config"
	"ralph/state"
)

// An agent can put a link in the place of the folder, or of what is in it.
func TestWatch_linksPlanted_nothingIsWrittenOutside(t *testing.T) {
	const to = "ntfy://127.0.0.1:1/x"
	file := digest(to) + ".run-1" + toldEnd
	for name, plant := range map[string]func(dir, outside string) error{
		"folder": func(dir, outside string) error { return errors.Join(os.RemoveAll(dir), os.Symlink(outside, dir)) },
		"state": func(dir, outside string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(dir)), os.Symlink(filepath.Dir(outside), filepath.Dir(dir)))
		},
		"file": func(dir, outside string) error {
			return os.Symlink(filepath.Join(outside, "made"), filepath.Join(dir, file))
		},
		"file, no file": func(dir, _ string) error { return syscall.Mkfifo(filepath.Join(dir, file), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir, outside := filepath.Join(base, "p", ".ralph", "hub"), filepath.Join(base, "outside", "hub")
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(outside, 0o700), plant(dir, outside)); err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			w := &Watch{HubJob: config.HubJob{Notifications: config.Notifications{Notify: []string{to}}, Dir: filepath.Join(base, "p"), Run: "run-1"},
				Logger: hclog.New(&hclog.LoggerOptions{Output: &log})}
			if err := w.Run(t.Context()); err == nil && !strings.Contains(log.String(), "no messages") {
				t.Errorf("nothing was refused: %s", log.String())
			}
			if made, _ := os.ReadDir(outside); len(made) > 0 {
				t.Errorf("written outside: %v", made)
			}
		})
	}
}

// triesOf are the times of the tries to reach a service that is down for a while, and what was logged.
func triesOf(t *testing.T, down time.Duration) (tries []time.Duration, logged string) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		began := time.Now()
		f := &follower{Watch: &Watch{Logger: hclog.New(&hclog.LoggerOptions{Output: &log})}}
		f.about = func(state.Event) sender {
			return func(context.Context) error {
				tries = append(tries, time.Since(began))
				if time.Since(began) < down {
					return errors.New("down")
				}
				return nil
			}
		}
		if !f.deliver(t.Context(), state.Event{}) {
			t.Error("it would be told again")
		}
		logged = log.String()
	})
	return tries, logged
}

func TestDeliver_serviceThatIsDown_isTriedWithLongerWaitsForADay(t *testing.T) {
	all, log := triesOf(t, 48*time.Hour)
	if last := all[len(all)-1]; !strings.Contains(log, "given up") || last < tries || last > tries+maxWait {
		t.Errorf("given up after %s:\n%s", last, log)
	}
	for i := 2; i < len(all); i++ {
		if wait, before := all[i]-all[i-1], all[i-1]-all[i-2]; wait < before || wait > maxWait {
			t.Fatalf("try %d after %s, the one before after %s", i+1, wait, before)
		}
	}
	if n := len(all); n < 90 || n > 120 {
		t.Errorf("%d tries in a day", n)
	}
	if all, log = triesOf(t, 23*time.Hour); strings.Contains(log, "given up") || all[len(all)-1] > 23*time.Hour+maxWait {
		t.Errorf("tried until %s:\n%s", all[len(all)-1], log)
	}
}

// A watcher that is killed leaves the rest to the next one.
func TestWatch_killedBetweenTwoMessages_theNextSendsTheRestInOrder(t *testing.T) {
	r, p := newReceiver(t, 0), newProject(t)
	s := config.Notifications{Notify: []string{ntfy(r)}}
	p.event(state.Question{ID: "q1"})
	p.event(state.Question{ID: "q2"})
	if err := forgetOld(p.w.Reader); err != nil {
		t.Fatal(err)
	}
	told, err := openTold(p.w.Reader, ntfy(r), p.run)
	if err != nil || told == nil {
		t.Fatal(err)
	}
	told.Seq = 2
	if err := told.save(); err != nil {
		t.Fatal(err)
	}
	if other, err := openTold(p.w.Reader, ntfy(r), p.run); other != nil || err != nil {
		t.Errorf("two have it: %v", err)
	}
	told.Close() // as its death does
	p.end()
	p.watch(s)()
	if got := strings.Join(r.texts(), "\n"); len(r.texts()) != 2 || strings.Contains(got, "q1") || strings.Index(got, "q2") > strings.Index(got, "all done") {
		t.Errorf("%s", got)
	}
}

// After a power cut, the next run reports what nobody has.
func TestWatch_runBeforeDied_isReportedOnce(t *testing.T) {
	for _, run := range []string{"run-1", "run-2"} { // resumed, or another one
		r, p := newReceiver(t, 0), newProject(t)
		s := config.Notifications{Notify: []string{ntfy(r)}}
		p.run = run
		p.event(state.RunStart{Agent: "claude", Killed: "run-1"})
		p.event(state.RunStart{Agent: "claude", Killed: "../run"}) // an agent wrote it
		p.end()
		p.watch(s)()
		p.watch(s)()
		got := strings.Join(r.texts(), "\n")
		if len(r.texts()) != 2 || strings.Count(got, "the runner died") != 1 {
			t.Errorf("%s: %s", run, got)
		}
	}
}
