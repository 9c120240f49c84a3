package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The last event of a run gives the number that a resumed run continues with.
func TestLastEvent_ofARun_isFoundBehindWhatComesLater(t *testing.T) {
	const (
		one   = `{"v":2,"seq":1,"time":"2026-11-20T04:30:00Z","kind":"run_start","run":"r1","data":{"agent":"claude"}}` + "\n"
		two   = `{"v":2,"seq":2,"time":"2026-11-20T04:30:00Z","kind":"paused","run":"r1","data":{}}` + "\n"
		other = `{"v":2,"seq":9,"time":"2026-11-20T04:30:00Z","kind":"paused","run":"r2","data":{}}` + "\n"
		newer = `{"v":3,"seq":3,"time":"2026-11-20T04:30:00Z","kind":"unheard_of","run":"r1","data":{}}` + "\n"
	)
	long := strings.Replace(two, `"data":{}`, `"data":{"x":"`+strings.Repeat("x", 2*eventBlock)+`"}`, 1)
	for _, c := range []struct {
		name             string
		rotated, current string
		want             int64
	}{
		{"no files", "", "", 0},
		{"in the current file", "", one + two, 2},
		{"in a rotated file", one + two, "", 2},
		{"both", one, two, 2},
		{"half a line at the end", "", one + two + two[:60], 2},
		{"without the line's end", "", one + strings.TrimSuffix(two, "\n"), 2},
		{"junk at the end", "", one + "\x00\x00\x00", 1},
		{"a line longer than a block", "", one + long, 2},
		{"another run after it", "", one + other, 1},
		{"only another run", "", other, 0},
		{"a kind of a newer ralph", "", one + two + newer, 3},
	} {
		r := Open(t.TempDir())
		for name, text := range map[string]string{"events-2026-11-20T04-30-00.000.jsonl": c.rotated, "events.jsonl": c.current} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(r.Dir(), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := r.LastEvent("r1"); err != nil || got.Seq != c.want {
			t.Errorf("%s: event %d, %v; want %d", c.name, got.Seq, err, c.want)
		}
	}
}
