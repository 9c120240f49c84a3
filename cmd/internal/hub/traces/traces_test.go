package traces

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"ralph/internal/sample"
	"ralph/state"
)

// collected are the spans that a collector on loopback gets.
type collected struct {
	sync.Mutex
	spans map[string][]*wire.Span // by name
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	var req collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(data, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.Lock()
	defer c.Unlock()
	for _, r := range req.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				c.spans[span.Name] = append(c.spans[span.Name], span)
			}
		}
	}
}

// follow follows a run to its end, and returns what the collector got.
func follow(t *testing.T, p *sample.Project, while func()) map[string][]*wire.Span {
	t.Helper()
	return followAgain(t, p, filepath.Join(t.TempDir(), "sent"), while)
}

// followAgain is follow for a hub that may find in the record what others sent.
func followAgain(t *testing.T, p *sample.Project, record string, while func()) map[string][]*wire.Span {
	t.Helper()
	c := &collected{spans: map[string][]*wire.Span{}}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	ctx, stop := context.WithCancel(t.Context())
	done, looks := make(chan error, 1), make(chan bool, 100)
	go func() {
		done <- send(ctx, func() []string {
			select {
			case looks <- true:
			default:
			}
			return []string{p.Dir}
		}, record, 50*time.Millisecond)
	}()
	<-looks
	<-looks // the first one is over
	while()
	for len(looks) > 0 {
		<-looks
	}
	<-looks
	<-looks
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return c.spans
}

func event(seq int64, iteration int, at time.Time, d state.Payload) state.Event {
	e := state.NewEvent(state.Origin{Run: "20261120-131810", Iteration: iteration, Task: "T1"}, at, d)
	e.Seq = seq
	return e
}

func TestSend_runWithTurnCallAndChecks_isOneTrace(t *testing.T) {
	s, _ := sample.Run(time.Now())
	at := time.Now().Add(-time.Minute)
	p := sample.New(t, s, []state.Event{
		event(1, 0, at, state.RunStart{Agent: "claude"}), event(2, 1, at, state.IterationStart{Title: "one", Agent: "claude"}),
		event(3, 1, at.Add(time.Second), state.Phase{Name: state.PhaseAgent}),
		event(4, 1, at.Add(2*time.Second), state.Usage{InputTokens: 7, OutputTokens: 5}),
	})
	got := follow(t, p, func() {
		p.Add(event(5, 1, at.Add(9*time.Second), state.Phase{Name: state.PhaseChecking, Check: "test"}),
			event(6, 1, at.Add(12*time.Second), state.Check{Name: "test", Seconds: 3, Says: "1 failed"}),
			event(7, 1, at.Add(13*time.Second), state.IterationEnd{Outcome: "completed-turn"}),
			event(8, 0, at.Add(14*time.Second), state.RunEnd{Exit: 3}))
	})
	for name, parent := range map[string]string{"turn": "run", "invoke_agent": "turn", "check": "turn"} {
		if len(got[name]) != 1 || len(got[parent]) != 1 {
			t.Fatalf("%d %s, %d %s", len(got[name]), name, len(got[parent]), parent)
		}
		if string(got[name][0].ParentSpanId) != string(got[parent][0].SpanId) || string(got[name][0].TraceId) != string(got["run"][0].TraceId) {
			t.Errorf("%s is not below %s", name, parent)
		}
	}
	if d := got["invoke_agent"][0].EndTimeUnixNano - got["invoke_agent"][0].StartTimeUnixNano; d != uint64(8*time.Second) {
		t.Errorf("the call took %s", time.Duration(d))
	}
	if got["check"][0].Status.Code != wire.Status_STATUS_CODE_ERROR {
		t.Error("the failed check looks good")
	}
}

func TestSend_runnerDies_runEndsWithAnErrorAndTheSameIds(t *testing.T) {
	s, _ := sample.Run(time.Now())
	all := []state.Event{event(1, 0, time.Now(), state.RunStart{}), event(2, 1, time.Now(), state.IterationStart{})}
	var id []byte
	for range 2 { // a second hub
		p := sample.New(t, s, all)
		got := follow(t, p, p.Release)
		if len(got["run"]) != 1 || len(got["turn"]) != 1 || got["run"][0].Status.Code != wire.Status_STATUS_CODE_ERROR {
			t.Fatalf("%v", got)
		}
		if now := got["turn"][0].SpanId; id != nil && string(id) != string(now) {
			t.Error("another id")
		}
		id = got["turn"][0].SpanId
	}
}

func TestSend_runsThatEndedBefore_areSentOnce(t *testing.T) {
	s, _ := sample.Run(time.Now())
	at := time.Now().Add(-8 * time.Hour)
	ended := func(seq int64, run string, at time.Time) (all []state.Event) {
		for i, d := range []state.Payload{state.RunStart{Resumed: seq > 1}, state.IterationStart{Title: run}, state.IterationEnd{}, state.RunEnd{Exit: 4}} {
			e := event(seq+int64(i), i%3, at, d)
			e.Run = run
			all = append(all, e)
		}
		return all
	}
	p := sample.New(t, s, append(append(ended(1, "old", at.Add(-48*time.Hour)), ended(1, "evening", at)...), ended(1, "night", at)...))
	p.Release()
	record := filepath.Join(t.TempDir(), "hub", "sent")
	got := followAgain(t, p, record, func() {})
	if len(got["run"]) != 2 || len(got["turn"]) != 2 || got["run"][0].Status.GetCode() == wire.Status_STATUS_CODE_ERROR {
		t.Fatalf("sent %d runs and %d turns, want those of the last day: %v", len(got["run"]), len(got["turn"]), got)
	}
	if got := followAgain(t, p, record, func() {}); len(got) != 0 {
		t.Errorf("a second hub sends %v", got)
	}
	p.Add(ended(5, "night", at.Add(time.Hour))...)
	if got := followAgain(t, p, record, func() {}); len(got["run"]) != 1 || len(got["turn"]) != 1 {
		t.Errorf("of a resumed run a hub sends %v", got)
	}
}

func TestSend_runThatWasFollowed_isNotSentAgain(t *testing.T) {
	s, _ := sample.Run(time.Now())
	p := sample.New(t, s, []state.Event{event(1, 0, time.Now(), state.RunStart{}), event(2, 1, time.Now(), state.IterationStart{})})
	record := filepath.Join(t.TempDir(), "sent")
	if got := followAgain(t, p, record, p.Release); len(got["run"]) != 1 {
		t.Fatalf("%v", got)
	}
	if got := followAgain(t, p, record, func() {}); len(got) != 0 {
		t.Errorf("a second hub sends %v", got)
	}
}

func TestWanted_followsTheVariables(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false}, {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "x"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "x", "OTEL_TRACES_EXPORTER": "otlp"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_TRACES_EXPORTER": "none"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_SDK_DISABLED": "TRUE"}, false},
	} {
		if got := Wanted(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
	if CheckProtocol(func(string) string { return "grpc" }) == nil {
		t.Error("grpc is accepted")
	}
}
