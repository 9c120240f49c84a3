// Package traces sends runs as OpenTelemetry traces. A run is a span; below it is one for each
// turn, and below that are the calls of the agent and the checks. It follows the files of events.
// It sends neither prompts nor the agent's words.
package traces

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"ralph/logs"
	"ralph/state"
	"ralph/state/view"
)

const lookEvery = time.Second

// Wanted reports whether the variables of OpenTelemetry ask for traces.
func Wanted(getenv func(string) string) bool {
	kind := getenv("OTEL_TRACES_EXPORTER")
	return !strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") && (kind == "" || kind == "otlp") &&
		getenv("OTEL_EXPORTER_OTLP_ENDPOINT")+getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// CheckProtocol returns what is wrong with the variables, as a line for people.
func CheckProtocol(getenv func(string) string) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := getenv(name); p != "" && p != "http/protobuf" {
			return fmt.Errorf("%s is %q; ralph-hub sends http/protobuf only", name, p)
		}
	}
	return nil
}

// Send follows the living runs of these projects until ctx ends, and sends those that ended in the
// last day. The file record keeps what was sent. The variables of OpenTelemetry say where to send.
func Send(ctx context.Context, projects func() []string, record string) error {
	return send(ctx, projects, record, lookEvery)
}

func send(ctx context.Context, projects func() []string, record string, every time.Duration) error {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	provider := newProvider(sdk.WithBatcher(exporter))
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = provider.Shutdown(ctx) // what a collector does not take is lost
	}()
	f := follower{tracer: provider.Tracer("ralph"), runs: map[string]*followed{}, looked: map[string]string{},
		sent: readSent(record)}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		f.look(projects())
		if len(f.over) > 0 {
			if provider.ForceFlush(ctx) == nil {
				f.sent.keep(f.over)
			}
			f.over = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func newProvider(to sdk.TracerProviderOption) *sdk.TracerProvider {
	about := resource.NewSchemaless(attribute.String("service.name", "ralph"))
	if merged, err := resource.Merge(about, resource.Environment()); err == nil {
		about = merged
	}
	return sdk.NewTracerProvider(to, sdk.WithResource(about), sdk.WithIDGenerator(ids{}))
}

// ids makes the same ids for the same run, so that a hub that restarts does not send a second trace.
type ids struct{}

type keyOfID struct{}

// named gives the next span a name that is its own in the run: "RUN/KEY".
func named(ctx context.Context, run, key string) context.Context {
	return context.WithValue(ctx, keyOfID{}, [2]string{run, key})
}

// NewIDs implements sdk.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	name, _ := ctx.Value(keyOfID{}).([2]string)
	sum := sha256.Sum256([]byte("trace " + name[0]))
	copy(id[:], sum[:])
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) (id trace.SpanID) {
	name, _ := ctx.Value(keyOfID{}).([2]string)
	sum := sha256.Sum256([]byte(name[0] + "/" + name[1]))
	copy(id[:], sum[:])
	return id
}

// follower follows the runs of many projects.
type follower struct {
	tracer trace.Tracer
	runs   map[string]*followed // by folder
	looked map[string]string    // by folder: the size and time of the events that were searched for ended runs
	sent   *sent
	over   []string // runs whose last span was made since the latest flush
}

// followed is a run that is alive, or was at the last look.
type followed struct {
	spans
	reader *state.Reader
	tail   *logs.Tail
}

// look begins with runs that have come to life, reads on, and ends those that are over.
func (f *follower) look(projects []string) {
	for _, dir := range projects {
		r := state.Open(filepath.Join(dir, state.DirName))
		owner, alive := r.Owner()
		run := f.runs[dir]
		if run != nil {
			run.read()
			if !alive || owner.RunID != run.id {
				run.close("the runner died")
				f.ended(run.id, run.last)
				_ = run.tail.Close()
				delete(f.runs, dir)
				run = nil
			}
		}
		if run == nil && alive && owner.RunID != "" {
			run = &followed{spans: newSpans(f.tracer, owner.RunID), reader: r, tail: logs.NewTail(r.EventsPath(), -1)}
			run.last = f.sent.until[run.id]
			f.runs[dir] = run
			_ = view.EachEvent(r, run.id, wanted, run.add) // what is unreadable is missing in the trace
			run.read()
		}
		if run == nil {
			f.past(dir, r)
		}
	}
}

// read adds what is new.
func (f *followed) read() {
	for {
		lines, err := f.tail.Poll()
		for _, line := range lines {
			if e, ok := state.EventFilter(wanted).Decode(line); ok && e.Run == f.id {
				f.add(e)
			}
		}
		if err != nil || len(lines) == 0 {
			return
		}
	}
}

// wanted are the events that spans are made of.
func wanted(k state.Kind) bool {
	switch k {
	case state.KindRunStart, state.KindIterationStart, state.KindPhase, state.KindSession, state.KindUsage,
		state.KindResult, state.KindCheck, state.KindVerdict, state.KindIterationEnd, state.KindRunEnd:
		return true
	}
	return false
}
