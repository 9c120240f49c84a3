package gate

import (
	"encoding/json"
	"slices"
	"time"

	"ralph/runner/gate/report"
)

const (
	flakesKept    = 500 // tests, those seen last
	flakeRunsKept = 10  // of each test
)

// Flake is the history of one test that failed in one of two runs of the same tree.
type Flake struct {
	Check string     `json:"check"`
	Test  string     `json:"test"` // the check's own name where single tests are not known
	Times int        `json:"times"`
	First time.Time  `json:"first_seen"`
	Runs  []FlakeRun `json:"runs"` // the latest 10
}

// FlakeRun is one pair of runs.
type FlakeRun struct {
	At     time.Time     `json:"at"`
	First  report.Status `json:"first"`
	Second report.Status `json:"second"`
}

// Flakes is .ralph/test_flakes.json: at most 500 tests, the latest last. A nil
// Flakes knows nothing.
type Flakes struct {
	Flakes []Flake `json:"flakes"`
}

// ReadFlakes reads the file, which may be missing. The error says that an
// unusable file was set aside; the Flakes are then empty and usable.
func ReadFlakes(path string) (*Flakes, error) {
	f := &Flakes{}
	err := load(path, f)
	if err != nil {
		f = &Flakes{}
	}
	return f, err
}

// PeekFlakes returns the history on disk, the latest last. It never changes a
// file: an unusable one reads as empty.
func PeekFlakes(path string) []Flake {
	var f Flakes
	data, err := readStored(path)
	if err != nil || data == nil || json.Unmarshal(data, &f) != nil {
		return nil
	}
	return f.Flakes
}

// Write replaces the file, unless it holds the same already.
func (f *Flakes) Write(path string) error {
	if len(f.Flakes) == 0 {
		return nil
	}
	return save(path, f)
}

// Clone is a copy that shares nothing with f that changes.
func (f *Flakes) Clone() *Flakes {
	if f == nil {
		return nil
	}
	return &Flakes{Flakes: slices.Clone(f.Flakes)}
}

func (f *Flakes) index(check, test string) int {
	if f == nil {
		return -1
	}
	return slices.IndexFunc(f.Flakes, func(k Flake) bool { return k.Check == check && k.Test == test })
}

// times is how often a test was seen to be flaky.
func (f *Flakes) times(check, test string) int {
	if i := f.index(check, test); i >= 0 {
		return f.Flakes[i].Times
	}
	return 0
}

// knows tells whether all of the tests, or the check itself where there is none,
// have been flaky before.
func (f *Flakes) knows(check string, tests []report.Test) bool {
	if len(tests) == 0 {
		return f.index(check, check) >= 0
	}
	return !slices.ContainsFunc(tests, func(t report.Test) bool { return f.index(check, t.Name) < 0 })
}

// record keeps both results of what failed once in the two runs of r.
func (f *Flakes) record(r Result) {
	if f == nil {
		return
	}
	now := time.Now().Truncate(time.Second)
	for _, name := range r.Flaky {
		run := FlakeRun{At: now, First: report.Passed, Second: report.Failed}
		if name == r.Name || slices.Contains(names(r.First.Blamed), name) {
			run.First, run.Second = report.Failed, report.Passed
		}
		k := Flake{Check: r.Name, Test: name, First: now}
		if i := f.index(r.Name, name); i >= 0 {
			k = f.Flakes[i]
			f.Flakes = slices.Delete(f.Flakes, i, i+1)
		}
		k.Times++
		k.Runs = append(k.Runs, run)
		k.Runs = k.Runs[max(0, len(k.Runs)-flakeRunsKept):]
		f.Flakes = append(f.Flakes, k)
	}
	f.Flakes = f.Flakes[max(0, len(f.Flakes)-flakesKept):]
}
