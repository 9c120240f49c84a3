package mcp

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

func TestRun_inputThatEndsAndLinesThatAreNoMessages_eachIsAnswered(t *testing.T) {
	var out bytes.Buffer
	err := server(t).Run(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
this is no JSON

[1, 2]
{"id": 3}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"status","arguments":{}}}
{"jsonrpc":"2.0","id":"five","method":"tools/call","params":{"name":"tasks","arguments":{}}}
`), &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"version":"1.2.3"`, "-32700", "-32600", `"id":4`, "halted", `"id":"five"`, "list"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "-32600"); n != 2 {
		t.Errorf("%d lines are no messages, want 2", n)
	}
}

func TestRun_aLineWithoutEnd_endsItWithAReason(t *testing.T) {
	var out bytes.Buffer
	if err := server(t).Run(t.Context(), io.LimitReader(endless{}, 2*maxLine), &out); err != nil || !strings.Contains(out.String(), "longer than") {
		t.Errorf("%v, %s", err, out.String())
	}
}

// endless is a line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
