package panel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/runner/agent/argv"
	"ralph/runner/git/command"
	"ralph/runner/roles"
	"ralph/runner/roles/aios"
	"ralph/runner/task"
	"ralph/runner/task/rewrite"
	"ralph/runner/turn"
	"ralph/state"
)

// Template is the user's prompt for a task, as its project wants it begun.
func (p *Panel) Template(user string, t task.Task) string {
	if !p.AIOS.Story(t) {
		return user
	}
	return p.AIOS.Develop(t) + user
}

// Prefix stands before the title in the message of a commit.
func (p *Panel) Prefix(prefix string, t task.Task) string {
	if !p.AIOS.Story(t) {
		return prefix
	}
	return "feat: " + t.ID + " -"
}

// reports is true when the reviewer writes a report and a gate file, as in projects of AIOS and BMAD.
func (p *Panel) reports(s Sitting) bool {
	return s.Review.Phase == roles.PhaseQA && p.AIOS.Reports(s.Task)
}

// letWrite gives a reviewer what it needs for its report. It works in a copy; take
// keeps what it may write.
func letWrite(a *turn.Assignment) {
	a.Agent.PermissionMode = argv.PermitAllowedTools
	a.Agent.AllowedTools = []string{"Read", "Glob", "Grep", "Write", "Edit"}
}

// take takes over what such a reviewer wrote: its report, and its section of the story. The
// gate file counts unless the answer is worse. It returns the files that are not kept.
func (p *Panel) take(room *room, changed []string, v *state.Verdict) (undone []string) {
	of := room.sitting
	for _, file := range changed {
		data, err := readPlain(filepath.Join(room.dir, filepath.FromSlash(file)))
		to := filepath.Join(room.project, filepath.FromSlash(file))
		switch {
		case err == nil && p.AIOS.MayWrite(file) && inside(room.project, to) && replaceable(to):
			if os.MkdirAll(filepath.Dir(to), 0o755) != nil || os.WriteFile(to, data, 0o644) != nil {
				p.Log.Warn("a report is not kept", "file", file)
			}
			if p.AIOS.IsGate(of.Task, file) {
				merge(v, data)
			}
		case err == nil && file == of.Story.Path: // the plan is never part of the work
			theirs, whole := string(data), false
			err := rewrite.File(of.Plan, filepath.Join(p.Dir, filepath.FromSlash(file)), func(story string) string {
				with := aios.Section(story, theirs)
				whole = with == theirs
				return with
			})
			if err != nil {
				p.Log.Warn("a report is not in its story", "file", file, "error", err)
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

// readPlain reads a file that a reviewer wrote. It follows no link.
func readPlain(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return state.ReadFile(path, maxCopied)
}

// replaceable is true for a plain file, and where there is none yet.
func replaceable(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode().IsRegular()
}

// inside reports whether a path stays in a folder, whatever links there are.
func inside(dir, path string) bool {
	for parent := filepath.Dir(path); ; parent = filepath.Dir(parent) {
		real, err := filepath.EvalSymlinks(parent)
		if err != nil {
			continue // not there yet
		}
		root, err := filepath.EvalSymlinks(dir)
		rel, relErr := filepath.Rel(root, real)
		return err == nil && relErr == nil && filepath.IsLocal(rel)
	}
}

// merge takes the verdict of a gate file and its reasons, unless the answer is worse.
func merge(v *state.Verdict, gate []byte) {
	verdict, reasons, ok := aios.Verdict(gate)
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

// handOff leaves word for the next call; what the role itself was left is read now. Without h.To, that is all.
func (p *Panel) handOff(ctx context.Context, s Sitting, h aios.Handoff) {
	dir := filepath.Join(s.Dir, p.AIOS.HandoffDir)
	if !p.AIOS.Story(s.Task) || p.AIOS.HandoffDir == "" || !filepath.IsLocal(p.AIOS.HandoffDir) ||
		!inside(s.Dir, filepath.Join(dir, "handoff")) {
		return
	}
	if err := aios.Consume(dir, h.From, s.Story.ID); err != nil {
		p.Log.Warn("handoff", "error", err)
	}
	if h.To == "" {
		return
	}
	h.Story = s.Story
	if branch, err := command.Run(ctx, p.Dir, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil { // else none is checked out
		h.Story.Branch = strings.TrimSpace(branch)
	}
	if err := h.Write(dir, time.Now()); err != nil {
		p.Log.Warn("no handoff", "error", err)
	}
}
