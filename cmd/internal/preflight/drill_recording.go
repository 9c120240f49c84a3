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
	"encoding/json"
	"sync"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
)

// archive holds one recording for each class and agent, as compressed JSON. `go test
// ./cmd/internal/preflight -update` picks them from the recordings in the tests of package agent.
//
//go:embed recordings.json.gz
var archive []byte

// Recording is what one call of an agent CLI printed, and how it ended.
type Recording struct {
	Name     string
	Class    ending.Class
	Agent    string // name of its row
	Recorded time.Time
	Args     []string // the command line
	Exit     ptyexec.Exit
	Output   string
}

var all = sync.OnceValue(func() (list []Recording) {
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err == nil {
		err = json.NewDecoder(r).Decode(&list)
	}
	if err != nil {
		panic("embedded recordings: " + err.Error())
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
		if r.Class == class && r.Agent == name {
			return r, true
		}
	}
	return Recording{}, false
}
