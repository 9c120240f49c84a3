package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/state"
	"ralph/state/projectfs"
	"ralph/state/view"
)

// recent is how long ago a run may have ended to be sent.
const recent = 24 * time.Hour

// past sends the recent runs of a project that were not sent yet, if no run is alive in it.
func (f *follower) past(dir string, r *state.Reader) {
	info, err := os.Stat(r.EventsPath())
	if err != nil || time.Since(info.ModTime()) > recent {
		return
	}
	now := fmt.Sprint(info.Size(), info.ModTime())
	if f.looked[dir] == now {
		return
	}
	f.looked[dir] = now
	latest := map[string]state.Event{}
	_ = view.EachEvent(r, "", wanted, func(e state.Event) { latest[e.Run] = e })
	runs := map[string]*spans{}
	for run, e := range latest {
		if run != "" && time.Since(e.Time) < recent && e.Seq > f.sent.until[run] {
			s := newSpans(f.tracer, run)
			s.last = f.sent.until[run]
			runs[run] = &s
		}
	}
	if len(runs) == 0 {
		return
	}
	_ = view.EachEvent(r, "", wanted, func(e state.Event) {
		if s := runs[e.Run]; s != nil {
			s.add(e)
		}
	})
	for run, s := range runs {
		s.close("the runner died")
		f.ended(run, s.last)
	}
}

// ended records that the spans of a run are complete, up to this event.
func (f *follower) ended(run string, last int64) {
	f.sent.until[run] = last
	f.over = append(f.over, run)
}

// sent is what was sent: in memory as soon as it is made, in the file when the collector has it.
type sent struct {
	path  string
	until map[string]int64 // by run: the number of its last event
}

const (
	maxSent   = 1000    // runs in the file
	maxRecord = 1 << 20 // bytes
)

// in is the project of a file in its hub's folder.
func in(path string) projectfs.Dir {
	return projectfs.Above(filepath.Dir(path))
}

func readSent(path string) *sent {
	s := &sent{path: path, until: map[string]int64{}}
	data, _ := in(path).Read(path, maxRecord) // without it, a run is sent again, with the same ids
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines[max(0, len(lines)-maxSent):] {
		var run string
		var last int64
		if _, err := fmt.Sscanf(line, "%s %d", &run, &last); err == nil {
			s.until[run] = last
		}
	}
	if len(lines) > 2*maxSent {
		_ = in(path).Write(path, []byte(strings.Join(lines[len(lines)-maxSent:], "\n")+"\n"), 0o600)
	}
	return s
}

func (s *sent) keep(runs []string) {
	if in(s.path).MkdirAll(filepath.Dir(s.path), 0o700) != nil {
		return
	}
	file, err := in(s.path).OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	for _, run := range runs {
		fmt.Fprintf(file, "%s %d\n", run, s.until[run])
	}
}
