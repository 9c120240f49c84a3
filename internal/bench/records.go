package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/state"
)

const (
	recordsBytes       = 200 << 20
	recordsBound       = 0.5
	recordsMemoryBound = 30 // MiB
	endBound           = 200 * time.Millisecond
	eventsFile         = 20 << 20 // bytes of a file of events; a run keeps six
	readBound          = 200 * time.Millisecond
)

// printRecords prints so many bytes of what an agent prints that works: words, calls of tools, and their answers, in
// records of 200 to 2,000 bytes, each message with its usage.
func printRecords(out io.Writer, most int) {
	const usage = `"usage":{"cache_creation_input_tokens":120,"cache_read_input_tokens":%d,"input_tokens":3,"output_tokens":%d}`
	var text []byte
	for i := range 1000 { // so many that the call is not taken for one in circles
		words := strings.Repeat("the parser reads a line and writes it back. ", 1+i*7%35)
		used := fmt.Sprintf(usage, i*40, i%200)
		text = fmt.Appendf(text, `{"type":"assistant","message":{"id":"msg_%d","role":"assistant","content":[{"type":"text","text":%q}],%s},"session_id":"s"}`+
			"\n"+`{"type":"assistant","message":{"id":"msg_%[1]d","role":"assistant","content":[{"type":"tool_use","id":"toolu_%[1]d","name":"Bash","input":{"command":"grep -rn pattern%[1]d src"}}],%[3]s},"session_id":"s"}`+
			"\n"+`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%[1]d","type":"tool_result","content":"%[1]d %[4]s","is_error":false}]},"session_id":"s"}`+"\n",
			i, words, used, strings.Repeat("src/parser.go:120: a line. ", 1+i*11%60))
	}
	for n := 0; n < most; n += len(text) {
		_, _ = out.Write(text)
	}
}

// records alternates ralph and a bare reader, as flood does, with what an agent prints that works.
func (b *bencher) records() error {
	project, err := b.project("records", 0, false)
	if err != nil {
		return err
	}
	most, rounds := recordsBytes, 3
	if b.quick {
		most, rounds = recordsBytes/4, 1
	}
	flood := fmt.Sprintf("records %d", most)
	var ratios []float64
	var ends, calm []time.Duration
	memory, bare := 0, time.Hour
	for range rounds {
		if _, _, err := b.ralphFlood(project, ""); err != nil {
			return err
		}
		calm = append(calm, sinceAgent(project))
		if _, err := b.bareFlood(flood); err != nil {
			return err
		}
		_, kib, err := b.ralphFlood(project, flood)
		if err != nil {
			return err
		}
		ends, memory = append(ends, sinceAgent(project)), max(memory, kib>>10)
		alone, ours := printing(filepath.Join(b.dir, "flood-times")), printing(filepath.Join(project, ".ralph", "times"))
		ratios, bare = append(ratios, alone.Seconds()/ours.Seconds()), min(bare, alone)
	}
	slices.Sort(ratios)
	ratio, end := ratios[len(ratios)/2], median(ends)
	b.add(figure{fmt.Sprintf("%d MiB of records of 200 to 2,000 bytes", most>>20), fmt.Sprintf("%.2f", ratio),
		fmt.Sprintf("bare pty reader, best %.0f MB/s", float64(most)/bare.Seconds()/1e6),
		fmt.Sprintf("at least %.2f", recordsBound), ratio < recordsBound})
	b.add(figure{"  peak memory of ralph", fmt.Sprintf("%d MiB", memory), "", fmt.Sprintf("at most %d MiB", recordsMemoryBound),
		memory > recordsMemoryBound})
	b.add(figure{"  from the last output to the end of the run", ms(end), "without the flood " + ms(median(calm)), "at most " + ms(endBound),
		end > endBound})
	return nil
}

// agentTimes are when the latest agent began and ended.
func agentTimes(file string) (from, to time.Time) {
	data, _ := os.ReadFile(file) // times of 0 show that it is missing
	var began, ended int64
	for line := range strings.Lines(string(data)) {
		_, _ = fmt.Sscan(line, &began, &ended)
	}
	return time.Unix(0, began), time.Unix(0, ended)
}

// printing is how long the latest agent took to print: it waits for whoever reads.
func printing(file string) time.Duration {
	from, to := agentTimes(file)
	return to.Sub(from)
}

// sinceAgent is how long ago the latest agent of a project ended.
func sinceAgent(project string) time.Duration {
	_, to := agentTimes(filepath.Join(project, ".ralph", "times"))
	return time.Since(to)
}

// reading measures what shows a run with as many events as are kept, next to only counting their lines.
func (b *bencher) reading() error {
	project, err := b.project("reading", 0, false)
	if err != nil {
		return err
	}
	if err := b.run(project, 1); err != nil {
		return err
	}
	r := state.Open(filepath.Join(project, state.DirName))
	files, err := fillEvents(r)
	if err != nil {
		return err
	}
	floor, err := fastest(5, func(int) error {
		buf := make([]byte, 1<<20)
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			for n := 1; n > 0; _ = bytes.Count(buf[:n], []byte("\n")) {
				n, _ = f.Read(buf) // the end is no bytes
			}
			_ = f.Close()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, verb := range []string{"status", "report", "runs", "iterations"} {
		took, err := timed(5, project, filepath.Join(b.bin, "ralph"), verb)
		if err != nil {
			return err
		}
		b.add(figure{"ralph " + verb + " with 120 MiB of events", ms(took), "counting their lines " + ms(floor), "at most " + ms(readBound), took > readBound})
	}
	return nil
}

// fillEvents puts events into the run of a project until all its files are full.
func fillEvents(r *state.Reader) ([]string, error) {
	data, err := os.ReadFile(r.EventsPath())
	if err != nil {
		return nil, err
	}
	lines := slices.Collect(bytes.Lines(data))
	last := len(lines) - 2 // the ends of the iteration and of the run stay last
	event, ok := state.EventFilter(nil).Decode(lines[last])
	if !ok {
		return nil, fmt.Errorf("%s is no event", lines[last])
	}
	head := slices.Concat(lines[:last]...)
	for n, i := 1, 0; n <= 6; n++ {
		name := strings.TrimSuffix(r.EventsPath(), ".jsonl") + fmt.Sprintf("-2026-01-01T00-00-00.%03d.jsonl", n)
		if n == 6 {
			name = r.EventsPath()
		}
		f, err := os.Create(name)
		if err != nil {
			return nil, err
		}
		out := bufio.NewWriter(f)
		size, _ := out.Write(head)
		for head = nil; size < eventsFile; i++ {
			call := state.Tool{ID: fmt.Sprint(i), Name: "Bash", Arg: fmt.Sprintf("grep -rn pattern%d src", i)}
			for _, p := range []state.Payload{state.Text{Text: strings.Repeat("It reads a line. ", 1+i%40)}, call,
				state.ToolResult{Tool: call, Text: strings.Repeat("src/parser.go:120: a line. ", 1+i%60)}} {
				line, err := json.Marshal(state.NewEvent(event.Origin, event.Time, p))
				if err != nil {
					return nil, err
				}
				n, _ := out.Write(append(line, '\n'))
				size += n
			}
		}
		if n == 6 {
			_, _ = out.Write(slices.Concat(lines[last:]...))
		}
		if err := out.Flush(); err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return r.EventFiles()
}
