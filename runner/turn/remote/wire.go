// Package remote is the run's end of `ralph turn --away`: it sends a turn to a worker on any
// machine, and takes the Result. It also has the messages of both ends.
//
// Each message is a line of JSON. Readers skip other lines, such as the greeting of a login shell.
//
//	run      hello                     pack... parcel                      control...
//	worker          hello (what it has)              event... pack... end
//
// If a worker says hello again, another one has taken over and starts the turn again. The run then sends
// everything again. When the worker's stdin ends, it ends its agent.
package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"ralph/runner/turn"
	"ralph/state"
)

// Protocol is the version of the messages. A side refuses any other.
const Protocol = 1

// How long a message may be, in bytes.
const (
	MaxParcel = 64 << 20 // of the run, which may send files
	MaxReply  = 16 << 20 // of a worker
)

const (
	maxPacks = 1 << 30
	chunk    = 256 << 10
)

// Hello is the first message of both sides.
type Hello struct {
	Protocol int    `json:"protocol"`
	Ralph    string `json:"ralph"`           // version
	Error    string `json:"error,omitempty"` // of the worker: why it cannot carry turns out
	// Repo names the project in the worker's cache: letters, digits, dots and dashes.
	Repo string   `json:"repo,omitempty"`
	Has  []string `json:"has,omitempty"` // commits that the worker has
	Host string   `json:"host,omitempty"`
}

// File is one of the user's files that git does not have, relative to the worktree.
type File struct {
	Path string `json:"path"`
	Mode uint32 `json:"mode"`
	Data []byte `json:"data"`
}

// Parcel is what a turn needs besides its commits.
type Parcel struct {
	Head       string          `json:"head"`             // the commit on which the turn starts
	Name       string          `json:"name"`             // of the folder of the worktree
	Inside     string          `json:"inside,omitempty"` // the project in it
	Setup      string          `json:"setup,omitempty"`  // see WORKTREE_SETUP
	Files      []File          `json:"files,omitempty"`
	Now        time.Time       `json:"now"`        // by the clock of the run
	Assignment turn.Assignment `json:"assignment"` // its paths are relative to the worktree
}

// End is the last message of a worker.
type End struct {
	Result *turn.Result `json:"result,omitempty"`
	Error  string       `json:"error,omitempty"` // ralph's own failure
	Head   string       `json:"head,omitempty"`  // of the worktree; empty: nothing is sent back
	Left   string       `json:"left,omitempty"`  // a commit of the worktree as the turn left it
}

// Line is one message, and one line. Exactly one field is set.
type Line struct {
	Hello  *Hello       `json:"hello,omitempty"`
	Pack   []byte       `json:"-"` // a part of a git pack
	Parcel *Parcel      `json:"parcel,omitempty"`
	Event  *state.Event `json:"event,omitempty"`
	End    *End         `json:"end,omitempty"`
	Do     string       `json:"do,omitempty"` // skip or abort
}

// A part of a pack is a line, too: this mark, and its bytes without line breaks. Base64 would be a third longer.
const packMark = "\x01"

var (
	packWritten = strings.NewReplacer("\x10", "\x10p", "\n", "\x10n")
	packRead    = strings.NewReplacer("\x10p", "\x10", "\x10n", "\n")
)

// Reader reads messages.
type Reader struct {
	r    *bufio.Reader
	most int
}

// NewReader reads from r. A message of more than most bytes is an error.
func NewReader(r io.Reader, most int) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10), most} }

// Next returns the next message. The error is io.EOF at the end.
func (r *Reader) Next() (l Line, err error) {
	text, err := r.message()
	if pack, is := bytes.CutPrefix(text, []byte(packMark)); is {
		l.Pack = []byte(packRead.Replace(string(bytes.TrimSuffix(pack, []byte("\n")))))
		return l, err
	}
	if broken := json.Unmarshal(text, &l); broken != nil {
		return l, cmp.Or(err, fmt.Errorf("read message: %w", broken))
	}
	return l, nil
}

// message returns the text of the next message, with io.EOF if the input ends there.
func (r *Reader) message() ([]byte, error) {
	for {
		text, err := r.line()
		if bytes.HasPrefix(text, []byte(packMark)) {
			return text, err
		}
		// A shell may print something when it starts.
		if text = bytes.TrimSpace(text); err != nil || len(text) > 0 && text[0] == '{' {
			return text, err
		}
	}
}

func (r *Reader) line() (all []byte, err error) {
	for {
		part, err := r.r.ReadSlice('\n')
		if len(all)+len(part) > r.most {
			return nil, fmt.Errorf("read message: it has more than %d MiB", r.most>>20)
		}
		all = append(all, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return all, err
		}
	}
}

// Writer writes messages; safe for concurrent use.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes a message.
func (w *Writer) Send(l Line) error {
	data, err := json.Marshal(l)
	if l.Pack != nil {
		data = []byte(packMark + packWritten.Replace(string(l.Pack)))
	}
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err = w.w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// SendPack writes a pack in parts.
func (w *Writer) SendPack(pack string) error {
	for len(pack) > 0 {
		n := min(chunk, len(pack))
		if err := w.Send(Line{Pack: []byte(pack[:n])}); err != nil {
			return err
		}
		pack = pack[n:]
	}
	return nil
}

// Collect adds a part of a pack.
func Collect(pack *strings.Builder, part []byte) error {
	if pack.Len()+len(part) > maxPacks {
		return fmt.Errorf("a pack of commits has more than %d MiB", maxPacks>>20)
	}
	pack.Write(part)
	return nil
}
