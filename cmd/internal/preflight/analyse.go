package preflight

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/scaffold"
	"ralph/ptyexec"
	"ralph/runner/gate/report"
	"ralph/runner/sandbox/gitkeep"
	"ralph/state"
	"ralph/state/view"
)

// tryBound is how long a proposed command may take.
const tryBound = 10 * time.Minute

// Analyse asks the agent what the project is, in a copy of it. The answer is kept until a
// manifest changes.
func (p *Project) Analyse(f *cmdline.Factory) (analysisAnswer, error) {
	if kept, ok := readAnalysis(p.Dir); ok && !kept.Declined {
		f.Note("the project is as it was when %s looked at it", p.Agent.Spec.Name)
		return kept.Answer, nil
	}
	dir, err := os.MkdirTemp("", "ralph-analysis-")
	if err != nil {
		return analysisAnswer{}, fmt.Errorf("make a folder for the analysis: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := copyForAnalysis(p.Dir, dir); err != nil {
		return analysisAnswer{}, fmt.Errorf("copy the project: %w", err)
	}
	f.Note("%s looks at a copy of the project; this is one call, of at most %s", p.Agent.Spec.Name, analysisBound)
	nonce := rand.Text()
	final, err := p.askIn(f, dir, analysisPrompt(nonce))
	if err != nil {
		return analysisAnswer{}, err
	}
	answer, err := parseAnalysis(final, nonce)
	if err != nil {
		return answer, &cmdline.ExitError{Code: state.ExitError, Text: err.Error()}
	}
	defer f.WroteInProject(p.Dir, analysisName)
	return answer, writeAnalysis(p.Dir, keptAnalysis{At: time.Now(), Answer: answer})
}

// askIn sends the agent one prompt in a folder, and returns its final message.
func (p *Project) askIn(f *cmdline.Factory, dir, text string) (string, error) {
	res, err := p.consult(f, p.Agent,
		consultation{dir: dir, text: text, tools: analysisTools(), bound: analysisBound})
	if o := res.Call.Outcome; err == nil && !o.Class.Success() {
		err = cmdline.AgentError("the call ended with %s: %s", o.Class, o.Reason)
	}
	return res.Call.Final, err
}

// Propose shows an answer, tries its commands once, and asks which of them become checks.
// Without a terminal, none does.
func (p *Project) Propose(f *cmdline.Factory, in *bufio.Reader,
	a analysisAnswer) (accepted []namedAnalysis, err error) {
	f.Note("it is: %s (%s)", a.Type, strings.Join(a.Languages, ", "))
	for _, line := range a.More() {
		f.Note("%s", line)
	}
	var ready []namedAnalysis
	for _, c := range a.Commands() {
		switch {
		case c.Ready:
			f.Note("  %-5s %s   # %s", c.Name, c.AnalysisCommand.Command, c.Reason)
			ready = append(ready, c)
		case c.Reason != "":
			f.Note("  %-5s not ready: %s; ralph looks again when the first code or test appears", c.Name, c.Reason)
			if err := p.askAhead(f, in, c); err != nil {
				return nil, err
			}
		}
	}
	if len(ready) == 0 {
		return nil, nil
	}
	if !f.CanAsk() {
		f.Note("nobody can be asked here, so none becomes a check; set those that you want in .ralphrc, as %s_COMMAND",
			strings.ToUpper(ready[0].Name))
		return nil, nil
	}
	yes, err := f.Confirm(in, "Run these commands once, to try them?", "no")
	if err != nil || !yes {
		return nil, err
	}
	for _, c := range ready {
		preset := map[bool]string{true: "yes", false: "no"}[p.try(f, c.AnalysisCommand.Command)]
		use, err := f.Confirm(in, fmt.Sprintf("Make it the %s check?", c.Name), preset)
		if err != nil {
			return accepted, err
		}
		if use {
			accepted = append(accepted, c)
		}
	}
	return accepted, nil
}

// try runs a proposed command in the project, in the sandbox of a run.
func (p *Project) try(f *cmdline.Factory, line string) bool {
	sig := cmdline.HandleSignals(f.In)
	defer sig.Stop()
	out := &report.Excerpt{Head: 1 << 10, Tail: 2 << 10}
	contained, err := p.Sandbox(p.Dir)
	cmd := ptyexec.Command{Args: []string{"/bin/sh", "-c", line}, Dir: p.Dir, Env: p.Config.EnvFilter().Checks(p.Env),
		Pipe: true, Timeout: tryBound, Kill: sig.Kill}
	if err == nil {
		box := contained.Box(p.Dir, "")
		box.PutBack = func(r gitkeep.Replaced) { f.Warn(r) }
		cmd, err = box.Wrap(cmd)
	}
	var exit ptyexec.Exit
	if err == nil {
		exit, err = ptyexec.Run(sig.Ctx, cmd, func(b []byte) bool { _, _ = out.Write(b); return false })
	}
	switch {
	case err != nil:
		f.Note("  %s: cannot run: %v", line, err)
	case exit.Cause == ptyexec.CauseExited && exit.Code == 0:
		f.Note("  %s: passes, in %s", line, exit.Duration.Round(100*time.Millisecond))
		return true
	default:
		why := cmdline.Shorten(report.ErrorLine(out.String()))
		f.Note("  %s: fails with exit code %d%s", line, exit.Code, view.Prefix(": ", why))
	}
	return false
}

// OfferAnalysis asks once whether an agent should look at a project in which ralph finds no checks.
// Proposals that the user accepts become checks of this run and, in .ralphrc, of later runs.
func (p *Project) OfferAnalysis(f *cmdline.Factory) error {
	has, begun, err := p.BeginAgreed(f)
	if err != nil || begun || !p.Config.DetectChecks || !f.CanAsk() {
		return err
	}
	why := analysisDue(p.Dir, has)
	if why == "" {
		return nil
	}
	in := bufio.NewReader(f.In)
	yes, err := f.Confirm(in,
		fmt.Sprintf("%s Shall %s look at the project and propose some? It is one call.", why, p.Agent.Spec.Name), "no")
	if err != nil {
		return err
	}
	if !yes {
		defer f.WroteInProject(p.Dir, analysisName)
		return writeAnalysis(p.Dir, keptAnalysis{At: time.Now(), Declined: true})
	}
	answer, err := p.Analyse(f)
	if err != nil {
		f.Warn(err) // the run can do without
		return nil
	}
	accepted, err := p.Propose(f, in, answer.Without(has))
	if err != nil || len(accepted) == 0 {
		return err
	}
	var settings []scaffold.Setting
	for _, c := range accepted {
		key := strings.ToUpper(c.Name) + "_COMMAND"
		p.Config.Choose(key, c.AnalysisCommand.Command, "answer")
		settings = append(settings, scaffold.Setting{Key: key, Value: c.AnalysisCommand.Command})
	}
	if err := scaffold.Append(p.Dir, settings); err != nil {
		return err
	}
	f.WroteInProject(p.Dir, scaffold.RC)
	f.Note("added to %s", filepath.Join(p.Dir, scaffold.RC))
	u, err := p.loader.Untrusted()
	if err != nil || u == nil {
		return err
	}
	return f.Record(p.loader, []config.Untrusted{*u})
}
