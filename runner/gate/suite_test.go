package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// write makes files of a txtar-like map: path -> content.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tapTests is a command that prints the file tap.txt and fails if it has a failure,
// so that a test sets the results of its checks. If next.txt exists, it replaces
// tap.txt for the second run.
const tapTests = `cat tap.txt; grep -q "^not ok" tap.txt; red=$?; if [ -f next.txt ]; then mv next.txt tap.txt; fi; [ $red = 1 ]`

func suiteIn(t *testing.T, mode Mode, checks ...Check) *Suite {
	t.Helper()
	p := here(t)
	s := &Suite{Checks: checks, Mode: mode, Place: p}
	var err error
	if s.Baseline, err = ReadBaseline(filepath.Join(p.Dir, BaselineFile)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Suite) must(t *testing.T) Report {
	t.Helper()
	rep, err := s.Run(t.Context(), Changed{All: true})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func (s *Suite) tap(t *testing.T, lines string) {
	t.Helper()
	write(t, s.Place.Dir, map[string]string{"tap.txt": lines})
}

func (s *Suite) take(t *testing.T) Report {
	t.Helper()
	rep, err := s.TakeBaseline(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// verdicts returns "name verdict blocks" for each result.
func verdicts(rep Report) []string {
	var texts []string
	for _, r := range rep.Results {
		text := r.Name + " " + string(r.Verdict)
		if r.Blocks {
			text += " blocks"
		}
		texts = append(texts, text)
	}
	return texts
}

func expect(t *testing.T, rep Report, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, verdicts(rep)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s\n%s", diff, strings.Join(rep.Findings(), "\n"))
	}
}

func TestSuite_modes_decideWhatBlocks(t *testing.T) {
	const red = "1..2\nok 1 - a\nnot ok 2 - b\n"
	for _, c := range []struct {
		mode                Mode
		known, new, regress string
	}{
		{ModeGate, "test known-red blocks", "test failed blocks", "test failed blocks"},
		{ModeTDD, "test known-red", "test new-red", "test failed blocks"},
		{ModeReport, "test known-red", "test failed", "test failed"},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			s := suiteIn(t, c.mode, Check{Name: "test", Command: tapTests})
			s.tap(t, red)
			if rep := s.take(t); rep.Blocked() || !slices.Equal(rep.Results[0].Known, []string{"b"}) {
				t.Errorf("baseline %+v", rep.Results)
			}
			expect(t, s.must(t), c.known)
			s.tap(t, red+"not ok 3 - c\n")
			rep := s.must(t)
			expect(t, rep, c.new)
			r := rep.Results[0]
			if blamed := slices.Concat(names(r.Blamed), r.New); !slices.Equal(blamed, []string{"c"}) || !slices.Equal(r.Known, []string{"b"}) {
				t.Errorf("blamed %v, known %v", blamed, r.Known)
			}
			s.tap(t, "ok 1 - a\nok 2 - b\n")
			expect(t, s.must(t), "test passed")
			s.tap(t, red) // what became green is lost again: no excuse
			expect(t, s.must(t), c.regress)
		})
	}
}

func TestSuite_exitCodeOnly_comparesTheCheckItself(t *testing.T) {
	s := suiteIn(t, ModeTDD, Check{Name: "lint", Kind: KindLint, Command: "[ -f clean ]"}, Check{Name: "vet", Kind: KindLint, Command: "[ ! -f dirty ]"})
	s.take(t)
	expect(t, s.must(t), "lint known-red", "vet passed")
	write(t, s.Place.Dir, map[string]string{"dirty": ""})
	rep := s.must(t)
	expect(t, rep, "lint known-red", "vet failed blocks")
	if !rep.Blocked() || rep.OnFailure() != Retry {
		t.Errorf("blocked %v, answer %q", rep.Blocked(), rep.OnFailure())
	}
}

func TestSuite_knownFailuresWithAnotherExitCode_areBlamed(t *testing.T) {
	s := suiteIn(t, ModeTDD, Check{Name: "test", Command: "cat tap.txt; [ -f crash ] && exit 70; exit 1"})
	s.tap(t, "not ok 1 - a\n")
	s.take(t)
	expect(t, s.must(t), "test known-red")
	write(t, s.Place.Dir, map[string]string{"crash": ""})
	expect(t, s.must(t), "test failed blocks")
}

func TestSuite_failedInOneOfTwoRuns_isFlaky(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: tapTests})
	s.tap(t, "ok 1 - a\nok 2 - b\n")
	s.take(t)
	for range 2 {
		write(t, s.Place.Dir, map[string]string{"tap.txt": "ok 1 - a\nnot ok 2 - b\n", "next.txt": "ok 1 - a\nok 2 - b\n"})
		rep := s.must(t)
		expect(t, rep, "test flaky")
		if r := rep.Results[0]; r.First == nil || r.First.Passed || !r.Passed || !slices.Equal(r.Flaky, []string{"b"}) || rep.Feedback() != "" {
			t.Errorf("result %+v", r)
		}
	}
}

