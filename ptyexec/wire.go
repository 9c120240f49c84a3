package ptyexec

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"
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

var errTorn = errors.New("torn message")

// encode returns s as its length (4 bytes) and a body of numbers and strings.
func (s spec) encode() []byte {
	b := make([]byte, 4, 4096)
	for _, v := range []uint64{flag(s.tty), flag(s.prompt), uint64(s.grace), s.mark} {
		b = binary.AppendUvarint(b, v)
	}
	for _, list := range [][]string{{s.path, s.dir, s.confine, s.cover}, s.args, s.env, s.after} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, text := range list {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func flag(set bool) uint64 {
	if set {
		return 1
	}
	return 0
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
	ok := true
	number := func() uint64 {
		v, n := binary.Uvarint(body)
		if n <= 0 || v > math.MaxInt64 {
			ok = false
			return 0
		}
		body = body[n:]
		return v
	}
	list := func() (texts []string) {
		for n := number(); n > 0 && ok; n-- {
			size := number()
			if size > uint64(len(body)) {
				ok = false
				return nil
			}
			texts = append(texts, string(body[:size]))
			body = body[size:]
		}
		return texts
	}
	s := spec{tty: number() == 1, prompt: number() == 1, grace: time.Duration(number()), mark: number()}
	where := list()
	s.args, s.env, s.after = list(), list(), list()
	if !ok || len(where) != 4 || len(body) != 0 {
		return spec{}, errTorn
	}
	s.path, s.dir, s.confine, s.cover = where[0], where[1], where[2], where[3]
	return s, nil
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
