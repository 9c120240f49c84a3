package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/agent/wire"
	"ralph/state"
)

// Outcome is how a call ended: its class and the facts behind it.
type Outcome struct {
	Class      ending.Class  `json:"class"`
	Reason     string        `json:"reason"`                   // one line for people
	Evidence   string        `json:"evidence,omitempty"`       // the record or line that shows it, cut; may be empty
	Limit      *state.Limit  `json:"limit,omitempty"`          // nil: neither a usage nor a spend limit
	ResetsAt   time.Time     `json:"resets_at,omitzero"`       // when the limit ends; zero: unknown
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"` // the provider asked for it; zero: no
}

// Classify returns how a call ended. It looks at the agent's records first, then
// at the CLI's own error text; the exit status alone decides nothing. It ignores
// narration, tool results and the prompt.
func (s Spec) Classify(t *Transcript, exit ptyexec.Exit, now time.Time) Outcome {
	var o Outcome
	switch {
	case s.succeeded(t, exit):
		o = s.goodTurn(t, exit)
	case t.Rejected != nil:
		o = s.rejected(t, exit)
	case t.HasResult && t.ResultError:
		o = s.failedTurn(t, exit)
	default:
		o = s.noResult(t, exit)
	}
	o.namesReset(t, now)
	guess := o.addTimes(t, now)
	o.Evidence = wire.OneLine(o.Evidence)
	if o.Reason == "" {
		o.Reason = o.Class.Meaning()
		if o.Evidence != "" && !o.Class.Success() {
			o.Reason += ": " + ending.Shown(o.Evidence)
		}
	}
	if guess != "" {
		o.Reason += fmt.Sprintf("; time zone %s unknown, read as local time", guess)
	}
	return o
}

// succeeded reports whether the final record ends a good turn.
func (s Spec) succeeded(t *Transcript, exit ptyexec.Exit) bool {
	answered := func() bool { return ending.NewReader(s.Patterns).InsteadOfAnswer(t.Final) == ending.Unknown }
	switch {
	case !t.HasResult || t.ResultError:
		return false
	case slices.Contains(t.Codes, codeText):
		// Without records, a CLI may print only an error and still exit with 0.
		return exit.Cause == ptyexec.CauseExited && exit.Code == 0 && exit.Signal == 0 && answered()
	case t.Rejected != nil: // another window or model may have let the call continue
		return strings.TrimSpace(t.Final) != "" && answered()
	}
	return true
}

func (s Spec) goodTurn(t *Transcript, exit ptyexec.Exit) Outcome {
	o := Outcome{Class: ending.CompletedTurn}
	_, signal := statusblock.Parse(t.Final)
	refused := slices.DeleteFunc(slices.Clone(t.Denials), func(d state.Tool) bool { return AsksUser(d.Name) })
	switch {
	case slices.Contains(t.Codes, "refusal"):
		o.Class, o.Evidence = ending.Refusal, t.Final
	case exit.Cause != ptyexec.CauseExited && exit.Cause != ptyexec.CauseCancelled:
		o.Class = ending.HangAfterResult
	case len(refused) > 0:
		first := fmt.Sprintf("%s(%s)", refused[0].Name, refused[0].Arg)
		o.Class, o.Evidence = ending.PermissionDenied, first
		o.Reason = fmt.Sprintf("the permission rules refused %s, first %s", termtext.Count(len(refused), "tool call"),
			wire.OneLine(first))
	case t.Asked && !signal, !signal && strings.HasSuffix(strings.TrimRight(t.Final, " \t\r\n*_`)\"'"), "?"):
		o.Class, o.Evidence = ending.QuestionAsked, t.Final
	case strings.TrimSpace(t.Final) == "" && t.ToolCalls == 0:
		o.Class = ending.EmptyOutput
	case exit.Code != 0 && exit.Cause == ptyexec.CauseExited:
		o.Reason = fmt.Sprintf("the turn ended well, although the agent exited with %d", exit.Code)
	}
	return o
}

