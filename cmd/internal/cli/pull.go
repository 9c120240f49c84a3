package cli

import (
	"context"
	"sync"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/console"
	"ralph/cmd/internal/preflight"
	"ralph/logs"
	"ralph/runner"
	"ralph/runner/forge"
	"ralph/runner/gate"
	"ralph/runner/receipt"
	"ralph/runner/slots"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/report"
	"ralph/state/view"

	"github.com/hashicorp/go-hclog"
)

// Times of what goes out.
const (
	outPause = 30 * time.Second // before another try
	outGrace = time.Minute      // at the end of a run
)

// outgoing is what a run says to the service that hosts its repository.
type outgoing struct {
	pull *forge.Pull // nil: nothing
	talk *forge.Talk // with pull
	w    *state.Writer
	con  *console.Console
	log  hclog.Logger
	run  string

	mu    sync.Mutex
	lines []string // that nobody has seen yet
}

// openOutgoing begins what LAND=pr asks for.
func (o *runOptions) openOutgoing(s *preflight.Project, w *state.Writer, con *console.Console, log hclog.Logger, run string) *outgoing {
	out := &outgoing{w: w, con: con, log: log, run: run}
	c := s.Config
	if c.Land != slots.LandPull {
		return out
	}
	out.pull = &forge.Pull{Run: run, Branch: c.LandsOn(run), Say: out.say,
		Box: &forge.Outbox{Pause: outPause, Tell: out.say}, Text: out.text}
	if c.Receipts {
		out.pull.Notes = receipt.Ref
	}
	out.talk = &forge.Talk{Run: run, Say: out.say, Questions: question.In(w.Reader),
		Box: &forge.Outbox{Pause: outPause, Tell: out.say}}
	var past *state.Reader
	if o.resumed != "" {
		past = w.Reader
	}
	ctx, cancel := context.WithTimeout(context.Background(), outGrace)
	defer cancel()
	out.talk.Host = out.pull.Open(ctx, s.Dir)
	out.talk.Open(s.Tasks, past)
	if past != nil {
		out.pull.Resume(ctx)
	}
	out.print()
	return out
}

// say keeps a line until the console is free.
func (g *outgoing) say(line string) {
	g.log.Info("pull request", logs.KeyReason, line)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, line)
}

func (g *outgoing) print() {
	g.mu.Lock()
	lines := g.lines
	g.lines = nil
	g.mu.Unlock()
	for _, line := range lines {
		g.con.Print("ralph: %s", line)
	}
}

// show takes an event of the run.
func (g *outgoing) show(e state.Event) {
	if g.pull == nil {
		return
	}
	switch d := e.Data.(type) {
	case state.Commit:
		if d.Landed != "" && d.OID != "" {
			g.pull.Landed(context.Background(), d.OID)
		}
	case state.IterationEnd:
		g.pull.Update()
	}
	g.talk.Show(e)
	g.print()
}

// elsewhere are the checks that other machines run; nil: there are none.
func (g *outgoing) elsewhere() func(context.Context, func(string)) []gate.Result {
	if g.pull == nil {
		return nil
	}
	return func(ctx context.Context, waits func(string)) []gate.Result {
		return g.pull.Checks(ctx, func(what string) {
			waits(what)
			g.con.Print("ralph: waits for the checks %s", what)
		})
	}
}

// text is the report as the text of a pull request.
func (g *outgoing) text(ctx context.Context, most int) (t forge.Text, err error) {
	rep, err := buildReport(ctx, g.w.Reader, view.Gather(g.w.Reader, time.Now()), g.run, nil)
	if err != nil {
		return t, err
	}
	t.Title, t.Body = rep.Pull(most)
	for _, task := range rep.Tasks {
		if task.State == report.TaskDone && g.talk.Knows(task.Title) {
			t.Done = append(t.Done, task.Title)
		}
	}
	return t, nil
}

// end sends the last state, and tells people what they have to do themselves.
func (g *outgoing) end(result runner.Ending) {
	if g.pull == nil {
		return
	}
	end := time.Now().Add(outGrace)
	text, do := g.pull.End(result.Decision.Exit, outGrace) // pushes what Talk names
	g.talk.Box.Close(time.Until(end))
	g.print()
	if do == "" {
		return
	}
	if err := g.w.SaveReport(g.run, map[string][]byte{".pr.md": []byte(text)}); err != nil {
		g.log.Warn("the text of the pull request is lost", logs.KeyError, err)
	}
	g.con.Print("ralph: to bring the pull request up to date yourself:")
	g.con.Command("  %s%s", do, cmdline.Quote(g.w.ReportPath(g.run, ".pr.md")))
}
