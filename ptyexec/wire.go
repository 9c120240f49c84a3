package ptyexec

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"time"

	"ralph/ptyexec/confine"
)

// spec is what the guard learns at its start.
type spec struct {
	path, dir string
	args, env []string
	after     []string // argv for the time after the child; its program is a path
	tty       bool     // the output is the slave of a pty
	prompt    bool     // stdin is the pipe; else /dev/null
	grace     time.Duration
	mark      uint64 // that all processes of the command get
	confine   string // limits as package confine encodes them
	cover     string // places as package cover encodes them
}

// Commands that may follow the spec, one byte each. The end of the pipe means that
// the runner is dead.
const (
	commandTerm byte = 't'
	commandKill byte = 'k'
)

// record is a report of the guard.
type record struct{ kind, a, b int32 }

// Kinds of records, with their values.
const (
	recordStarted    int32 = iota + 1 // pid
	recordFailed                      // errno
	recordExited                      // wait status of the child
	recordEnded                       // processes that outlived the child, processes that outlived SIGKILL
	recordUnconfined                  // errno
)

// last reports whether this is the guard's last record.
func (r record) last() bool { return r.kind != recordStarted && r.kind != recordExited }

const recordSize = 12

// message is a spec as JSON, which would change a string that is not UTF-8.
type message struct {
	Path, Dir, Confine, Cover []byte
	Args, Env, After          [][]byte
	TTY, Prompt               bool
	Grace                     time.Duration
	Mark                      uint64
}

// encode returns s as its length (4 bytes) and a message.
func (s spec) encode() []byte {
	body, _ := json.Marshal(message{[]byte(s.path), []byte(s.dir), []byte(s.confine), []byte(s.cover), confine.Convert[[]byte](s.args),
		confine.Convert[[]byte](s.env), confine.Convert[[]byte](s.after), s.tty, s.prompt, s.grace, s.mark}) // it cannot fail
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// readSpec reads what encode wrote.
func readSpec(r io.Reader) (spec, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return spec{}, err
	}
	body := make([]byte, binary.LittleEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return spec{}, err
	}
	var m message
	err := json.Unmarshal(body, &m)
	return spec{path: string(m.Path), dir: string(m.Dir), args: confine.Convert[string](m.Args), env: confine.Convert[string](m.Env),
		after: confine.Convert[string](m.After), tty: m.TTY, prompt: m.Prompt, grace: m.Grace, mark: m.Mark,
		confine: string(m.Confine), cover: string(m.Cover)}, err
}

func (r record) encode() []byte {
	b := make([]byte, 0, recordSize)
	for _, v := range [...]int32{r.kind, r.a, r.b} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// readRecord returns io.EOF when the guard has ended.
func readRecord(r io.Reader) (record, error) {
	var b [recordSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return record{}, err
	}
	at := func(i int) int32 { return int32(binary.LittleEndian.Uint32(b[i:])) }
	return record{at(0), at(4), at(8)}, nil
}
