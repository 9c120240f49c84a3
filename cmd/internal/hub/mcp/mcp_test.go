package mcp

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is one whose ralph prints its arguments.
func server(t *testing.T) Server {
	t.Helper()
	ralph := filepath.Join(t.TempDir(), "ralph")
	script := `#!/bin/sh
shift 2
case "$1" in
version) echo ralph 1.2.3 ;;
status) echo '{"status":"halted"}'; exit 1 ;;
questions) echo "ralph: no state" >&2; exit 2 ;;
diff) ;;
iterations) head -c 300000 /dev/zero | tr '\0' x ;;
*) printf '<%s>' "$@" ;;
esac
`
	if err := os.WriteFile(ralph, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Server{Ralph: ralph, Dir: t.TempDir()}
}

// connect returns a client of it.
func connect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	server, err := server(t).server("").Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(); _ = server.Wait() })
	return client
}

func TestTools_callsOfAnAgent_runVerbsOrSayWhyNot(t *testing.T) {
	client := connect(t)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
		bad  bool
	}{
		{"status", nil, `{"status":"halted"}`, false},
		{"tasks", nil, "<task><list><--json>", false},
		{"diff", map[string]any{"iteration": 3}, "no changes", false},
		{"questions", nil, "no state", true},
		{"add_task", map[string]any{"text": "--all"}, "<task><add><--><--all>", false},
		{"add_task", map[string]any{"text": " "}, "the text is empty", true},
		{"answer", map[string]any{"id": "q1", "text": "-x"}, "<answer><--by=mcp><--><q1><-x>", false},
		{"answer", map[string]any{"id": "--all", "option": 2}, "<answer><--by=mcp><--option=2><--><--all>", false},
		{"answer", map[string]any{"id": "q1"}, "a text or an option", true},
		{"iterations", nil, "bytes more: ralph iterations --json", false},
	} {
		got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
			continue
		}
		text := got.Content[0].(*sdk.TextContent).Text
		if !strings.Contains(text, c.want) || got.IsError != c.bad || len(text) > maxText+200 {
			t.Errorf("%s %v: error %v, %.200q", c.tool, c.args, got.IsError, text)
		}
	}
}

func TestTools_list_saysWhichOnlyRead(t *testing.T) {
	all, err := connect(t).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var writes []string
	for _, tool := range all.Tools {
		if !tool.Annotations.ReadOnlyHint {
			writes = append(writes, tool.Name)
		}
	}
	slices.Sort(writes)
	if len(all.Tools) != 7 || !slices.Equal(writes, []string{"add_task", "answer"}) {
		t.Errorf("%d tools, these write: %v", len(all.Tools), writes)
	}
}

func TestRun_linesThatAreNoMessages_areAnsweredAndTheSessionGoesOn(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- server(t).Run(t.Context(), in, out)
		_ = out.Close()
	}()
	lines := bufio.NewScanner(answers)
	defer time.AfterFunc(time.Minute, func() { _ = answers.CloseWithError(errors.New("no answer")) }).Stop()
	for _, c := range [][2]string{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":1`},
		{`{"jsonrpc":"2.0","id":2,`, `"code":-32700`}, {"nonsense", `"code":-32700`}, {"{}{}", `"code":-32700`}, {`"text"`, `"code":-32600`},
		{`[]`, `"code":-32600`}, {`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, `"code":-32600`}, {`{"jsonrpc":"1.0","id":4,"method":"ping"}`, `"code":-32600`},
		{`{"id":{}}`, `"code":-32600`}, {`{"jsonrpc":"2.0"}`, `"code":-32600`}, {strings.Repeat("x", maxMessage+10), `"code":-32600`},
		{"\xff\x00", `"code":-32700`}, {`{"jsonrpc":"2.0","id":6,"method":"nothing"}`, `"id":6`}, {"\r\n" + `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, "add_task"},
	} {
		go func() { _, _ = io.WriteString(client, c[0]+"\n") }()
		if !lines.Scan() {
			t.Fatalf("%.100s: the session has ended: %v", c[0], <-ended)
		}
		if got := lines.Text(); !strings.Contains(got, c[1]) {
			t.Errorf("%.100s: %.300s, want %s", c[0], got, c[1])
		}
	}
	_ = client.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
