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

	"github.com/google/renameio/v2"
)

// Request is what a person asks a running ralph to do.
type Request string

// The requests, in the order of the help.
const (
	RequestPause  Request = "pause"  // wait after this iteration
	RequestResume Request = "resume" // end a pause or a wait
	RequestSkip   Request = "skip"   // end this iteration and take the next task
	RequestStop   Request = "stop"   // end the run after this iteration
	RequestAbort  Request = "abort"  // end the run now
)

// Requests lists all requests.
func Requests() []Request {
	return []Request{RequestPause, RequestResume, RequestSkip, RequestStop, RequestAbort}
}

// Send leaves a request for the runner: one file in control/, renamed into place.
func Send(dir string, q Request) error {
	if !slices.Contains(Requests(), q) {
		return fmt.Errorf("send request: %q is not one of %v", q, Requests())
	}
	folder := filepath.Join(dir, dirControl)
	err := realDir(folder, 0o755)
	if err == nil {
		name := fmt.Sprintf("%020d-%d-%s", time.Now().UnixNano(), os.Getpid(), q)
		err = renameio.WriteFile(filepath.Join(folder, name), nil, 0o600, renameio.WithTempDir(folder))
	}
	if err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// TakeRequests removes and returns the pending requests, oldest first. It leaves
// other files alone.
func (w *Writer) TakeRequests() ([]Request, error) { return w.takeRequests(time.Now().Add(time.Hour)) }

// takeRequests takes the requests that were sent before a time.
func (w *Writer) takeRequests(before time.Time) ([]Request, error) {
	entries, err := os.ReadDir(w.path(dirControl))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	var all []Request
	for _, e := range entries {
		sent, _, _ := strings.Cut(e.Name(), "-")
		q := Request(e.Name()[strings.LastIndexByte(e.Name(), '-')+1:])
		temporary := strings.HasPrefix(e.Name(), ".") // about to be renamed
		if temporary || sent > fmt.Sprintf("%020d", before.UnixNano()) || !slices.Contains(Requests(), q) {
			continue
		}
		if err := remove(w.path(dirControl, e.Name())); err != nil {
			return all, err
		}
		all = append(all, q)
	}
	return all, nil
}
