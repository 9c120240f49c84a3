package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/audit"
	"ralph/runner/crew"
	"ralph/runner/git/command"
	"ralph/runner/receipt"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// maxTaskText bounds the text of a task in a receipt, in bytes. Its digest is of all of it.
const maxTaskText = 4 << 10

// openReceipts finds the key that receipts are signed with, before an agent could change git's settings.
func (r *Run) openReceipts(ctx context.Context) {
	if !r.o.Receipts || !r.o.AutoCommit && !r.crew.InWorktrees() {
		return
	}
	s := receipt.FindSigner(ctx, r.d.Dir)
	if r.receipts = &s; s.Why != "" {
		r.d.Log.Warn("receipts are not signed", logs.KeyReason, s.Why)
	}
}

// writeReceipt writes a receipt for the commit that the work of a job is now. If that fails, the run goes on, and says so
// once.
func (r *Run) writeReceipt(ctx context.Context, j *crew.Job, res turn.Result) {
	if r.receipts == nil || j.Commit == "" {
		return
	}
	ctx, done := stop.Outlast(command.With(ctx, r.worker.Trust))
	defer done()
	err := r.receipts.Write(ctx, j.Commit, r.predicate(j, res))
	if err != nil && !r.unreceipted {
		r.unreceipted = true
		r.ledger.Tell(j.Origin, state.Finding{Source: state.FoundByChecks,
			Text: fmt.Sprintf("commit %.7s gets no receipt: %v", j.Commit, err)})
	}
}

func (r *Run) predicate(j *crew.Job, res turn.Result) receipt.Predicate {
	text, o := audit.TextOf(j.Task), r.o
	short := logs.Redact(strings.TrimSpace(text))
	p := receipt.Predicate{Ralph: r.d.Version, Run: j.Origin.Run, Iteration: j.Origin.Iteration,
		Written: time.Now().UTC().Format(time.RFC3339),
		TaskID:  j.Task.ID, Text: short[:min(len(short), maxTaskText)], SHA256: receipt.Digest(text),
		Agent: res.Agent, Model: res.Model,
		Policy: receipt.InForce{Checks: slices.Clone(res.Checks.Rows), TestMode: string(res.Checks.Mode),
			AntiCheat: o.AntiCheat, Sandbox: o.Contained.Settings, Review: o.Review, Permissions: o.PermissionMode,
			AllowedTools: o.AllowedTools},
		Results: receipt.ResultsOf(res.Proof.Report, res.Proof.Green),
		Cost:    res.Call.Usage}
	p.Results.Joined, p.Results.Seconds = j.Joined, res.Duration.Seconds()
	for i, c := range p.Policy.Checks {
		p.Policy.Checks[i].Command = logs.Redact(c.Command)
	}
	if !r.crew.InWorktrees() {
		p.Base = res.Work.Base
	}
	switch prompt, err := os.ReadFile(r.d.State.PromptPath(j.Origin.Run, j.Origin.Iteration)); { // file: a log of ralph's own
	case j.Review != nil:
		p.Agent, p.Model = j.Review.Request.Author, ""
	case err == nil:
		p.Prompt = receipt.Digest(string(prompt))
	}
	accepted := map[string]string{}
	for _, v := range j.Record.Verdicts {
		for _, justified := range v.Justified {
			accepted[justified.Finding] = v.Name
		}
		v.Reasons, v.Justified, v.Why = nil, nil, ""
		p.Reviews = append(p.Reviews, v)
	}
	for _, f := range res.Proof.Findings {
		p.Findings = append(p.Findings, receipt.Finding{Kind: string(f.Kind), File: f.File, Doubt: f.Doubt,
			AcceptedBy: accepted[f.Text]})
	}
	return p
}
