package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	fakeVar  = "RALPH_BENCH_FAKE"  // file for start and end times of the fake agent
	floodVar = "RALPH_BENCH_FLOOD" // print this before the result: "words" or "records", and how many bytes
	peakVar  = "RALPH_BENCH_PEAK"  // print the peak memory of the arguments, a command
	tickVar  = "RALPH_BENCH_TICK"  // do the task of the prompt, and tick it
	workVar  = "RALPH_BENCH_WORK"  // how long to work: no real agent answers at once
)

// fakeAgent answers immediately and records when it started and ended.
func fakeAgent() {
	from := time.Now().UnixNano()
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	fmt.Fprintln(out, `{"type":"system","subtype":"init","session_id":"s","model":"m"}`)
	what, most := "", 0
	_, _ = fmt.Sscan(os.Getenv(floodVar), &what, &most)
	if what == "records" {
		printRecords(out, most)
	}
	if what == "words" {
		line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
			strings.Repeat("All work and no play. ", 180) + `"}]},"session_id":"s"}` + "\n"
		for n := 0; n < most; n += len(line) {
			_, _ = out.WriteString(line)
		}
	}
	if d, err := time.ParseDuration(os.Getenv(workVar)); err == nil {
		time.Sleep(d)
	}
	if os.Getenv(tickVar) != "" {
		prompt, _ := io.ReadAll(os.Stdin)
		tickOwn(string(prompt))
	}
	fmt.Fprintln(out,
		`{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}`)
	_ = out.Flush()
	f, err := os.OpenFile(os.Getenv(fakeVar), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	// Some progress, or the circuit breaker ends the run.
	if os.Getenv(tickVar) != "" {
		// it did its task
	} else if err := os.WriteFile("work.txt", fmt.Appendf(nil, "%d\n", from), 0o600); err != nil {
		panic(err)
	}
	fmt.Fprintf(f, "%d %d\n", from, time.Now().UnixNano())
	_ = f.Close()
}
