package gate

import (
	"slices"
	"time"

	"ralph/runner/gate/report"
	"ralph/runner/git"
)

const (
	flakesKept    = 500 // flaky tests, the latest ones
	flakeRunsKept = 10  // pairs of runs of each test, the latest ones
)

// Flake is the history of a test that failed in one of two runs on the same tree.
type Flake struct {
	Check string     `json:"check"`
	Test  string     `json:"test"` // the name of the check if its tests are not known
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
// Flakes is empty and records nothing.
type Flakes struct {
	Flakes []Flake `json:"flakes"`
}

// ReadFlakes reads the file, which may be missing. On an error it has renamed
// an unusable file, and the Flakes are empty.
func ReadFlakes(path string) (*Flakes, error) { return git.LoadJSON[Flakes](path) }

// PeekFlakes returns the history on disk, the latest last. It changes no file;
// an unusable one reads as empty.
func PeekFlakes(path string) []Flake {
	if f, err := git.PeekJSON[Flakes](path); err == nil {
		return f.Flakes
	}
	return nil
}

// Write replaces the file, unless there is nothing new to write.
func (f *Flakes) Write(path string) error {
	if len(f.Flakes) == 0 {
		return nil
	}
	return git.SaveJSON(path, f)
}

// Clone returns a copy that does not change when f does.
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

// times returns how often a test was flaky.
func (f *Flakes) times(check, test string) int {
	if i := f.index(check, test); i >= 0 {
		return f.Flakes[i].Times
	}
	return 0
}

// knows reports whether all these tests have been flaky before; without tests,
// whether the check itself has.
func (f *Flakes) knows(check string, tests []report.Test) bool {
	if len(tests) == 0 {
		return f.index(check, check) >= 0
	}
	return !slices.ContainsFunc(tests, func(t report.Test) bool { return f.index(check, t.Name) < 0 })
}

// record adds both results of each test that failed in only one of r's two runs.
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
