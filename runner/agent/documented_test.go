package agent

import (
	"os"
	"path/filepath"
	"testing"

	"ralph/ptyexec"
	"ralph/runner/agent/ending"
)

// The files in testdata/documented were written from documentation: no call of
// these CLIs has ever been seen.
func TestDocumented_outputs_haveTheirClass(t *testing.T) {
	for _, test := range []struct {
		agent, file, final, session string
		tools                       int
		exit                        ptyexec.Exit
		class                       ending.Class
	}{
		{"cursor", "cursor-agent-edit.jsonl", "I will write the file.Done.", "c6b62c6f-7ead-4fd6-9922-e952131177ff", 1, exited, ending.CompletedTurn},
	} {
		t.Run(test.file, func(t *testing.T) {
			out, err := os.ReadFile(filepath.Join("testdata", "documented", test.file))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Find(test.agent)
			if err != nil {
				t.Fatal(err)
			}
			tr, _ := decodeAll(s, out)
			if got := s.Classify(tr, test.exit, recordedAt); got.Class != test.class {
				t.Errorf("class %s (%s), want %s", got.Class, got.Reason, test.class)
			}
			if tr.Final != test.final || tr.Session != test.session || tr.ToolCalls != test.tools {
				t.Errorf("final %q, session %q, %d tools", tr.Final, tr.Session, tr.ToolCalls)
			}
		})
	}
}
