package agent

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent/ending"
)

func TestClassify_opencodeAtAnUnreadableEndpoint_isAServerErrorAfterAFewSteps(t *testing.T) {
	step := `{"type":"step_start","part":{}}` + "\n" + `{"type":"step_finish","part":{"reason":"unknown","tokens":{"input":0,"output":0}}}` + "\n"
	s := row(t, "opencode")
	feed := func(text string) (*Decoder, *Transcript) {
		tr := &Transcript{}
		d := s.NewDecoder(tr.Add)
		_, _ = d.Write([]byte(text))
		return d, tr
	}
	d, tr := feed(strings.Repeat(step, 300))
	cancelled := ptyexec.Exit{Cause: ptyexec.CauseCancelled, Signal: syscall.SIGTERM}
	if o := s.Classify(tr, cancelled, recordedAt); !d.Stuck() || !d.Final() || o.Class != ending.ServerError || len(tr.Errors) != 1 {
		t.Errorf("stuck %t, final %t: %+v, %q", d.Stuck(), d.Final(), o, tr.Errors)
	}
	work := `{"type":"tool_use","part":{"callID":"1","tool":"bash","state":{"status":"completed"}}}` + "\n"
	for _, between := range []string{work, `{"type":"text","part":{"text":"hello"}}` + "\n", strings.Replace(step, `"input":0`, `"input":7`, 1)} {
		if d, _ := feed(strings.Repeat(strings.Repeat(step, 4)+between, 20)); d.Stuck() {
			t.Errorf("stuck although the model answered: %s", between)
		}
	}
}

// OpenRouter says in a header when a quota of the day ends, and opencode prints the headers of the answer.
func TestClassify_opencodeQuotaOfADay_waitsForTheTimeInTheHeaders(t *testing.T) {
	const record = `{"type":"error","timestamp":1795721107927,"sessionID":"ses_1","error":{"name":"APIError","data":{"message":` +
		`"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","statusCode":429,"isRetryable":true,` +
		`"responseHeaders":{"content-type":"application/json","date":"Thu, 26 Nov 2026 19:25:07 GMT",HEADERS}}}}`
	for headers, want := range map[string]time.Time{
		`"x-ratelimit-limit":"50","x-ratelimit-remaining":"0","x-ratelimit-reset":"1795753507910"`: time.UnixMilli(1795753507910),
		`"retry-after":"3600"`:                         recordedAt.Add(time.Hour),
		`"retry-after":"3600","x-ratelimit-reset":"9"`: recordedAt.Add(time.Hour),
		`"x-ratelimit-limit":"50"`:                     {},
	} {
		o := classify(t, "opencode", exitedWith(1), strings.Replace(record, "HEADERS", headers, 1))
		if o.Class != ending.UsageLimit || !o.ResetsAt.Equal(want) || !strings.HasPrefix(o.Evidence, "Rate limit exceeded") {
			t.Errorf("%s: class %q, resets at %v, want %v; %q", headers, o.Class, o.ResetsAt, want, o.Evidence)
		}
	}
}
