package reviewers

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/agent"
	"ralph/runner/git/command"
	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/projectfs"
)

// Template returns the user's prompt for a task. For a story of AIOS it starts with the command of the developer role.
func (p *Panel) Template(user string, t task.Task) string {
	if !p.AIOS.Story(t) {
		return user
	}
	return roles.AiosDevelop(t) + user
}

// Prefix returns the text before the title in a commit message.
func (p *Panel) Prefix(prefix string, t task.Task) string {
	if !p.AIOS.Story(t) {
		return prefix
	}
	return "feat: " + t.ID + " -"
}

// reports is true when the reviewer writes a report and a gate file, as in projects of AIOS.
func (p *Panel) reports(s Request) bool {
	return s.Role().Writes == roles.TheReport && p.AIOS.Story(s.Task)
}

// letWrite allows a reviewer to write its report. It works in a copy; keepReport copies only what it may write.
func letWrite(a *turn.Assignment) {
	a.Agent.PermissionMode = agent.PermitAllowedTools
	a.Agent.AllowedTools = []string{"Read", "Glob", "Grep", "Write", "Edit"}
}

// keepReport copies what such a reviewer wrote into the project: its report, and its section of the story. Its gate
// file sets the verdict unless its answer is worse. It returns the files that it does not copy.
func (p *Panel) keepReport(ws *workspace, changed []string, v *state.Verdict) (undone []string) {
	req := ws.request
	for _, file := range changed {
		made, project := projectfs.In(ws.dir), projectfs.In(ws.project)
		data, err := made.Read(made.Path(file), maxCopied)
		switch {
		case err == nil && strings.HasPrefix(file, roles.AIOSReports+"/"):
			if roles.IsGate(req.Task, file) {
				mergeGate(v, data)
			}
			err := project.MkdirAll(filepath.Dir(project.Path(file)), 0o755)
			if err == nil {
				err = project.Update(project.Path(file), data, 0o644)
			}
			if err != nil {
				p.unwritten(req, "cannot copy a review report", err)
				undone = append(undone, file)
			}
		case err == nil && file == req.Story.Path: // the plan is never part of the work
			theirs, whole := string(data), false
			err := store.RewriteFile(projectfs.In(p.Dir), req.Plan.Path, filepath.Join(p.Dir, filepath.FromSlash(file)), func(story string) string {
				with := roles.ReviewSection(story, theirs)
				whole = with == theirs
				return with
			})
			if err != nil {
				p.unwritten(req, "cannot write a review report into its story", err)
			}
			if err != nil || !whole {
				undone = append(undone, file)
			}
		default:
			undone = append(undone, file)
		}
	}
	return undone
}

// mergeGate takes over the verdict of a gate file and its reasons, unless the verdict of the answer is worse.
func mergeGate(v *state.Verdict, gate []byte) {
	verdict, reasons, ok := roles.GateVerdict(gate)
	order := []string{state.VerdictNone, state.VerdictPass, state.VerdictConcerns, state.VerdictFail}
	if !ok || slices.Index(order, verdict) < slices.Index(order, v.Verdict) {
		return
	}
	if v.Verdict == state.VerdictNone {
		v.Score, v.Why = map[string]int{state.VerdictPass: 100}[verdict], ""
	}
	for _, r := range v.Reasons {
		if r.Text == roles.NoReason && len(reasons) > 0 {
			continue
		}
		if !slices.ContainsFunc(reasons, func(o state.Reason) bool { return o.Text == r.Text }) {
			reasons = append(reasons, r)
		}
	}
	v.Verdict, v.Reasons = verdict, reasons
}

// handOff marks the handoffs to h.From as read and writes h for the next role. If h.To is empty, it writes nothing.
func (p *Panel) handOff(ctx context.Context, s Request, h roles.AIOSHandoff) {
	if !p.AIOS.Story(s.Task) {
		return
	}
	in, dir := projectfs.In(s.Dir), filepath.Join(s.Dir, roles.AiosHandoffs)
	if err := roles.ConsumeHandoff(in, dir, h.From, s.Story.ID); err != nil {
		p.unwritten(s, "cannot mark a handoff as read", err)
	}
	if h.To == "" {
		return
	}
	h.Story = s.Story
	// It fails on a detached HEAD.
	if branch, err := command.Run(ctx, p.Dir, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		h.Story.Branch = strings.TrimSpace(branch)
	}
	if err := h.Write(in, dir, time.Now()); err != nil {
		p.unwritten(s, "cannot pass on a handoff", err)
	}
}

// unwritten says that a file of the conventions is missing. The review goes on without it.
func (p *Panel) unwritten(s Request, what string, err error) {
	p.emit(s, state.Finding{Source: state.FoundByReview, Task: s.Task.ID, Doubt: true, Text: what + ": " + err.Error()})
}
