// Package drill replays recordings of real agent CLIs through ralph's decoders and rules,
// without a call.
//
//	Find: class x agent -> Recording      embedded, one each
//	Play: Recording + Setting -> Scene    decode, classify, decide: as in a run
package drill

import (
	_ "embed"
	"sync"
	"syscall"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/recording"
)

// archive holds one recording for each class and agent. `go test
// ./cmd/internal/drill -update` chooses them from those that the tests of
// package agent use.
//
//go:embed recordings.txtar
var archive []byte

// Recording is what one call of an agent CLI printed, and how it ended.
type Recording struct {
	recording.Recording
	end *ending // replaces the recorded end; nil: as recorded
}

// Class is the outcome class of the call.
func (r Recording) Class() agent.Class { return agent.Class(r.Recording.Class) }

// Exit is the end of the call.
func (r Recording) Exit() ptyexec.Exit {
	if r.end != nil {
		return r.end.exit
	}
	exit := ptyexec.Exit{Code: r.Recording.Exit, Signal: r.KilledBy(), Cause: ptyexec.CauseExited}
	if r.TimedOut {
		exit.Cause = ptyexec.CauseTimeout
	}
	return exit
}

// Staged describes what replaces the recorded end; empty: nothing.
func (r Recording) Staged() string {
	if r.end == nil {
		return ""
	}
	return r.end.words
}

var all = sync.OnceValue(func() []Recording {
	parsed, err := recording.Parse(archive)
	if err != nil {
		panic("embedded recordings: " + err.Error())
	}
	list := make([]Recording, len(parsed))
	for i, r := range parsed {
		list[i].Recording = r
	}
	return list
})

// Find returns a recording of the class for the agent: its own, or a completed turn with
// another end. An agent without recordings uses those of an agent with the same wire
// format.
func Find(class agent.Class, s agent.Spec) (Recording, bool) {
	name := s.Name
	if _, own := pick(agent.ClassCompletedTurn, name); !own {
		name = standIn(s.Format)
	}
	if r, ok := pick(class, name); ok {
		return r, true
	}
	end, ok := endings(s.Format)[class]
	if !ok {
		return Recording{}, false
	}
	r, ok := pick(agent.ClassCompletedTurn, name)
	r.Recording.Class, r.end = string(class), &end
	return r, ok
}

// standIn returns the first agent of the table with recordings in that format.
func standIn(format agent.Format) string {
	for _, s := range agent.Specs() {
		if _, ok := pick(agent.ClassCompletedTurn, s.Name); ok && s.Format == format {
			return s.Name
		}
	}
	return ""
}

func pick(class agent.Class, name string) (Recording, bool) {
	for _, r := range all() {
		if r.Class() == class && r.Agent == name {
			return r, true
		}
	}
	return Recording{}, false
}

// ending is an end that does not depend on the CLI: ralph or the kernel causes it.
type ending struct {
	keep  int // of the recorded output
	exit  ptyexec.Exit
	words string
}

// What an ending keeps of the output.
const (
	keepNothing    = iota
	keepUnfinished // all before the final record
	keepAll
)

// endings returns the ends that can be staged, by class.
func endings(format agent.Format) map[agent.Class]ending {
	ends := map[agent.Class]ending{
		agent.ClassNoFinalRecord:   {keepUnfinished, ptyexec.Exit{Cause: ptyexec.CauseExited}, "cut off before its final record, exit code 0"},
		agent.ClassHangSilent:      {keepNothing, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseIdle}, "nothing printed until IDLE_TIMEOUT_MINUTES ended it"},
		agent.ClassHangAfterResult: {keepAll, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseFinal}, "still alive after its final record, and ended"},
		agent.ClassTimeoutWithWork: {keepUnfinished, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseTimeout}, "ended at work by CLAUDE_TIMEOUT_MINUTES"},
		agent.ClassTimeoutIdle:     {keepUnfinished, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseIdle}, "silent after some work, and ended by IDLE_TIMEOUT_MINUTES"},
		agent.ClassKilledBySignal:  {keepUnfinished, ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: ptyexec.CauseExited}, "killed at work by SIGKILL"},
		agent.ClassCrash:           {keepUnfinished, ptyexec.Exit{Code: -1, Signal: syscall.SIGSEGV, Cause: ptyexec.CauseExited}, "ended at work by SIGSEGV"},
	}
	if format == agent.FormatText { // without records, the output is the final message
		delete(ends, agent.ClassHangAfterResult)
		end := ends[agent.ClassNoFinalRecord]
		end.keep, end.words = keepNothing, "nothing printed, exit code 0"
		ends[agent.ClassNoFinalRecord] = end
	}
	return ends
}
