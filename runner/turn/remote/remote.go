package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/git/command"
	"ralph/runner/slots"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

const (
	// stopTimeout limits how long a worker may take to end its agent and answer.
	stopTimeout = 30 * time.Second
	// endBound limits how long the carrier may take to end after the worker's time and its own grace.
	endBound = 10 * time.Second
)

// Trip sends the turns of one slot to their worker and brings the results back.
type Trip struct {
	Args  []string // of the carrier
	Env   []string // of the carrier; nil: that of this process
	Ralph string   // this version
	Repo  string   // see Hello
	Root  string   // the worktree that stands for the worker's
	Temp  string   // a folder for the error output of the carrier
	// Parcel has what each turn needs; Send fills in Head, Now and Assignment.
	Parcel Parcel
}

// FailedError says why a turn was not carried out. It may work elsewhere or later.
type FailedError struct{ Why string }

// Error implements error.
func (e *FailedError) Error() string { return e.Why }

// Send lets the worker carry out the turn. The worktree is then like the worker's. emit gets each event.
// The error is a *FailedError if the worker or the connection to it failed.
func (t Trip) Send(ctx context.Context, a turn.Assignment, emit func(state.Event)) (turn.Result, error) {
	p := t.Parcel
	var err error
	if p.Head, err = command.Line(ctx, t.Root, "rev-parse", "HEAD"); err != nil {
		return turn.Result{}, err
	}
	p.Assignment = t.relative(a)
	var end End
	var pack strings.Builder
	var began time.Time
	refused := 0
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	err = t.talk(work, ctx, func(l Line, out *Writer) (bool, error) {
		switch {
		case l.Hello != nil:
			pack.Reset()
			before := a.Origin.Host
			a.Origin.Host = cmp.Or(machine(l.Hello.Host), a.Origin.Host)
			if !began.IsZero() {
				emit(note(a.Origin, "the worker on %s no longer answers; the turn starts again on %s", before, a.Origin.Host))
			}
			began = time.Now()
			return false, sendParcel(work, out, t.Root, p, l.Hello.Has)
		case l.Pack != nil:
			return false, Collect(&pack, l.Pack)
		case l.Event != nil:
			if e, ok := eventOf(*l.Event, a.Origin); ok {
				emit(e)
			} else {
				refused++
			}
		case l.End != nil:
			end = *l.End
			return true, nil
		}
		return false, nil
	})
	switch {
	case err != nil:
		return turn.Result{}, err
	case end.Error != "" || end.Result == nil || end.Result.V != turn.Version:
		return turn.Result{}, &FailedError{"the worker failed: " + termtext.Line(end.Error)}
	}
	if refused > 0 {
		emit(note(a.Origin, "the worker sent %d events that it may not send; ralph ignored them", refused))
	}
	if end.Head != "" {
		late, done := stop.Outlast(ctx)
		defer done()
		if err := t.apply(late, end, pack.String(), p.Head); err != nil {
			return turn.Result{}, &FailedError{err.Error()}
		}
	}
	return end.Result.Trusted(a, began), nil
}

// note returns an event with a message for people.
func note(from state.Origin, format string, args ...any) state.Event {
	return state.NewEvent(from, time.Now(),
		state.Finding{Source: state.FoundByChecks, Text: fmt.Sprintf(format, args...)})
}

// apply makes the worktree what the worker left: its HEAD, and the rest as uncommitted changes.
func (t Trip) apply(ctx context.Context, end End, pack, base string) error {
	err := Unpack(ctx, t.Root, pack, end.Head, end.Left, "^"+base)
	if err == nil {
		_, err = command.Run(ctx, t.Root, "checkout", "--quiet", "--force", "--detach", end.Left)
	}
	if err == nil {
		_, err = command.Run(ctx, t.Root, "reset", "--quiet", end.Head)
	}
	return err
}

// relative returns the assignment with paths that are relative to the worktree.
func (t Trip) relative(a turn.Assignment) turn.Assignment {
	rel := func(path string) string {
		if out, err := filepath.Rel(t.Root, path); err == nil && filepath.IsLocal(out) {
			return filepath.ToSlash(out)
		}
		return ""
	}
	a.Dir, a.Plan.Path, a.Plan.Edits, a.LogDir, a.State = ".", rel(a.Plan.Path), "", "", ""
	var protect []string
	for _, path := range a.Protect {
		if path = rel(path); path != "" {
			protect = append(protect, path)
		}
	}
	a.Protect, a.Agent.Settings = protect, "" // settings name programs of this machine
	a.Sandbox.Project.Dir, a.Sandbox.Project.DotGit, a.Sandbox.Project.Git = "", "", nil
	return a
}