// failedTurn classifies a final record that reports a failure.
func (s Spec) failedTurn(t *Transcript, exit ptyexec.Exit) Outcome {
	class, evidence := s.cause(t, exit)
	switch {
	case class == ending.KilledBySignal && exit.Cause != ptyexec.CauseExited:
		return s.noResult(t, exit) // the record is the reaction to ralph's own signal
	case class == ending.Unknown && evidence == "" && !t.Worked():
		class = ending.EmptyOutput
	case class == ending.Unknown:
		class = ending.Crash
	}
	return Outcome{Class: class, Evidence: evidence}
}

// rejected classifies a call that a limit refused.
func (s Spec) rejected(t *Transcript, exit ptyexec.Exit) Outcome {
	o := Outcome{Class: ending.UsageLimit, Limit: t.Rejected,
		Evidence: "limit " + t.Rejected.Name + " rejected the work"}
	cause, evidence := s.cause(t, exit)
	if evidence != "" {
		o.Evidence = evidence
	}
	switch {
	case cause == ending.SpendLimit || strings.Contains(t.Rejected.Name, "overage"):
		o.Class = ending.SpendLimit
	case t.Rejected.ResetsAt.IsZero() && cause == ending.RateLimited:
		o.Class = cause // without a reset time it is a plain 429
	}
	return o
}

// noResult classifies a call that ended without a final record.
func (s Spec) noResult(t *Transcript, exit ptyexec.Exit) Outcome {
	cause, evidence := s.cause(t, exit)
	sig := ending.Signal(exit.Code, exit.Signal)
	switch {
	case exit.Cause == ptyexec.CauseCancelled && t.Repeats != "":
		return Outcome{Class: ending.Repeating, Evidence: t.Repeats}
	case exit.Cause == ptyexec.CauseCancelled:
		return Outcome{Class: ending.KilledBySignal, Reason: "the call was stopped"}
	case exit.Cause != ptyexec.CauseExited:
		return s.stopped(t, exit)
	case cause != ending.Unknown:
		return Outcome{Class: cause, Evidence: evidence}
	case sig != 0:
		return Outcome{Class: ending.OfSignal(sig), Evidence: sig.String()}
	case len(t.Denials) > 0:
		return s.goodTurn(t, exit) // the CLI ends the turn at a refusal
	case exit.Code == 0:
		return Outcome{Class: ending.NoFinalRecord}
	case s.ExitCodes[exit.Code] == "" && t.Resumed && t.Session == "" && t.ToolCalls == 0: // amp says no more
		return Outcome{Class: ending.StaleSession, Reason: "the resumed session ended without any output",
			Evidence: ending.LastWords(exit.Code, t.outside())}
	}
	return Outcome{Class: cmp.Or(s.ExitCodes[exit.Code], ending.Crash),
		Evidence: ending.LastWords(exit.Code, t.outside())}
}

// stopped classifies a call that ralph ended because its time was up.
func (s Spec) stopped(t *Transcript, exit ptyexec.Exit) Outcome {
	cause, evidence := s.cause(t, exit)
	retry, notice := s.waits(t)
	switch {
	case retry != ending.Unknown && exit.Cause != ptyexec.CauseFinal:
		return Outcome{Class: retry, Evidence: notice}
	case t.Worked() && exit.Cause == ptyexec.CauseIdle:
		return Outcome{Class: ending.TimeoutIdle}
	case t.Worked():
		return Outcome{Class: ending.TimeoutWithWork}
	case cause == ending.Auth || cause == ending.NoCredit || cause == ending.StaleSession || cause == ending.BadFlag:
		return Outcome{Class: cause, Evidence: evidence} // the CLI waited for a person
	}
	// Before a session, a login is all that a CLI waits for.
	if line, waits := ending.WaitsForLogin(t.CLI); waits && t.Session == "" {
		return Outcome{Class: ending.Auth, Evidence: line}
	}
	if n := len(t.Retries); evidence == "" && n > 0 {
		evidence = t.Retries[n-1].Text
	}
	return Outcome{Class: ending.HangSilent, Evidence: evidence}
}

