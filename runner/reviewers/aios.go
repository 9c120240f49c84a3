package reviewers

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

// Template returns the user's prompt for a task. For a story of AIOS it starts with the command of the developer role.
func (p *Panel) Template(user string, t task.Task) string {
	if !p.AIOS.Story(t) {
		return user
	}
	return p.AIOS.Develop(t) + user
}

// Prefix returns the text before the title in a commit message.
func (p *Panel) Prefix(prefix string, t task.Task) string {
	if !p.AIOS.Story(t) {
		return prefix
	}
	return "feat: " + t.ID + " -"
}

// reports is true when the reviewer writes a report and a gate file, as in projects of AIOS and BMAD.
func (p *Panel) reports(s Request) bool {
	return s.Role().Writes == roles.TheReport && p.AIOS.Reports(s.Task)
}

// letWrite allows a reviewer to write its report. It works in a copy; keepReport copies only what it may write.
func letWrite(a *turn.Assignment) {
	a.Agent.PermissionMode = argv.PermitAllowedTools
	a.Agent.AllowedTools = []string{"Read", "Glob", "Grep", "Write", "Edit"}
}

// keepReport copies what such a reviewer wrote into the project: its report, and its section of the story. Its gate
// file sets the verdict unless its answer is worse. It returns the files that it does not copy.
func (p *Panel) keepReport(ws *workspace, changed []string, v *state.Verdict) (undone []string) {
	req := ws.request
	for _, file := range changed {
		data, err := readPlain(filepath.Join(ws.dir, filepath.FromSlash(file)))
		to := filepath.Join(ws.project, filepath.FromSlash(file))
		switch {
		case err == nil && p.AIOS.MayWrite(file) && inside(ws.project, to) && replaceable(to):
			if os.MkdirAll(filepath.Dir(to), 0o755) != nil || os.WriteFile(to, data, 0o644) != nil {
				p.Log.Warn("cannot copy a review report", "file", file)
			}
			if p.AIOS.IsGate(req.Task, file) {
				mergeGate(v, data)
			}
		case err == nil && file == req.Story.Path: // the plan is never part of the work
			theirs, whole := string(data), false
			err := rewrite.File(req.Plan, filepath.Join(p.Dir, filepath.FromSlash(file)), func(story string) string {
				with := aios.Section(story, theirs)
				whole = with == theirs
				return with
			})
			if err != nil {
				p.Log.Warn("cannot write a review report into its story", "file", file, "error", err)
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

// readPlain reads a regular file that a reviewer wrote. It follows no link.
func readPlain(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return state.ReadFile(path, maxCopied)
}

// replaceable is true for a regular file, and if there is none yet.
func replaceable(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode().IsRegular()
}

// inside reports whether a path is in a folder after all links are followed.
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

// mergeGate takes over the verdict of a gate file and its reasons, unless the verdict of the answer is worse.
func mergeGate(v *state.Verdict, gate []byte) {
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

// handOff marks the handoffs to h.From as read and writes h for the next role. If h.To is empty, it writes nothing.
func (p *Panel) handOff(ctx context.Context, s Request, h aios.Handoff) {
	dir := filepath.Join(s.Dir, p.AIOS.HandoffDir)
	if !p.AIOS.Story(s.Task) || p.AIOS.HandoffDir == "" || !filepath.IsLocal(p.AIOS.HandoffDir) ||
		!inside(s.Dir, filepath.Join(dir, "handoff")) {
		return
	}
	if err := aios.Consume(dir, h.From, s.Story.ID); err != nil {
		p.Log.Warn("cannot mark a handoff as read", "error", err)
	}
	if h.To == "" {
		return
	}
	h.Story = s.Story
	// It fails on a detached HEAD.
	if branch, err := command.Run(ctx, p.Dir, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		h.Story.Branch = strings.TrimSpace(branch)
	}
	if err := h.Write(dir, time.Now()); err != nil {
		p.Log.Warn("cannot write a handoff", "error", err)
	}
}
