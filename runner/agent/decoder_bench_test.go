package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ralph/state"
)

// floodSample returns a megabyte of stream-json, like that of a busy call.
func floodSample() []byte {
	var b bytes.Buffer
	code := strings.Repeat("func main() {\n\tfmt.Println(\"hello, world\")\n}\n", 60)
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, `{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%s}],"stop_reason":null,"usage":{"input_tokens":%d,"output_tokens":9}},"parent_tool_use_id":null,"session_id":"s1","uuid":"u"}`+"\n", i, mustJSON("Now I will look at the file and change it. "+code[:400]), i)
		fmt.Fprintf(&b, `{"type":"assistant","message":{"id":"msg_%d","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"go test ./...","description":"run"}}]},"session_id":"s1"}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s,"is_error":false}]},"session_id":"s1","tool_use_result":{"stdout":%s,"stderr":"","interrupted":false}}`+"\n", i, mustJSON(code), mustJSON(code))
	}
	return b.Bytes()
}

// BenchmarkDecode compares the decoder with encoding/json into maps on the same
// bytes and reports the ratio of the two.
func BenchmarkDecode(b *testing.B) {
	sample := floodSample()
	s, err := Find("claude")
	if err != nil {
		b.Fatal(err)
	}
	var own, std float64
	b.Run("decoder", func(b *testing.B) {
		b.SetBytes(int64(len(sample)))
		b.ReportAllocs()
		d := s.NewDecoder(func(state.Payload) {})
		for b.Loop() {
			_, _ = d.Write(sample)
		}
		own = float64(b.Elapsed()) / float64(b.N)
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(sample)))
		b.ReportAllocs()
		for b.Loop() {
			for line := range bytes.Lines(sample) {
				var v map[string]any
				if err := json.Unmarshal(line, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
		std = float64(b.Elapsed()) / float64(b.N)
		if own > 0 {
			b.ReportMetric(std/own, "times-faster")
		}
	})
	b.Run("narration", func(b *testing.B) { // the flood of internal/bench
		line := claudeText(strings.Repeat("All work and no play. ", 180)) + "\n"
		flood := bytes.Repeat([]byte(line), 250)
		b.SetBytes(int64(len(flood)))
		b.ReportAllocs()
		d := s.NewDecoder(func(state.Payload) {})
		for b.Loop() {
			_, _ = d.Write(flood)
		}
	})
	b.Run("noise", func(b *testing.B) {
		noise := bytes.Repeat([]byte("this is not a record at all, only noise of some length\r\n"), 20_000)
		b.SetBytes(int64(len(noise)))
		b.ReportAllocs()
		d := s.NewDecoder(func(state.Payload) {})
		for b.Loop() {
			_, _ = d.Write(noise)
		}
	})
}