// waits returns why the CLI was waiting to try again, and its notice; Unknown: it was
// not. The newest notice may not say why.
func (s Spec) waits(t *Transcript) (ending.Class, string) {
	retries := t.Retries
	if slices.Contains(t.Codes, codeText) {
		last := t.Final[strings.LastIndexByte(t.Final, '\n')+1:]
		if retries = nil; ending.AnnouncesRetry(last) {
			retries = []state.Retry{{Text: last}}
		}
	}
	for _, n := range slices.Backward(retries) {
		if class := ending.NewReader(s.Patterns).Retry(n.Codes, n.Text); class != ending.Unknown {
			return class, n.Text
		}
	}
	return ending.Unknown, ""
}

// cause returns the cause of a failure and the text that shows it, which may be
// empty. Lines outside the records explain only a CLI that ended by itself: it
// prints many of them before it starts to work. That only a person can help must be
// the last word of a CLI that did nothing and exited with an error.
func (s Spec) cause(t *Transcript, exit ptyexec.Exit) (ending.Class, string) {
	byItself := exit.Cause == ptyexec.CauseExited && ending.Signal(exit.Code, exit.Signal) == 0
	said := ending.Report{Codes: slices.Concat(t.Codes, t.ErrorCodes), Errors: t.Errors, Lines: t.outside(),
		Fatal: byItself && (slices.Contains(t.Codes, codeText) || exit.Code != 0 && !t.Worked())}
	if !byItself && !t.ResultError {
		said.Lines = nil
	}
	return ending.NewReader(s.Patterns).Cause(said)
}

// soon is how long a limit lasts that is worth a few tries.
const soon = 10 * time.Minute

// namesReset makes a limit of a failure whose words are not known, but which says when something resets.
func (o *Outcome) namesReset(t *Transcript, now time.Time) {
	switch o.Class {
	case ending.Crash, ending.NoFinalRecord, ending.Auth, ending.NoCredit, ending.RateLimited, ending.Overloaded, ending.ServerError:
	default:
		return
	}
	texts := slices.Concat(t.ErrorCodes, t.Errors)
	if !t.Worked() { // else the lines may be the agent's words
		texts = append(texts, t.outside()...)
	}
	if slices.ContainsFunc(texts, func(text string) bool { return ending.IsReset(text, now).After(now.Add(soon)) }) {
		o.Class = ending.UsageLimit
	}
}

// addTimes sets when a limit ends, or when to retry, from the texts of the failure. It returns the
// time zone of the limit if that is unknown.
func (o *Outcome) addTimes(t *Transcript, now time.Time) (unknown string) {
	limited := o.Class == ending.UsageLimit || o.Class == ending.SpendLimit
	texts := slices.Concat(t.ErrorCodes, t.Errors, []string{o.Evidence})
	named, unknown := ending.Until(texts, limited, now)
	if delay, _ := ending.Until(texts, false, now); named.IsZero() && delay.After(now.Add(soon)) {
		named = delay // what the provider asks for, not how long a CLI waits
	}
	switch {
	case limited:
		limit := state.Limit{Name: ending.LimitName(o.Evidence), Rejected: true, Utilization: -1}
		if o.Limit != nil {
			limit = *o.Limit
		}
		if limit.ResetsAt.IsZero() {
			limit.ResetsAt = named
		} else {
			unknown = ""
		}
		if window := ending.Window(limit.Name); window > 0 && limit.ResetsAt.After(now.Add(window)) {
			limit.ResetsAt = now.Add(window) // one of the two clocks is wrong
		}
		o.Limit, o.ResetsAt = &limit, limit.ResetsAt
		return unknown
	case o.Class.Transient() && !named.IsZero():
		o.RetryAfter = named.Sub(now)
	}
	return ""
}
