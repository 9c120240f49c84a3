package ptyexec

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// spec is what the guard learns at its start.
type spec struct {
	path, dir string
	args, env []string
	tty       bool // the output is the slave of a pty
	prompt    bool // stdin is the pipe; else /dev/null
	grace     time.Duration
}

// Commands that may follow the spec, one byte each. The end of the pipe means that
// the runner is dead.
const (
	commandTerm byte = 't'
	commandKill byte = 'k'
)

// record is a report of the guard. The fields are exported for encoding/binary.
type record struct{ Kind, A, B int32 }

// Kinds of records, with their values.
const (
	recordStarted int32 = iota + 1 // pid
	recordFailed                   // errno
	recordExited                   // wait status of the child
	recordEnded                    // processes that outlived the child, processes that outlived SIGKILL
)

var errTorn = errors.New("torn message")

// encode returns s as the length of its body (4 bytes) and the body: fields that end
// with a NUL byte, which neither arguments nor variables can contain.
func (s spec) encode() []byte {
	body := strings.Join(slices.Concat([]string{
		strconv.FormatBool(s.tty), strconv.FormatBool(s.prompt), strconv.FormatInt(int64(s.grace), 10),
		strconv.Itoa(len(s.args)), strconv.Itoa(len(s.env)), s.path, s.dir,
	}, s.args, s.env, []string{""}), "\x00")
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
	f := strings.Split(string(body), "\x00")
	const fixed = 7
	if len(f) <= fixed {
		return spec{}, errTorn
	}
	tty, err1 := strconv.ParseBool(f[0])
	prompt, err2 := strconv.ParseBool(f[1])
	grace, err3 := strconv.ParseInt(f[2], 10, 64)
	args, err4 := strconv.Atoi(f[3])
	env, err5 := strconv.Atoi(f[4])
	if errors.Join(err1, err2, err3, err4, err5) != nil || args < 0 || env < 0 || len(f) != fixed+args+env+1 || f[len(f)-1] != "" {
		return spec{}, errTorn
	}
	return spec{f[5], f[6], f[fixed : fixed+args], f[fixed+args : fixed+args+env], tty, prompt, time.Duration(grace)}, nil
}

func (r record) encode() []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, r) // fails only for types of no fixed size
	return b
}

// readRecord returns io.EOF when the guard has ended.
func readRecord(r io.Reader) (rec record, err error) {
	err = binary.Read(r, binary.LittleEndian, &rec)
	return rec, err
}
