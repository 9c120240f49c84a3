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
	path  string
	dirty bool
	data  struct {
		Flakes []Flake `json:"flakes"`
	}
}

// OpenFlakes reads the file, which need not exist. The Flakes are usable also
// with an error, which says that the file was set aside.
func OpenFlakes(path string) (*Flakes, error) {
	f := &Flakes{path: path}
	err := load(path, &f.data)
	if err != nil {
		f = &Flakes{path: path}
	}
	return f, err
}

// ReadFlakes returns the history on disk, the latest last; nil also for a file
// that cannot be used. It changes nothing.
func ReadFlakes(path string) []Flake {
	var f Flakes
	data, err := readStored(path)
	if err != nil || data == nil || json.Unmarshal(data, &f.data) != nil {
		return nil
	}
	return f.data.Flakes
}

func (f *Flakes) index(check, test string) int {
	if f == nil {
		return -1
	}
	return slices.IndexFunc(f.data.Flakes, func(k Flake) bool { return k.Check == check && k.Test == test })
}

// times is how often a test was seen to be flaky.
func (f *Flakes) times(check, test string) int {
	if i := f.index(check, test); i >= 0 {
		return f.data.Flakes[i].Times
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
			k = f.data.Flakes[i]
			f.data.Flakes = slices.Delete(f.data.Flakes, i, i+1)
		}
		k.Times++
		k.Runs = append(k.Runs, run)
		k.Runs = k.Runs[max(0, len(k.Runs)-flakeRunsKept):]
		f.data.Flakes, f.dirty = append(f.data.Flakes, k), true
	}
	f.data.Flakes = f.data.Flakes[max(0, len(f.data.Flakes)-flakesKept):]
}

func (f *Flakes) save() error {
	if f == nil || !f.dirty {
		return nil
	}
	f.dirty = false
	return save(f.path, f.data)
}
