package mcp

import (
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
