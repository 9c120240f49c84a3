package monitor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state"
	"ralph/state/view"
)

// Whatever the two files say, the lines are inert and there is no panic.
func FuzzPlain_anyStateFiles_printOnlyInertLines(f *testing.F) {
	status := `{"run_id":"r","status":"running","phase":"agent","task":{"title":"x\u001b[31m","done":1,"total":-3},"usage":{"cost_usd":-1e308},"wake_at":"9999-12-31T23:59:59Z"}`
	for _, events := range []string{
		"", "{", `{"kind":"text","text":"hello"}`, `{"time":"2026-11-20T04:00:00Z","run":"r","iteration":-1,"kind":"tool","tool":{"name":"Bash","arg":"\u001b]0;x\u0007"}}`,
		`{"kind":"iteration_start","iteration":1}` + "\n" + `{"kind":"iteration_end","iteration":1,"end":{"duration_ns":-5}}`, `{"kind":"limit","limit":{"kind":"\r","utilization":1e300}}`,
		`{"kind":"run_end","end":{"exit":3,"reason":"a\nb"}}`, `{"kind":"decision","end":null}`, `{"kind":"usage","usage":{"input_tokens":-9223372036854775808}}`,
		`{"v":2,"kind":"tool","iteration":1,"data":{"name":"Bash","arg":"\u001b]0;x\u0007"}}`, `{"v":2,"kind":"iteration_end","iteration":2,"data":{"seconds":1e300}}`,
		`{"v":2,"kind":"check","data":{"name":"a\tb","output":"x\r\ty"}}`, `{"v":2,"kind":"finding","data":null}`, `{"v":3,"kind":"new","data":{"x":1}}`,
	} {
		f.Add([]byte(events), []byte(status))
		f.Add([]byte(events), []byte(`{"status":"`+strings.Repeat("x", 300)+`"}`))
	}
	f.Fuzz(func(t *testing.T, events, status []byte) {
		project := t.TempDir()
		dir := filepath.Join(project, state.DirName)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"status.json": status, ".circuit_breaker_state": status, ".call_count": events} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		up := view.Update{Snapshot: view.Gather(state.Open(dir), noon)}
		for line := range bytes.Lines(events) {
			if e, ok := state.EventFilter(nil).Decode(line); ok {
				up.Events = append(up.Events, e)
			}
		}
		var out bytes.Buffer
		p := plainer{o: Options{Dir: project, Now: func() time.Time { return noon }, Out: &out}}
		p.log.Dir = project
		for range 2 {
			if err := p.write(up); err != nil {
				t.Fatal(err)
			}
		}
		harmless(t, strings.ReplaceAll(out.String(), project, ""))
	})
}
