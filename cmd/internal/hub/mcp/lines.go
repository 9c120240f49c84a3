package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const maxMessage = 1 << 20 // bytes of a message of the client

// shared is an output for whole lines of several goroutines.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (s *shared) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(line)
}

// Close implements io.Closer. The output belongs to the caller.
func (s *shared) Close() error { return nil }

// pass passes the client's messages on. What is no message gets an error as its answer: the library would end the
// session.
func pass(in io.Reader, messages *io.PipeWriter, answers io.Writer) {
	lines := bufio.NewReaderSize(in, maxMessage)
	for {
		line, err := lines.ReadSlice('\n')
		code, bad := 0, error(nil)
		if line = bytes.TrimSpace(line); !json.Valid(line) {
			code, bad = jsonrpc.CodeParseError, errors.New("the line is not JSON")
		} else if _, bad = jsonrpc.DecodeMessage(line); bad != nil {
			code = jsonrpc.CodeInvalidRequest
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			code, bad = jsonrpc.CodeInvalidRequest, fmt.Errorf("the line has more than %d bytes", maxMessage)
			_, err = lines.ReadSlice('\n')
		}
		switch {
		case len(line) == 0:
		case bad == nil:
			_, _ = messages.Write(append(bytes.Clone(line), '\n'))
		default:
			answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, // plain values: it cannot fail
				"error": map[string]any{"code": code, "message": bad.Error()}})
			_, _ = answers.Write(append(answer, '\n'))
		}
		if err != nil {
			_ = messages.Close()
			return
		}
	}
}