func TestSuite_failedInBothRuns_isBlamed(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: tapTests})
	s.tap(t, "ok 1 - a\nok 2 - b\nok 3 - c\n")
	s.take(t)
	write(t, s.Place.Dir, map[string]string{"tap.txt": "not ok 1 - a\nnot ok 2 - b\nok 3 - c\n", "next.txt": "ok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n"})
	rep := s.must(t)
	expect(t, rep, "test failed blocks")
	if r := rep.Results[0]; !slices.Equal(names(r.Blamed), []string{"b"}) || !slices.Equal(r.Flaky, []string{"a", "c"}) {
		t.Errorf("blamed %v, flaky %v", r.Blamed, r.Flaky)
	}
}

func TestSuite_stillRed_runsOnce(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: "echo run >>runs; " + tapTests})
	runs := func() int {
		data, err := os.ReadFile(filepath.Join(s.Place.Dir, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "run")
	}
	s.tap(t, "ok 1 - a\n")
	s.take(t)
	s.tap(t, "not ok 1 - a\n")
	expect(t, s.must(t), "test failed blocks")
	if runs() != 3 {
		t.Errorf("%d runs, want baseline and two", runs())
	}
	expect(t, s.must(t), "test failed blocks")
	if runs() != 4 {
		t.Errorf("%d runs, want one more", runs())
	}
	s.tap(t, "not ok 1 - a\nnot ok 2 - b\n")
	expect(t, s.must(t), "test failed blocks")
	if runs() != 6 {
		t.Errorf("%d runs, want two more for the new failure", runs())
	}
}

func TestSuite_flakyExitCode_namesTheCheck(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: "[ ! -f once ] || { rm once; exit 1; }"})
	s.take(t)
	write(t, s.Place.Dir, map[string]string{"once": ""})
	rep := s.must(t)
	expect(t, rep, "test flaky")
	if !slices.Equal(rep.Results[0].Flaky, []string{"test"}) {
		t.Errorf("flaky %v", rep.Results[0].Flaky)
	}
}

func TestSuite_emptyProject_skipsUntilThereAreTests(t *testing.T) {
	for _, c := range []struct {
		mode  Mode
		first string
		later string
	}{
		{ModeGate, "test failed blocks", "test failed blocks"},
		{ModeTDD, "test new-red", "test new-red"}, // written first, to be made green
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			s := suiteIn(t, c.mode, Check{Name: "test", Command: `[ -f tap.txt ] || { echo "No tests found, exiting with code 1"; exit 1; }; ` + tapTests})
			var said []Verdict
			s.Progress = func(p Step) {
				if p.Result != nil {
					said = append(said, p.Result.Verdict)
				}
			}
			expect(t, s.take(t), "test skipped")
			rep := s.must(t)
			if want := []Verdict{VerdictSkipped, VerdictSkipped}; !slices.Equal(said, want) {
				t.Errorf("progress %v, want %v", said, want)
			}
			expect(t, rep, "test skipped")
			if len(rep.Findings()) != 1 || !strings.Contains(rep.Findings()[0], "nothing to check yet: No tests found") {
				t.Errorf("findings %q", rep.Findings())
			}
			s.tap(t, "not ok 1 - a\n")
			expect(t, s.must(t), c.first)
			expect(t, s.must(t), c.later)
			if err := os.Remove(filepath.Join(s.Place.Dir, "tap.txt")); err != nil {
				t.Fatal(err)
			}
			expect(t, s.must(t), "test failed blocks") // deleted tests are not greenfield
		})
	}
}

func TestSuite_failFast_runsFastKindsFirstAndStopsAtANewFailure(t *testing.T) {
	rows := []Check{
		{Name: "slow", Kind: KindLint, Command: "true"}, {Name: "test", Command: "exit 1"},
		{Name: "build", Kind: KindBuild, Command: "true"}, {Name: "opt", Kind: KindLintFast, Command: "exit 1", Optional: true},
	}
	s := suiteIn(t, ModeGate, rows...)
	expect(t, s.must(t), "opt failed", "build passed", "test failed blocks", "slow passed")
	s.FailFast = true
	rep := s.must(t)
	expect(t, rep, "opt failed", "build passed", "test failed blocks", "slow skipped")
	if want := `not run: "test" failed before it`; rep.Results[3].Reason != want {
		t.Errorf("reason %q", rep.Results[3].Reason)
	}
}