// sendParcel sends what the turn needs, without what the worker has.
func sendParcel(ctx context.Context, out *Writer, root string, p Parcel, has []string) error {
	pack, err := Pack(ctx, root, []string{p.Head}, has)
	if err != nil {
		return err
	}
	if err := out.SendPack(pack); err != nil {
		return err
	}
	p.Now = time.Now()
	return out.Send(Line{Parcel: &p})
}

// talk runs the carrier. heard gets each message until it returns true. asked is the context of the
// turn: when it ends, talk tells the worker.
func (t Trip) talk(ctx, asked context.Context, heard func(Line, *Writer) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	out := NewWriter(inW)
	over := make(chan struct{})
	defer close(over)
	defer context.AfterFunc(asked, func() {
		defer ptyexec.Working(2*stopTimeout + endBound)()
		time.AfterFunc(stopTimeout, cancel) // before Send, which blocks if the worker does not read
		_ = out.Send(Line{Do: string(stop.By(asked))})
		<-over
	})()
	errs := filepath.Join(t.Temp, "carrier")
	args := append([]string{"/bin/sh", "-c", `exec "$@" 2>"$0"`, errs}, t.Args...)
	ended := make(chan error, 1)
	go func() {
		_, err := ptyexec.Run(ctx,
			ptyexec.Command{Args: args, Env: t.Env, Stdin: inR, Pipe: true, KillGrace: stopTimeout},
			func(p []byte) bool { _, err := outW.Write(p); return err != nil })
		_ = outW.Close()
		_ = inR.Close()
		ended <- err
	}()
	go func() {
		_ = out.Send(Line{Hello: &Hello{Protocol: Protocol, Ralph: t.Ralph, Repo: t.Repo}})
	}()
	err := t.listen(NewReader(outR, MaxReply), out, heard)
	_ = inW.Close() // the worker ends, and so does the carrier
	_ = outR.Close()
	timer := time.AfterFunc(stopTimeout, cancel)
	defer timer.Stop()
	failed := <-ended
	if errors.Is(err, io.EOF) {
		return &FailedError{t.said(errs, failed)}
	}
	return err
}

func (t Trip) listen(r *Reader, out *Writer, heard func(Line, *Writer) (bool, error)) error {
	for {
		l, err := r.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return io.EOF
		case err != nil:
			return &FailedError{err.Error()}
		}
		if h := l.Hello; h != nil {
			if err := Greet(*h, t.Ralph); err != nil {
				return err
			}
		}
		done, err := heard(l, out)
		if err != nil && !errors.Is(err, io.ErrClosedPipe) || done {
			return err
		}
	}
}

// Greet returns an error if the other side does not work with this one.
func Greet(h Hello, mine string) error {
	if h.Error != "" {
		return &FailedError{termtext.Line(h.Error)}
	}
	if h.Protocol != Protocol {
		return &FailedError{fmt.Sprintf("it speaks protocol %d, but this ralph speaks protocol %d",
			h.Protocol, Protocol)}
	}
	if err := Fits(mine, h.Ralph); err != nil {
		return &FailedError{err.Error()}
	}
	return nil
}

// Fits says why two versions of ralph do not work together; nil: they do. One minor version apart is fine.
func Fits(mine, theirs string) error {
	if mine == theirs {
		return nil
	}
	a, b, ok1 := minor(mine)
	c, d, ok2 := minor(theirs)
	if ok1 && ok2 && a == c && b-d <= 1 && d-b <= 1 {
		return nil
	}
	return fmt.Errorf("it has ralph %q and this is ralph %q; they may be one minor version apart", theirs, mine)
}

func minor(version string) (major, minor int, ok bool) {
	f := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(f) < 3 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(f[0])
	minor, err2 := strconv.Atoi(f[1])
	return major, minor, err1 == nil && err2 == nil
}

// said returns why the carrier ended before its worker answered.
func (t Trip) said(file string, err error) string {
	text, _ := os.ReadFile(file) // file: a temporary file
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	why := termtext.Line(lines[len(lines)-1])
	switch {
	case why != "":
		return why
	case err != nil:
		return err.Error()
	}
	return fmt.Sprintf("%s ended without an answer", t.Args[0])
}

