package cmdline

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ralph/state"
)

func TestWriteStartError_isTheEndOfNoRun_onThisMachine(t *testing.T) {
	var out strings.Builder
	WriteStartError(&out, "no plan", 2)
	var e state.Event
	if err := json.Unmarshal([]byte(out.String()), &e); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	if end, ok := e.Data.(state.RunEnd); !ok || end.Exit != 2 || end.Reason != "no plan" || e.Origin != (state.Origin{Host: host}) || e.Seq != 1 {
		t.Errorf("%s", out.String())
	}
}
