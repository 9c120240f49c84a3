package acp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// client is ralph's end of the connection. It offers neither files nor terminals: the agent has its own.
type client struct {
	printer *printer
	policy  Policy
	updates *backlog
	said    *paced
}

// backlog has the updates that are not printed yet. The library ends a connection whose updates are not read fast
// enough.
type backlog struct {
	mu   sync.Mutex
	all  []sdk.SessionUpdate
	some chan struct{} // has a value if all may have updates
}

func newBacklog() *backlog { return &backlog{some: make(chan struct{}, 1)} }

func (b *backlog) add(u sdk.SessionUpdate) {
	b.mu.Lock()
	b.all = append(b.all, u)
	b.mu.Unlock()
	select {
	case b.some <- struct{}{}:
	default:
	}
}

// drain prints the backlog.
func (b *backlog) drain(p *printer) {
	b.mu.Lock()
	defer b.mu.Unlock() // so that no other call overtakes this one
	for _, u := range b.all {
		p.update(u)
	}
	b.all = nil
}

// print prints updates as they come, until done is closed.
func (b *backlog) print(p *printer, done <-chan struct{}) {
	for {
		select {
		case <-b.some:
			b.drain(p)
		case <-done:
			return
		}
	}
}

// announced is how long a request for permission waits until an update has announced its tool call.
const announced = 2 * time.Second

var _ sdk.Client = (*client)(nil)

func (c *client) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	c.updates.add(n.Update)
	c.said.handed()
	return nil
}

func (c *client) RequestPermission(_ context.Context,
	r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	kind, command := c.printer.asked(r.ToolCall)
	// The library hands requests over sooner than updates.
	for end := time.Now().Add(announced); kind == "" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		c.updates.drain(c.printer)
		kind, command = c.printer.asked(r.ToolCall)
	}
	allow := c.policy.allows(kind, command)
	if !allow {
		c.printer.refused(r.ToolCall)
	}
	return answer(r.Options, allow), nil
}

func (c *client) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, sdk.NewMethodNotFound("fs/read_text_file")
}

func (c *client) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, sdk.NewMethodNotFound("fs/write_text_file")
}

func (c *client) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, sdk.NewMethodNotFound("terminal/create")
}

func (c *client) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, sdk.NewMethodNotFound("terminal/kill")
}

func (c *client) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, sdk.NewMethodNotFound("terminal/output")
}

func (c *client) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, sdk.NewMethodNotFound("terminal/release")
}

func (c *client) WaitForTerminalExit(context.Context,
	sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, sdk.NewMethodNotFound("terminal/wait_for_exit")
}