// Pack returns a pack with the commits and everything that they need, except what the other side has. Empty: it has
// everything.
func Pack(ctx context.Context, root string, commits, has []string) (string, error) {
	in := strings.Join(commits, "\n") + "\n"
	for _, oid := range has {
		if !isOID(oid) {
			continue
		}
		if _, err := command.Run(ctx, root, "cat-file", "-e", oid+"^{commit}"); err == nil {
			in += "^" + oid + "\n"
		}
	}
	count, err := command.Call{Dir: root, Stdin: in}.Run(ctx, "rev-list", "--count", "--stdin")
	if err != nil || strings.TrimSpace(count) == "0" {
		return "", err
	}
	pack, err := command.Call{Dir: root, Stdin: in}.Run(ctx, "pack-objects", "--revs", "--stdout", "--thin", "--quiet",
		"--delta-base-offset")
	if err != nil {
		return "", fmt.Errorf("pack commits: %w", err)
	}
	return pack, nil
}

// Unpack adds the objects of a pack and checks that the commits are complete. ^COMMIT stands for
// a commit that was complete before.
func Unpack(ctx context.Context, root, pack string, commits ...string) error {
	if pack != "" {
		call := command.Call{Dir: root, Stdin: pack}
		if _, err := call.Run(ctx, "index-pack", "--stdin", "--fix-thin", "--strict"); err != nil {
			return fmt.Errorf("unpack commits: %w", err)
		}
	}
	args := []string{"rev-list", "--objects", "--quiet"}
	for _, oid := range commits {
		if !isOID(strings.TrimPrefix(oid, "^")) {
			return fmt.Errorf("unpack commits: the other side sent %.80q, which is no commit", oid)
		}
		args = append(args, oid)
	}
	if _, err := command.Run(ctx, root, args...); err != nil {
		return fmt.Errorf("unpack commits: they are not complete: %w", err)
	}
	return nil
}

func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Fit returns an error if ralph cannot send the commits of a repository.
func Fit(ctx context.Context, root string) error {
	if is, err := command.Line(ctx, root, "rev-parse", "--is-shallow-repository"); err != nil || is == "true" {
		return errors.Join(err,
			errors.New("a shallow clone cannot be sent to other machines; complete it with: git fetch --unshallow"))
	}
	if slots.Partial(ctx, root) {
		return errors.New("a partial clone cannot be sent to other machines; " +
			"complete it with: git fetch --refetch --no-filter")
	}
	if name, err := slots.Submodule(ctx, root); err != nil {
		return err
	} else if name != "" {
		return fmt.Errorf("the submodule %q cannot be sent to other machines; work with local slots only", name)
	}
	if out, err := command.Run(ctx, root, "grep", "--cached", "-l", "filter=lfs", "--",
		":(glob)**/.gitattributes"); err == nil && out != "" {
		return fmt.Errorf("files in git LFS (%s) cannot be sent to other machines; work with local slots only",
			strings.TrimSpace(strings.SplitN(out, "\n", 2)[0]))
	}
	return nil
}

// mayTell reports whether a turn may send such an event. Only the run itself may send the others: decisions, the
// states of tasks, questions and answers, verdicts, its start and its end.
func mayTell(p state.Payload) bool {
	switch d := p.(type) {
	case state.Baseline, state.SessionStart, state.Text, state.Tool, state.ToolResult, state.Usage, state.Denied,
		state.Blocked, state.Limit, state.Retry, state.AgentError, state.FinalMessage, state.Check:
		return true
	case state.Phase:
		return slices.Contains([]string{state.PhaseAgent, state.PhaseObserving, state.PhaseChecking}, d.Name)
	case state.Finding:
		return d.Source == state.FoundByAudit || d.Source == state.FoundByChecks
	}
	return false
}

// eventOf turns an event of a worker into one of the run; false: a worker may not send it. Number, time and origin are
// the run's own, because the clock of another machine may be wrong.
func eventOf(e state.Event, from state.Origin) (state.Event, bool) {
	if e.Data == nil || !mayTell(e.Data) {
		return e, false
	}
	return state.NewEvent(from, time.Now(), turn.Redacted(e.Data)), true
}

// Unusable returns why the agent cannot work on the machine of the result; empty: it can.
func Unusable(res turn.Result) string {
	if o := res.Call.Outcome; res.Call.NotStarted == "" && res.Call.Made && o.Class.Fatal() {
		return o.Reason
	}
	return res.Call.NotStarted
}

// machine returns the cleaned host name of a worker; empty: unknown.
func machine(host string) string {
	const longest = 64
	if host = strings.TrimSpace(termtext.Line(host)); len(host) > longest {
		return ""
	}
	return host
}
