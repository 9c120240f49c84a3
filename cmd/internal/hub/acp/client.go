package acp

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	sdk "github.com/coder/acp-go-sdk"
)

// maxMessage bounds a message of the agent, in bytes.
const maxMessage = 16 << 20

// client is ralph's end of the connection. It offers neither files nor terminals: the agent has its own. It handles
// messages one at a time, in order. The library's own client ends a connection whose updates it gets too fast, and
// hands requests over before the updates that they are about.
type client struct {
	in      *bufio.Scanner
	out     *json.Encoder
	id      int // of the last request
	printer *printer
	policy  Policy
}

func newClient(from io.Reader, to io.Writer, p *printer, policy Policy) *client {
	in := bufio.NewScanner(from)
	in.Buffer(nil, maxMessage)
	return &client{in: in, out: json.NewEncoder(to), printer: p, policy: policy}
}

// message is one of JSON-RPC.
type message struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id,omitempty"`
	Method  string            `json:"method,omitempty"`
	Params  any               `json:"params,omitempty"`
	Result  any               `json:"result,omitempty"`
	Error   *sdk.RequestError `json:"error,omitempty"`
}

// call sends a request and handles what the agent says until it answers.
func (c *client) call(method string, params, result any) error {
	c.id++
	id := strconv.Itoa(c.id)
	if err := c.send(message{ID: json.RawMessage(id), Method: method, Params: params}); err != nil {
		return err
	}
	for c.in.Scan() {
		var params, got json.RawMessage
		m := message{Params: &params, Result: &got}
		if json.Unmarshal(c.in.Bytes(), &m) != nil {
			continue
		}
		switch {
		case m.Method == sdk.ClientMethodSessionUpdate:
			var n sdk.SessionNotification
			if json.Unmarshal(params, &n) == nil {
				c.printer.update(n.Update)
			}
		case m.Method != "" && m.ID != nil:
			if err := c.answer(m.ID, m.Method, params); err != nil {
				return err
			}
		case string(m.ID) == id && m.Error != nil:
			return m.Error
		case string(m.ID) == id:
			return json.Unmarshal(got, result)
		}
	}
	if err := c.in.Err(); err != nil {
		return err
	}
	return errors.New("the agent has ended")
}

func (c *client) send(m message) error {
	m.Version = "2.0"
	return c.out.Encode(m)
}

// answer answers a request of the agent.
func (c *client) answer(id json.RawMessage, method string, params json.RawMessage) error {
	var r sdk.RequestPermissionRequest
	if method != sdk.ClientMethodSessionRequestPermission || json.Unmarshal(params, &r) != nil {
		return c.send(message{ID: id, Error: sdk.NewMethodNotFound(method)})
	}
	allow := c.policy.allows(c.printer.asked(r.ToolCall))
	if !allow {
		c.printer.refused(r.ToolCall)
	}
	return c.send(message{ID: id, Result: answer(r.Options, allow)})
}
