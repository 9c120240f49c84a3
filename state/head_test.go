package state

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func encoded(t interface{ Fatal(...any) }, e Event) []byte {
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// HeadOf reads what a decoder reads.
func TestHeadOf_anyEvent_isTheDecodedHead(t *testing.T) {
	all := samples()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\`, `\"`, `","kind":"x`, `"data":{`, "<&>", "\u2028"}))
		want := NewEvent(Origin{Run: text.Draw(rt, "run"), Host: text.Draw(rt, "host"), Iteration: rapid.IntRange(0, 1e6).Draw(rt, "iteration"),
			Task: text.Draw(rt, "task"), Role: text.Draw(rt, "role"), Attempt: 2},
			eventTime.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(rt, "time"))), rapid.SampledFrom(all).Draw(rt, "payload"))
		want.Seq = rapid.Int64().Draw(rt, "seq")
		line := encoded(rt, want)
		var read Event
		if err := json.Unmarshal(line, &read); err != nil {
			rt.Fatal(err)
		}
		h := HeadOf(line)
		if h.Kind != read.Kind || h.Run != read.Run || h.Task != read.Task || h.Iteration != read.Iteration || !h.Time.Equal(read.Time) {
			rt.Errorf("%+v of %s", h, line)
		}
	})
}

func TestHeadOf_oddLines_areReadAsFarAsTheyGo(t *testing.T) {
	for line, want := range map[string]Head{
		`{ "v": 2, "kind" : "text", "iteration": 3 , "data":{"task":"x"}}`: {Kind: "text", Iteration: 3},
		`{"v":2,"new":true,"none":null,"kind":"tool","data":{}}`:           {Kind: "tool"},
		`{"v":2,"new":{},"kind":"tool"}`:                                   {Kind: "tool"},
		`{"kind":"gate","text":"\"run\":\"r\"","run":"r1"}`:                {Kind: "gate", Run: "r1"},
		`{"kind":"text","run":"r","data":{"text":"half`:                    {Kind: "text", Run: "r"},
		`{"kind":"text","run":"half`:                                       {},
		`{"kind":"text","time":"x"}`:                                       {},
		"not JSON":                                                         {},
		"":                                                                 {},
	} {
		if got := HeadOf([]byte(line)); got != want {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// A reader skips lines by the kind alone.
func TestKindIn_anyLine_isThatOfTheHead(t *testing.T) {
	for _, line := range []string{
		`{"v":2,"seq":1,"time":"2026-11-20T10:00:00Z","kind":"text","run":"r","data":{"text":"x"}}`,
		`{"v":2,"seq":1,"time":"2026-11-20T10:00:00Z","kind":"te`, `{"v":2,"kind":"tool","run":"a\"b","data":{}}`,
		`{"v" : 2,"kind":"x","run":"r"}`, `{ "v":2,"kind":"x"}`, `{"a":{"kind":"y"},"kind":"x"}`, `{"a":[1,2],"kind":"x"}`,
		`{"kind":""}`, `{"kind":"x"}`, `{"kind":"x","data":`, `{"v":2}`, `{}`, `{`, ``, `null`, `[1]`, `{"kind`, `{"kind"`, `{"kind":`, `{"kind":"`,
		`{"k\u0069nd":"x"}`, `{"kind":"\u0078"}`, `{"kind":"x","iteration":"3"}`, `{"run":5,"kind":"x"}`,
	} {
		want, got := HeadOf([]byte(line)).Kind, kindIn([]byte(line))
		if whole := json.Valid([]byte(line)) && want != ""; got != want && whole {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func BenchmarkKindIn(b *testing.B) {
	line := encoded(b, NewEvent(Origin{Run: "20261129-084316-02ca", Host: "host", Iteration: 3, Task: "task-1", Role: "developer", Attempt: 1},
		time.Now(), Text{Text: "All work and no play."}))
	for b.Loop() {
		kindIn(line)
	}
}
