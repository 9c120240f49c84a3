package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message, in bytes.
const maxLine = 4 << 20

// lines sits between a client's streams and the SDK. The SDK's own transport ends at the first line
// that is not a message, and drops unanswered requests when the input ends.
type lines struct {
	in   io.Reader
	pipe *io.PipeWriter // to the SDK

	mu   sync.Mutex
	out  io.Writer
	open map[jsonrpc.ID]bool // requests without an answer
	less chan struct{}       // has a value when one was answered
}

// transport reads messages, one a line, from in and writes the answers to out.
func transport(in io.Reader, out io.Writer) sdk.Transport {
	r, w := io.Pipe()
	l := &lines{in: in, out: out, pipe: w, open: map[jsonrpc.ID]bool{}, less: make(chan struct{}, 1)}
	go func() { _ = w.CloseWithError(l.pass()) }() // always nil
	return &sdk.IOTransport{Reader: r, Writer: l}
}

// pass hands messages on until the input ends, and waits for the answers.
func (l *lines) pass() error {
	scanner := bufio.NewScanner(l.in)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(line)
		switch request, ok := message.(*jsonrpc.Request); {
		case !json.Valid(line):
			l.refuse(jsonrpc.CodeParseError, "a line is not JSON")
			continue
		case err != nil:
			l.refuse(jsonrpc.CodeInvalidRequest, "a line is not a message of JSON-RPC 2.0: one object is expected")
			continue
		case ok && request.IsCall():
			l.mu.Lock()
			l.open[request.ID] = true
			l.mu.Unlock()
		}
		if _, err := l.pipe.Write(append(line, '\n')); err != nil {
			return err // the server has ended
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		l.refuse(jsonrpc.CodeParseError, fmt.Sprintf("a line is longer than %d bytes", maxLine))
	}
	l.wait()
	return io.EOF
}

// wait returns when each request is answered; a tool answers within verbTime.
func (l *lines) wait() {
	end := time.After(verbTime + time.Second)
	for {
		l.mu.Lock()
		left := len(l.open)
		l.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-l.less:
		case <-end:
			return
		}
	}
}

func (l *lines) refuse(code int, text string) {
	why := map[string]any{"code": code, "message": text}
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": why}) // plain values
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(line, '\n')) // a client that is gone ends the input, too
}

// Write writes one message of the server. The SDK writes one at a time, whole.
func (l *lines) Write(message []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.out.Write(message)
	if decoded, bad := jsonrpc.DecodeMessage(bytes.TrimSpace(message)); bad == nil {
		if answer, ok := decoded.(*jsonrpc.Response); ok {
			delete(l.open, answer.ID)
			select {
			case l.less <- struct{}{}:
			default:
			}
		}
	}
	return n, err
}

// Close leaves the client's streams as they are.
func (l *lines) Close() error { return nil }
