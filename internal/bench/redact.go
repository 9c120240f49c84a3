package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/turn"
)

const (
	keptBytes   = 192 << 20 // below what turn keeps of a call's raw output
	keptChunk   = 64 << 10
	redactBound = 4 // times as fast as a pty delivers
)

// redact compares how fast raw output is kept with and without looking for secrets, and
// with the rate at which a pty delivers it. It takes the best time of each.
func (b *bencher) redact(delivered float64, rounds int) error {
	line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat("All work and no play. ", 180) + `"}]},"session_id":"s"}` + "\n"
	text := []byte(strings.Repeat(line, 2*keptChunk/len(line)+2))
	secrets := logs.NewValues([]string{"swordfish-1234567", "another-secret-value", "hunter2hunter2"})
	dir := filepath.Join(b.dir, "redact")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	with, without := time.Hour, time.Hour
	for round := range rounds {
		kept, err := turn.OpenRawLog(dir, 2*round+1, "", secrets)
		if err != nil {
			return err
		}
		took, err := keep(text, kept.Write, kept.Close)
		if err != nil {
			return err
		}
		with = min(with, took)
		plain, err := os.Create(filepath.Join(dir, "plain"))
		if err != nil {
			return err
		}
		write := func(p []byte) error { _, err := plain.Write(p); return err }
		if took, err = keep(text, write, plain.Close); err != nil {
			return err
		}
		without = min(without, took)
	}
	rate := func(d time.Duration) float64 { return keptBytes / d.Seconds() }
	times := rate(with) / delivered
	b.add(figure{"  kept without secrets", fmt.Sprintf("%.1f times as fast (%.0f MB/s)", times, rate(with)/1e6),
		fmt.Sprintf("the same; unchanged %.0f MB/s", rate(without)/1e6), fmt.Sprintf("at least %d times", redactBound),
		times < redactBound})
	return nil
}

// keep writes the text again and again, each time from a different offset.
func keep(text []byte, write func([]byte) error, end func() error) (time.Duration, error) {
	start := time.Now()
	for n := 0; n < keptBytes; n += keptChunk {
		from := (n / 7) % (len(text) - keptChunk)
		if err := write(text[from : from+keptChunk]); err != nil {
			return 0, err
		}
	}
	return time.Since(start), end()
}
