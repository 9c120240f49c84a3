package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/runner/agent/wire"
	"ralph/state"
)

// only returns the payloads of one type.
func only[P state.Payload](events []state.Payload) (found []P) {
	for _, e := range events {
		if p, ok := e.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

// words returns the text of a payload, if it has one.
func words(p state.Payload) string {
	switch p := p.(type) {
	case state.Text:
		return p.Text
	case state.ToolResult:
		return p.Text
	case state.Denied:
		return p.Reason
	case state.Retry:
		return p.Text
	case state.AgentError:
		return p.Text
	case state.FinalMessage:
		return p.Text
	}
	return ""
}

func claudeResult(text string, failed bool, more string) string {
	return fmt.Sprintf(`{"duration_ms":1,"is_error":%v,%s"subtype":"success","result":%s,"type":"result","session_id":"s1"}`,
		failed, more, mustJSON(text))
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func claudeText(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":` + mustJSON(text) + `}]}}`
}

const claudeInit = `{"type":"system","subtype":"init","session_id":"s1","model":"m1"}`

func TestDecode_terminalNoiseAroundRecords_recordsAreRead(t *testing.T) {
	s := row(t, "claude")
	for name, wrap := range map[string]func(string) string{
		"plain":                  func(l string) string { return l + "\n" },
		"CRLF":                   func(l string) string { return l + "\r\n" },
		"echoed control key":     func(l string) string { return "^C" + l + "\r\n" },
		"cursor sequences":       func(l string) string { return "\x1b[2K\x1b[?25h" + l + "\x1b[?25h\r\n" },
		"title sequence":         func(l string) string { return "\x1b]0;title\a" + l + "\n" },
		"spinner before":         func(l string) string { return "working...\r" + l + "\n" },
		"warning lines between":  func(l string) string { return "Warning: something\n" + l + "\n\n" },
		"no newline at the end":  func(l string) string { return "\n" + l },
		"leading NUL and spaces": func(l string) string { return "\x00  " + l + "  \n" },
	} {
		t.Run(name, func(t *testing.T) {
			out := wrap(claudeInit) + wrap(claudeText("hello")) + wrap(claudeResult("hello", false, ""))
			if name == "no newline at the end" {
				out = claudeInit + "\n" + claudeText("hello") + "\n" + claudeResult("hello", false, "")
			}
			tr, events := decodeAll(s, []byte(out))
			if only[state.SessionStart](events)[0].Model != "m1" || tr.Session != "s1" || tr.Final != "hello" || !tr.HasResult || tr.TextBytes != 5 {
				t.Errorf("transcript %+v", tr)
			}
		})
	}
}

func TestDecode_anyChunking_sameEvents(t *testing.T) {
	gs := goldens(t)
	outputs := map[string][]byte{}
	for _, g := range gs {
		outputs[g.name], _ = recorded(t, g.name)
	}
	rapid.Check(t, func(r *rapid.T) {
		g := rapid.SampledFrom(gs).Draw(r, "recording")
		s, out := row(t, g.agent), outputs[g.name]
		_, want := decodeAll(s, out)
		var got []state.Payload
		d := s.NewDecoder(func(ev state.Payload) { got = append(got, ev) })
		for rest := out; len(rest) > 0; {
			n := min(rapid.IntRange(1, 3000).Draw(r, "chunk"), len(rest))
			if w, err := d.Write(rest[:n]); w != n || err != nil {
				r.Fatalf("Write = %d, %v", w, err)
			}
			rest = rest[n:]
		}
		d.Close()
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("%s: %s", g.name, diff)
		}
	})
}

func TestDecode_byteByByte_sameEvents(t *testing.T) {
	for _, name := range []string{"claude-pty-sigint-tool", "gemini-stream-json", "codex-pty-json"} {
		s := row(t, strings.Split(name, "-")[0])
		out, _ := recorded(t, name)
		_, want := decodeAll(s, out)
		var got []state.Payload
		d := s.NewDecoder(func(ev state.Payload) { got = append(got, ev) })
		for i := range out {
			_, _ = d.Write(out[i : i+1])
		}
		d.Close()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestFinal_backgroundTaskStartsSecondTurn_isResetAndSetAgain(t *testing.T) {
	out, _ := recorded(t, "claude-bg-task")
	var states []bool
	d := row(t, "claude").NewDecoder(func(state.Payload) {})
	for line := range bytes.Lines(out) {
		_, _ = d.Write(line)
		if n := len(states); n == 0 || states[n-1] != d.Final() {
			states = append(states, d.Final())
		}
	}
	if want := []bool{false, true, false, true}; !slices.Equal(states, want) {
		t.Errorf("Final went %v, want %v", states, want)
	}
	tr, _ := decodeAll(row(t, "claude"), out)
	if tr.Usage.InputTokens != 4200 || tr.Usage.CostUSD != 0.0229 {
		t.Errorf("two turns count %+v; tokens are per turn, the cost is cumulative", tr.Usage)
	}
	if !strings.HasPrefix(tr.Final, "The background job has ended") {
		t.Errorf("final %q", tr.Final)
	}
}

func TestDecode_lineAboveTheLimit_isSkippedInConstantMemory(t *testing.T) {
	s := row(t, "claude")
	chunk := bytes.Repeat([]byte("x"), 1<<16)
	var tr Transcript
	var notes int
	d := s.NewDecoder(func(ev state.Payload) {
		tr.Add(ev)
		if text, ok := ev.(state.Text); ok && text.Source == state.FromHint {
			notes++
		}
	})
	_, _ = d.Write([]byte(claudeInit + "\n" + `{"type":"user","message":{"content":[{"type":"tool_result","content":"`))
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // make test sets another
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	for i := range (100 << 20) / len(chunk) {
		_, _ = d.Write(chunk)
		if i%200 == 0 {
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
		}
	}
	_, _ = d.Write([]byte(`"}]}}` + "\n" + claudeResult("still here", false, "") + "\n"))
	d.Close()
	if tr.Final != "still here" || notes != 1 {
		t.Errorf("final %q, %d notes", tr.Final, notes)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 96<<20 {
		t.Errorf("heap grew by %d MiB on a line of 100 MiB", grown>>20)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if int64(after.HeapAlloc)-int64(before.HeapAlloc) > 8<<20 {
		t.Errorf("%d MiB stay after the line", (int64(after.HeapAlloc)-int64(before.HeapAlloc))>>20)
	}
	runtime.KeepAlive(d)
}

func TestDecode_lineAboveTheLimitInOneWrite_isSkipped(t *testing.T) {
	out := append(bytes.Repeat([]byte("y"), maxLine+1), '\n')
	out = append(out, claudeResult("ok", false, "")...)
	tr, events := decodeAll(row(t, "claude"), out)
	if tr.Final != "ok" || len(only[state.Text](events)) != 1 {
		t.Errorf("final %q, events %d", tr.Final, len(events))
	}
}

func TestDecode_deeplyNestedJSON_doesNotPanic(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 1<<18)
	seen := map[Format]bool{}
	for _, s := range Specs() {
		if seen[s.Format] {
			continue
		}
		seen[s.Format] = true
		for _, bomb := range []string{
			deep + "\n", `{"type":"assistant","message":` + deep + "}\n", `{"type":"result","usage":` + deep + "}\n",
			"[" + deep + "]\n", `{"type":"error","error":` + deep + strings.Repeat("]}", 1<<18) + "}\n",
		} {
			_, _ = decodeAll(s, []byte(bomb))
		}
	}
}

func TestDecode_invalidUTF8_textIsSanitised(t *testing.T) {
	tr, events := decodeAll(row(t, "claude"), []byte("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}}\nbad \xc3 line\n"))
	for _, ev := range events {
		if text := words(ev); strings.ToValidUTF8(text, "?") != text {
			t.Errorf("%T: %q", ev, text)
		}
	}
	if tr.TextBytes == 0 || len(tr.CLI) != 1 {
		t.Errorf("transcript %+v", tr)
	}
}

func TestDecode_floodOfNoise_fewEventsAndBoundedTranscript(t *testing.T) {
	for _, agent := range []string{"claude", "text"} {
		var tr Transcript
		var n int
		d := row(t, agent).NewDecoder(func(ev state.Payload) { n++; tr.Add(ev) })
		line := []byte(strings.Repeat("lorem ipsum ", 8) + "\n")
		for range 200_000 {
			_, _ = d.Write(line)
		}
		d.Close()
		if n > floodLines+200_000/thinLines+10 {
			t.Errorf("%s: %d events", agent, n)
		}
		if len(tr.CLI) > maxCLILines || len(tr.Final) > maxText+8 {
			t.Errorf("%s: %d lines, final of %d bytes", agent, len(tr.CLI), len(tr.Final))
		}
	}
}

func TestDecode_longTexts_areCutToTheirLimits(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	out := claudeText(long) + "\n" +
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":` + mustJSON(long) + `}]}}` + "\n" +
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":` + mustJSON(long) + `}}]}}` + "\n"
	_, events := decodeAll(row(t, "claude"), []byte(out))
	if n := len(only[state.Text](events)[0].Text); n < maxText-4 || n > maxText+8 {
		t.Errorf("text of %d bytes", n)
	}
	if n := len(only[state.ToolResult](events)[0].Text); n < maxToolText-4 || n > maxToolText+8 {
		t.Errorf("tool result of %d bytes", n)
	}
	if n := len([]rune(only[state.Tool](events)[0].Arg)); n != wire.MaxLine {
		t.Errorf("argument of %d runes", n)
	}
}

func TestDecode_unknownTypesAndKeys_ignored(t *testing.T) {
	for _, s := range Specs() {
		if s.Format == FormatText {
			continue
		}
		tr, events := decodeAll(s, []byte(`{"type":"from_the_future","result":"usage limit reached","is_error":true}`+"\n"))
		if len(events) != 0 || tr.HasResult {
			t.Errorf("%s: %v", s.Name, events)
		}
	}
}

func TestDecode_toolsOfSubagent_haveTheirParent(t *testing.T) {
	out := `{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a.go"}}]}}`
	_, events := decodeAll(row(t, "claude"), []byte(out))
	want := []state.Payload{state.Tool{ID: "t2", Name: "Read", Arg: "a.go", File: true, Parent: "toolu_1", Sum: wire.Sum("file_path", `"a.go"`)}}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
}

func TestDecode_denialInEventAndResult_reportedOnceWithItsCommand(t *testing.T) {
	out, _ := recorded(t, "claude-perm-default")
	_, events := decodeAll(row(t, "claude"), out)
	denied := only[state.Denied](events)
	if len(denied) != 1 || !strings.HasPrefix(denied[0].Tool.Arg, `echo "hello from run 1"`) || denied[0].Reason == "" {
		t.Errorf("denied %+v", denied)
	}
}

func TestDecode_rateLimitEvent_oneEventAWindow(t *testing.T) {
	out, _ := recorded(t, "claude-sub-limit5h")
	_, events := decodeAll(row(t, "claude"), out)
	limits := map[string]state.Limit{}
	for _, l := range only[state.Limit](events) {
		limits[l.Name] = l
	}
	five, seven := limits["five_hour"], limits["seven_day"]
	if !five.Rejected || five.Utilization != 1 || five.ResetsAt.Unix() != 1795150179 {
		t.Errorf("five_hour %+v", five)
	}
	if seven.Rejected || seven.Utilization != 0.4 {
		t.Errorf("seven_day %+v", seven)
	}
}

func TestDecode_cursorToolCalls(t *testing.T) {
	out := `{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"shellToolCall":{"args":{"command":"ls -la"}}}}` + "\n" +
		`{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{"shellToolCall":{"args":{},"result":{"success":{"exitCode":0}}}}}` + "\n"
	tr, events := decodeAll(row(t, "cursor-agent"), []byte(out))
	calls := only[state.Tool](events)
	if tr.ToolCalls != 1 || calls[0].Name != "shell" || calls[0].Arg != "ls -la" || len(only[state.ToolResult](events)) != 1 {
		t.Errorf("%+v", tr)
	}
}

func TestTranscript_refusedCall_isNoFailure(t *testing.T) {
	refused, failed := state.Tool{ID: "1", Name: "Bash", Arg: "make all"}, state.Tool{ID: "2", Name: "Bash", Arg: "make"}
	var tr Transcript
	for _, p := range []state.Payload{
		state.ToolResult{Tool: refused, Text: "this command needs approval: cannot run it", Error: true}, state.Denied{Tool: refused},
		state.ToolResult{Tool: failed, Text: "cannot find x", Error: true},
	} {
		tr.Add(p)
	}
	if len(tr.Failures) != 1 || tr.Failures[0].Arg != "make" {
		t.Errorf("failures %+v", tr.Failures)
	}
}
