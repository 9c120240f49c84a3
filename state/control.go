package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Request asks a living runner for something.
type Request string

// The requests, in the order of the help.
const (
	RequestPause  Request = "pause"  // wait after this iteration
	RequestResume Request = "resume" // end a pause or a wait, take back a stop
	RequestSkip   Request = "skip"   // end this iteration and take the next task
	RequestStop   Request = "stop"   // end the run after this iteration
	RequestAbort  Request = "abort"  // end the run now
)

// InsideVar is the variable with the id of the run whose agent started a process. By
// it, ralph tells an agent's own `ralph stop` from a person's.
const InsideVar = "RALPH_INSIDE"

// Requests lists what a runner understands.
func Requests() []Request {
	return []Request{RequestPause, RequestResume, RequestSkip, RequestStop, RequestAbort}
}

// maxTaskID bounds the name of a task in a request, in bytes.
const maxTaskID = 1 << 10

// agentMark is the prefix of an agent's request in the name of its file.
const agentMark = "agent+"

// OfAgent is the same request, marked as sent by an agent of the run itself.
func (q Request) OfAgent() Request { return agentMark + q }

// Plain is the request without its mark. ofAgent is true if it has the mark of the
// run's own agent.
func (q Request) Plain() (plain Request, ofAgent bool) {
	text, ofAgent := strings.CutPrefix(string(q), agentMark)
	return Request(text), ofAgent
}

// About is the same request about one task only.
func (q Request) About(task string) Request {
	if task == "" {
		return q
	}
	return q + Request(" "+task)
}

// Split is the request without its task, and the task; empty: it is about all tasks.
func (q Request) Split() (kind Request, task string) {
	text, task, _ := strings.Cut(string(q), " ")
	return Request(text), task
}

func (q Request) known() bool {
	kind, _ := q.Split()
	plain, _ := kind.Plain()
	return slices.Contains(Requests(), plain)
}

// Send leaves a request for the runner of the project: one file, renamed into place.
func Send(dir string, q Request) error {
	if !q.known() {
		return fmt.Errorf("send request: %q is not one of %v", q, Requests())
	}
	in, folder := Project(dir), filepath.Join(dir, dirControl)
	if err := in.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	kind, task := q.Split()
	name := fmt.Sprintf("%020d-%d-%s", time.Now().UnixNano(), os.Getpid(), kind)
	if err := in.Write(filepath.Join(folder, name), []byte(task), 0o600); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// TakeRequests removes and returns the waiting requests, oldest first, each with
// its sender (see Plain). Files that are not requests are left alone.
func (w *Writer) TakeRequests() ([]Request, error) { return w.takeRequests(time.Now().Add(time.Hour)) }

// takeRequests takes the requests that were sent before a moment.
func (w *Writer) takeRequests(before time.Time) ([]Request, error) {
	entries, err := w.in.ReadDir(w.path(dirControl))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	var all []Request
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // a temporary file about to be renamed
		}
		if sent, _, _ := strings.Cut(e.Name(), "-"); sent > fmt.Sprintf("%020d", before.UnixNano()) {
			continue
		}
		q := Request(e.Name()[strings.LastIndexByte(e.Name(), '-')+1:])
		if !q.known() {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 && info.Size() < maxTaskID {
			task, _ := w.in.Read(w.path(dirControl, e.Name()), maxTaskID) // of a file that is gone: about all
			q = q.About(string(task))
		}
		if err := w.remove(filepath.Join(dirControl, e.Name())); err != nil {
			return all, err
		}
		all = append(all, q)
	}
	return all, nil
}

// Asked is the waiting request that the end of the iteration will answer: pause or stop, unless a later
// one takes it back; empty: none. The runner takes requests within moments, and says so in its status.
func (r *Reader) Asked() (asked Request) {
	entries, err := r.in.ReadDir(r.path(dirControl))
	if err != nil {
		return "" // nobody has sent a request yet
	}
	for _, e := range entries { // in the order in which they were sent
		q, _ := Request(e.Name()[strings.LastIndexByte(e.Name(), '-')+1:]).Plain()
		info, err := e.Info()
		switch {
		case err != nil || info.Size() > 0 || strings.HasPrefix(e.Name(), "."): // about one task
		case q == RequestPause, q == RequestStop:
			asked = q
		case q == RequestResume, q == RequestAbort:
			asked = ""
		}
	}
	return asked
}
