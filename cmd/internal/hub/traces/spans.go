package traces

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"ralph/state"
)

// spans folds the events of one run. Add events in their order.
type spans struct {
	tracer trace.Tracer
	id     string // of the run
	last   int64  // number of the latest event
	at     time.Time
	ctx    context.Context // with the span of the run; nil: it has not begun
	run    trace.Span
	turns  map[int]*turn // by iteration
}

// turn is an iteration, or a try of it.
type turn struct {
	ctx   context.Context
	span  trace.Span
	call  trace.Span // nil: the agent does not work
	agent string
	model string
	usage state.Usage // of the call
}

func newSpans(tracer trace.Tracer, run string) spans {
	return spans{tracer: tracer, id: run, turns: map[int]*turn{}}
}

// add folds one event. It ignores an event that it has seen.
func (s *spans) add(e state.Event) {
	if e.Seq <= s.last {
		return
	}
	s.last, s.at = e.Seq, e.Time
	if d, ok := e.Data.(state.RunStart); ok {
		s.begin(e, d)
	}
	if s.ctx == nil {
		s.begin(e, state.RunStart{}) // its first events are gone
	}
	t := s.turns[e.Iteration]
	switch d := e.Data.(type) {
	case state.IterationStart:
		if t != nil {
			s.endTurn(e.Iteration, e.Time)
		}
		s.beginTurn(e, d)
	case state.Check:
		s.check(e, t, d)
	case state.Verdict:
		if t != nil {
			t.span.AddEvent("verdict", trace.WithTimestamp(e.Time),
				trace.WithAttributes(attribute.String("ralph.verdict", d.Line())))
		}
	case state.IterationEnd:
		if t != nil {
			t.span.SetAttributes(attribute.String("ralph.outcome", d.Outcome), attribute.String("ralph.rule", d.Rule),
				attribute.Int("ralph.files_changed", d.Files), attribute.Bool("ralph.task_done", d.TaskDone))
			if d.Failed {
				t.span.SetStatus(codes.Error, d.Outcome)
			}
			t.used(d.Usage)
			s.endTurn(e.Iteration, e.Time)
		}
	case state.RunEnd:
		s.run.SetAttributes(attribute.Int("ralph.exit_code", d.Exit), attribute.String("ralph.rule", d.Rule),
			attribute.Float64("ralph.cost_usd", d.Usage.CostUSD), attribute.Int("ralph.tasks_done", d.Done))
		s.close("")
	default:
		if t != nil {
			s.work(e, t)
		}
	}
}

func (s *spans) start(ctx context.Context, e state.Event, name string,
	attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	ctx = named(ctx, s.id, fmt.Sprintf("%s %d", name, e.Seq))
	return s.tracer.Start(ctx, name, trace.WithTimestamp(e.Time), trace.WithAttributes(attrs...))
}

func (s *spans) begin(e state.Event, d state.RunStart) {
	s.close("")
	s.ctx, s.run = s.start(context.Background(), e, "run", attribute.String("ralph.run", s.id),
		attribute.String("ralph.plan", d.Plan), attribute.String("ralph.version", d.Version),
		attribute.Bool("ralph.resumed", d.Resumed))
}

func (s *spans) beginTurn(e state.Event, d state.IterationStart) {
	t := &turn{agent: d.Agent, model: d.Model}
	t.ctx, t.span = s.start(s.ctx, e, "turn", attribute.Int("ralph.iteration", e.Iteration),
		attribute.String("ralph.task", e.Task), attribute.String("ralph.title", d.Title),
		attribute.String("ralph.role", e.Role), attribute.Int("ralph.attempt", e.Attempt))
	s.turns[e.Iteration] = t
}

// work folds what happens around the call of the agent.
func (s *spans) work(e state.Event, t *turn) {
	switch d := e.Data.(type) {
	case state.Phase:
		if d.Name == state.PhaseAgent && t.call == nil {
			_, t.call = s.start(t.ctx, e, "invoke_agent", attribute.String("gen_ai.operation.name", "invoke_agent"),
				attribute.String("gen_ai.agent.name", t.agent), attribute.String("gen_ai.request.model", t.model))
		} else if d.Name != state.PhaseAgent {
			t.endCall(e.Time)
		}
	case state.SessionStart:
		if t.call != nil {
			t.call.SetAttributes(attribute.String("gen_ai.conversation.id", d.ID),
				attribute.String("gen_ai.response.model", d.Model))
		}
	case state.Usage:
		t.used(d)
	case state.FinalMessage:
		if t.call != nil && d.Error {
			t.call.SetStatus(codes.Error, "the agent's record reports a failure")
		}
		t.endCall(e.Time)
	}
}

// used keeps the latest figures, which are those of the whole call.
func (t *turn) used(u state.Usage) {
	if u != (state.Usage{}) {
		t.usage = u
	}
}

// figures are what a call used.
func (t *turn) figures() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int64("gen_ai.usage.input_tokens", t.usage.InputTokens),
		attribute.Int64("gen_ai.usage.output_tokens", t.usage.OutputTokens),
		attribute.Float64("ralph.cost_usd", t.usage.CostUSD)}
}

func (t *turn) endCall(at time.Time) {
	if t.call != nil {
		t.call.SetAttributes(t.figures()...)
		t.call.End(trace.WithTimestamp(at))
		t.call = nil
	}
}

func (s *spans) endTurn(iteration int, at time.Time) {
	t := s.turns[iteration]
	t.endCall(at)
	t.span.SetAttributes(t.figures()...)
	t.span.End(trace.WithTimestamp(at))
	delete(s.turns, iteration)
}

// check is over when its event comes.
func (s *spans) check(e state.Event, t *turn, d state.Check) {
	if d.Skipped != "" {
		return
	}
	ctx := s.ctx
	if t != nil {
		ctx = t.ctx
	}
	began := e
	began.Time = e.Time.Add(-time.Duration(d.Seconds * float64(time.Second)))
	_, span := s.start(ctx, began, "check", attribute.String("ralph.check", d.Name),
		attribute.String("ralph.check.run", d.Run), attribute.Bool("ralph.check.passed", d.Passed))
	if !d.Passed {
		span.SetStatus(codes.Error, d.Says)
	}
	span.End(trace.WithTimestamp(e.Time))
}

// close ends all open spans at the time of the latest event. why is set if the run did not end by itself.
func (s *spans) close(why string) {
	if s.ctx == nil {
		return
	}
	for n, t := range s.turns {
		if why != "" {
			t.span.SetStatus(codes.Error, why)
		}
		s.endTurn(n, s.at)
	}
	if why != "" {
		s.run.SetStatus(codes.Error, why)
	}
	s.run.End(trace.WithTimestamp(s.at))
	s.ctx = nil
}
