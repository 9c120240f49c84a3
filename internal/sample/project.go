package sample

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state"
	"ralph/state/view"
)

// Project is a project folder whose state files a test writes.
type Project struct {
	T   testing.TB
	Dir string
	w   *state.Writer
}

// Empty returns a project without a state directory.
func Empty(t testing.TB) *Project {
	t.Helper()
	return &Project{T: t, Dir: t.TempDir()}
}

// New writes a snapshot and events. It holds the lock if the snapshot is alive.
func New(t testing.TB, s view.Snapshot, events []state.Event) *Project {
	t.Helper()
	p := Empty(t)
	if s.Alive {
		p.Lock(s.Owner)
	} else if err := os.MkdirAll(p.StateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	p.JSON("status.json", s.Status)
	p.JSON(".circuit_breaker_state", s.Breaker)
	p.Add(events...)
	return p
}

// Lock takes the lock of the project until the test ends.
func (p *Project) Lock(owner state.Owner) {
	p.T.Helper()
	w, _, err := state.Acquire(p.StateDir(), owner)
	if err != nil {
		p.T.Fatal(err)
	}
	p.w = w
	p.T.Cleanup(p.Release)
}

// Release releases the lock, as a dying runner does.
func (p *Project) Release() {
	if p.w != nil {
		_ = p.w.Release()
		p.w = nil
	}
}

// StateDir returns the state directory.
func (p *Project) StateDir() string { return filepath.Join(p.Dir, state.DirName) }

// Reader reads the state.
func (p *Project) Reader() *state.Reader { return state.Open(p.StateDir()) }

// JSON replaces a state file.
func (p *Project) JSON(name string, v any) {
	p.T.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		p.T.Fatal(err)
	}
	path := filepath.Join(p.StateDir(), name)
	if err := os.WriteFile(path+".tmp", data, 0o600); err != nil {
		p.T.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		p.T.Fatal(err)
	}
}

// Add appends events.
func (p *Project) Add(events ...state.Event) {
	p.T.Helper()
	var lines []byte
	for _, e := range events {
		lines = append(lines, Encode(p.T, e)...)
	}
	file, err := os.OpenFile(p.Reader().EventsPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		p.T.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(lines); err != nil {
		p.T.Fatal(err)
	}
}

// Encode returns an event as a line.
func Encode(t testing.TB, e state.Event) []byte {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// Say returns text of the agent, now.
func Say(text string) state.Event {
	return state.NewEvent(state.Origin{Run: "r", Iteration: 1}, time.Now(), state.Text{Text: text})
}

// Flood writes a file of n text events of up to 4,000 characters. Each begins with its
// number.
func Flood(t testing.TB, path string, n int) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Repeat("words of a long line, m[key] // [ERROR] and 漢字, ", 100)
	for i := range n {
		text := fmt.Sprintf("%d %s", i, strings.ToValidUTF8(words[:r.IntN(3990)], ""))
		at := Noon.Add(time.Duration(i) * time.Millisecond)
		e := state.NewEvent(state.Origin{Run: "r", Iteration: 1}, at, state.Text{Text: text})
		if _, err := file.Write(Encode(t, e)); err != nil {
			t.Fatal(err)
		}
	}
}
