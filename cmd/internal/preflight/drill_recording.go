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
type Recording struct{ wire.Recording }

// Class returns the outcome class of the call.
func (r Recording) Class() ending.Class { return ending.Class(r.Recording.Class) }

// Exit returns the end of the call.
func (r Recording) Exit() ptyexec.Exit {
	exit := ptyexec.Exit{Code: r.Recording.Exit, Signal: r.KilledBy(), Cause: ptyexec.CauseExited}
	if r.TimedOut {
		exit.Cause = ptyexec.CauseTimeout
	}
	return exit
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
		list[i] = Recording{r}
	}
	return list
})

// FindRecording returns a recording of the class by the agent. An agent without any recordings gets those of another
// one with the same wire format.
func FindRecording(class ending.Class, s agent.Spec) (Recording, bool) {
	name := s.Name
	if _, own := pick(ending.CompletedTurn, name); !own {
		name = standIn(s.Format)
	}
	return pick(class, name)
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