func TestSuite_severalOnFailure_theStrongestWins(t *testing.T) {
	row := func(name string, on OnFailure) Check { return Check{Name: name, Command: "exit 1", OnFailure: on} }
	for _, c := range []struct {
		rows []Check
		want OnFailure
	}{
		{[]Check{row("a", Warn)}, ""},
		{[]Check{row("a", "")}, Retry},
		{[]Check{row("a", Retry), row("b", BlockTask), row("c", Warn)}, BlockTask},
		{[]Check{row("a", Stop), row("b", BlockTask)}, Stop},
	} {
		if got := suiteIn(t, ModeGate, c.rows...).must(t).OnFailure(); got != c.want {
			t.Errorf("answer %q, want %q", got, c.want)
		}
	}
}

func TestSuite_when_runsOnlyForMatchingFilesUnlessItWasRed(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "web", Command: "[ ! -f red ]", When: []string{"web/**/*.ts", "*.css"}})
	run := func(files ...string) Report {
		t.Helper()
		rep, err := s.Run(t.Context(), Changed{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	rep := run("main.go", "web/a.js")
	expect(t, rep, "web skipped")
	if rep.Results[0].Reason != "no changed file matches web/**/*.ts, *.css" {
		t.Errorf("reason %q", rep.Results[0].Reason)
	}
	expect(t, run("web/a.ts"), "web passed")
	expect(t, run("x/y/z.css"), "web passed")
	write(t, s.Place.Dir, map[string]string{"red": ""})
	expect(t, run("web/x/a.ts"), "web failed blocks")
	expect(t, run("main.go"), "web failed blocks") // not hidden by looking elsewhere
	expect(t, s.must(t), "web failed blocks")
}

func TestSuite_progress_isCalledAtStartAndEnd(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: "[ ! -f red ]"})
	var steps []string
	s.Progress = func(p Step) {
		steps = append(steps, fmt.Sprint(p.Check.Name, " again=", p.Again, " ended=", p.Result != nil))
	}
	s.take(t)
	write(t, s.Place.Dir, map[string]string{"red": ""})
	s.must(t)
	want := []string{"test again=false ended=false", "test again=false ended=true", "test again=false ended=false", "test again=false ended=true", "test again=true ended=false", "test again=true ended=true"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestSuite_contextEnds_returnsNoResultAndKeepsTheBaseline(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "a", Kind: KindBuild, Command: "true"}, Check{Name: "slow", Command: "sleep 60"})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	s.Progress = func(p Step) {
		if p.Check.Name == "slow" {
			cancel(why)
		}
	}
	rep, err := s.Run(ctx, Changed{All: true})
	if !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	expect(t, rep, "a passed")
	if _, err := os.Stat(filepath.Join(s.Place.Dir, BaselineFile)); err == nil {
		t.Error("a baseline was written")
	}
}

func TestRun_killed_isAnError(t *testing.T) {
	p := here(t)
	kill := make(chan struct{})
	close(kill)
	p.Kill = kill
	if results, err := runAll(t.Context(), p, Check{Name: "slow", Command: "sleep 60"}); len(results) != 0 || err == nil {
		t.Errorf("Run() = %+v, %v", results, err)
	}
}

func TestSuite_timeout_isNamedInTheOutput(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "slow", Command: "echo begun; sleep 60", Timeout: 100 * time.Millisecond})
	rep := s.must(t)
	expect(t, rep, "slow failed blocks")
	if f := rep.Feedback(); !strings.Contains(f, "took too long") || !strings.Contains(f, "begun") {
		t.Errorf("feedback %q", f)
	}
}

func TestSuite_folderOfCheckMissing_isNothingToCheckYet(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "web", Command: "true", Dir: "web"})
	expect(t, s.take(t), "web skipped")
	write(t, s.Place.Dir, map[string]string{"web/a": ""})
	expect(t, s.must(t), "web passed")
	if err := os.RemoveAll(filepath.Join(s.Place.Dir, "web")); err != nil {
		t.Fatal(err)
	}
	expect(t, s.must(t), "web failed blocks")
}

func TestSuite_makeWithoutMakefile_isNothingToCheckYet(t *testing.T) {
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: `echo "make: *** No rule to make target 'test'.  Stop." >&2; exit 2`})
	expect(t, s.must(t), "test skipped")
	write(t, s.Place.Dir, map[string]string{"Makefile": "tset:\n"})
	expect(t, s.must(t), "test failed blocks")
}
