package preflight

// The files drill*.go play recordings of real agent CLIs through the code that reads and
// judges a turn in a run. They call no agent and no provider.
//
//	Find: class x agent -> Recording      embedded, one each
//	Play: Recording + Setting -> Scene    decode, classify, decide: as in a run

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
	"syscall"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/wire"
)

// archive holds one recording for each class and agent. `go test
// ./cmd/internal/drill -update` picks them from the recordings in the tests of package
// agent.
//
//go:embed recordings.txtar.gz
var archive []byte

// unpack returns the archive as text. Compressed, it adds a tenth as much to the program.
func unpack() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Recording is what one call of an agent CLI printed, and how it ended.
type Recording struct {
	wire.Recording
	end *stagedEnd // replaces the recorded end; nil: as recorded
}

// Class returns the outcome class of the call.
func (r Recording) Class() ending.Class { return ending.Class(r.Recording.Class) }

// Exit returns the end of the call.
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

// Staged describes the end that replaces the recorded one; empty: none does.
func (r Recording) Staged() string {
	if r.end == nil {
		return ""
	}
	return r.end.words
}

var all = sync.OnceValue(func() []Recording {
	text, err := unpack()
	if err != nil {
		panic("embedded recordings: " + err.Error())
	}
	parsed, err := wire.ParseRecordings(text)
	if err != nil {
		panic("embedded recordings: " + err.Error())
	}
	list := make([]Recording, len(parsed))
	for i, r := range parsed {
		list[i].Recording = r
	}
	return list
})

// FindRecording returns a recording of the class for the agent: its own, or else one of its good
// turns with another end. An agent without any recordings gets those of another agent
// with the same wire format.
func FindRecording(class ending.Class, s agent.Spec) (Recording, bool) {
	name := s.Name
	if _, own := pick(ending.CompletedTurn, name); !own {
		name = standIn(s.Format)
	}
	if r, ok := pick(class, name); ok {
		return r, true
	}
	end, ok := endings(s.Format)[class]
	if !ok {
		return Recording{}, false
	}
	r, ok := pick(ending.CompletedTurn, name)
	r.Recording.Class, r.end = string(class), &end
	return r, ok
}

// standIn returns the first agent of the table with recordings in that format.
func standIn(format agent.Format) string {
	for _, s := range agent.Specs() {
		if _, ok := pick(ending.CompletedTurn, s.Name); ok && s.Format == format {
			return s.Name
		}
	}
	return ""
}

func pick(class ending.Class, name string) (Recording, bool) {
	for _, r := range all() {
		if r.Class() == class && r.Agent == name {
			return r, true
		}
	}
	return Recording{}, false
}

// stagedEnd is an end that needs no recording: ralph or the kernel causes it.
type stagedEnd struct {
	keep  int // how much of the recorded output
	exit  ptyexec.Exit
	words string
}

// How much of the output an end keeps.
const (
	keepNothing    = iota
	keepUnfinished // all before the final record
	keepAll
)

// endings returns the ends that can be staged, by class.
func endings(format agent.Format) map[ending.Class]stagedEnd {
	ends := map[ending.Class]stagedEnd{
		ending.NoFinalRecord: {keepUnfinished, ptyexec.Exit{Cause: ptyexec.CauseExited},
			"cut off before its final record, exit code 0"},
		ending.HangSilent: {keepNothing, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseIdle},
			"nothing printed until IDLE_TIMEOUT_MINUTES ended it"},
		ending.HangAfterResult: {keepAll, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseFinal},
			"still alive after its final record, and ended"},
		ending.TimeoutWithWork: {keepUnfinished, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseTimeout},
			"ended at work by CLAUDE_TIMEOUT_MINUTES"},
		ending.TimeoutIdle: {keepUnfinished, ptyexec.Exit{Code: -1, Cause: ptyexec.CauseIdle},
			"silent after some work, and ended by IDLE_TIMEOUT_MINUTES"},
		ending.KilledBySignal: {keepUnfinished, ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL,
			Cause: ptyexec.CauseExited}, "killed at work by SIGKILL"},
		ending.Crash: {keepUnfinished, ptyexec.Exit{Code: -1, Signal: syscall.SIGSEGV,
			Cause: ptyexec.CauseExited}, "ended at work by SIGSEGV"},
	}
	if format == agent.FormatText { // without records, what it printed is its final message
		delete(ends, ending.HangAfterResult)
		end := ends[ending.NoFinalRecord]
		end.keep, end.words = keepNothing, "nothing printed, exit code 0"
		ends[ending.NoFinalRecord] = end
	}
	return ends
}
