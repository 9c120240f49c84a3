package gate

import (
	"slices"
	"strings"
	"testing"
)

// atEnd names the checks that keep a run from being complete.
func atEnd(rep Report) (names []string) {
	for _, r := range rep.AtEnd().Blocking() {
		names = append(names, r.Name)
	}
	return names
}

func autoSuite(t *testing.T, tap string) *Suite {
	t.Helper()
	s := suiteIn(t, ModeAuto, Check{Name: "test", Command: tapTests})
	s.tap(t, tap)
	s.take(t)
	return s
}

func (s *Suite) forTask(t *testing.T, own Own) Report {
	t.Helper()
	rep, err := s.Run(t.Context(), Changed{All: true, Own: own})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestSuite_autoGreenAtTheBaseline_isAsGate(t *testing.T) {
	s := autoSuite(t, "ok 1 - a\n")
	s.tap(t, "ok 1 - a\nnot ok 2 - b\n")
	expect(t, s.must(t), "test failed blocks")
}

func TestSuite_autoRedAtTheBaseline_blocksTheEndAndNoTask(t *testing.T) {
	const red = "ok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n"
	s := autoSuite(t, red)
	rep := s.must(t)
	expect(t, rep, "test known-red")
	if got := atEnd(rep); !slices.Equal(got, []string{"test"}) || rep.Feedback() != "" {
		t.Errorf("at the end %q, told now %q", got, rep.Feedback())
	}
	if told := rep.AtEnd().Feedback(); !strings.Contains(told, "failed before the run") || !strings.Contains(told, "\nb\n") {
		t.Errorf("told at the end:\n%s", told)
	}
	s.tap(t, red+"not ok 4 - new\n") // nobody's task yet
	rep = s.must(t)
	expect(t, rep, "test new-red")
	if told := rep.AtEnd().Feedback(); len(atEnd(rep)) != 1 || !strings.HasSuffix(told, "\nnew") {
		t.Errorf("told at the end:\n%s", told)
	}
	s.tap(t, "ok 1 - a\nok 2 - b\nnot ok 3 - c\nnot ok 4 - new\n")
	expect(t, s.must(t), "test known-red")
	s.tap(t, "ok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n") // b was green since
	rep = s.must(t)
	expect(t, rep, "test failed blocks")
	if r := rep.Results[0]; !slices.Equal(names(r.Blamed), []string{"b"}) {
		t.Errorf("blamed %v", names(r.Blamed))
	}
	s.tap(t, "ok 1 - a\nok 2 - b\nok 3 - c\n")
	rep = s.must(t)
	expect(t, rep, "test passed")
	if len(atEnd(rep)) > 0 {
		t.Error("a green check blocks the end")
	}
	s.tap(t, red)
	expect(t, s.must(t), "test failed blocks")
}

func TestSuite_autoExitCodeOnly_redBeforeBlocksTheEnd(t *testing.T) {
	s := suiteIn(t, ModeAuto, Check{Name: "lint", Kind: KindLint, Command: "[ -f clean ]"},
		Check{Name: "opt", Command: "exit 1", Optional: true})
	s.take(t)
	rep := s.must(t)
	expect(t, rep, "opt known-red", "lint known-red")
	if got := atEnd(rep); !slices.Equal(got, []string{"lint"}) {
		t.Errorf("at the end %q", got)
	}
	if got := rep.RedBefore(); !slices.Equal(got, []string{"opt", "lint"}) {
		t.Errorf("red before %q", got)
	}
}

func TestSuite_ownRedTest_keepsItsTaskOpen(t *testing.T) {
	const red = "ok 1 - test_a\nnot ok 2 - test_b\nnot ok 3 - test_c\n"
	s := autoSuite(t, red)
	rep := s.forTask(t, Own{Task: "1", Text: "Make test_b pass"})
	expect(t, rep, "test failed blocks")
	r, told := rep.Results[0], rep.Feedback()
	if !slices.Equal(r.Own, []string{"test_b"}) || !slices.Equal(r.Known, []string{"test_c"}) {
		t.Errorf("own %v, known %v", r.Own, r.Known)
	}
	if !strings.Contains(told, "Your task's own test") || !strings.Contains(told, "test_b") {
		t.Errorf("told:\n%s", told)
	}
	expect(t, s.forTask(t, Own{Task: "2", Text: "Write docs"}), "test known-red")
	wrote := Own{Task: "3", Text: "Add d", Tests: []TestAt{{"t.sh", "test_d"}}}
	s.tap(t, red+"not ok 4 - test_d\n")
	rep = s.forTask(t, wrote)
	if expect(t, rep, "test failed blocks"); len(rep.RedBefore()) > 0 {
		t.Error("a test of the task was not red before")
	}
	rep = s.forTask(t, Own{Task: "2", Text: "Write docs"})
	if expect(t, rep, "test new-red"); len(rep.RedBefore()) != 1 {
		t.Error("what fails is not the task's")
	}
	wrote.Tests = nil // the next try changes only code
	expect(t, s.forTask(t, wrote), "test failed blocks")
	s.tap(t, red+"ok 4 - test_d\n")
	expect(t, s.forTask(t, wrote), "test known-red")
}

func TestSuite_taskAsksForFailingTests_theyBlockOnlyTheEnd(t *testing.T) {
	s := autoSuite(t, "ok 1 - test_a\n")
	wrote := Own{Task: "1", FailFirst: true, Tests: []TestAt{{"t.sh", "test_b"}, {"t.sh", "test_c"}}}
	s.tap(t, "not ok 1 - test_a\nnot ok 2 - test_b\n")
	expect(t, s.forTask(t, wrote), "test failed blocks") // test_a was green
	const red = "ok 1 - test_a\nnot ok 2 - test_b\nnot ok 3 - test_c\n"
	s.tap(t, red)
	rep := s.forTask(t, wrote)
	if expect(t, rep, "test new-red"); len(atEnd(rep)) != 1 {
		t.Error("they do not block the end")
	}
	expect(t, s.forTask(t, Own{Task: "2", Text: "Write docs"}), "test known-red")
	expect(t, s.forTask(t, Own{Task: "3", Text: "Make test_c pass"}), "test failed blocks")
	s.tap(t, "not ok 1 - test_a\nok 2 - test_b\nnot ok 3 - test_c\n")
	expect(t, s.forTask(t, Own{Task: "2", Text: "Write docs"}), "test failed blocks")
}

// In Go, no test of a package runs until all of them build.
func TestSuite_autoUnitThatDidNotRun_itsTestsAreNew(t *testing.T) {
	s := suiteIn(t, ModeAuto, Check{Name: "test", Command: "cat out.txt; exit 1"})
	write(t, s.Place.Dir, map[string]string{"out.txt": "FAIL\tx [build failed]\nFAIL\n"})
	s.take(t)
	expect(t, s.must(t), "test known-red")
	write(t, s.Place.Dir, map[string]string{"out.txt": "--- FAIL: TestMul (0.00s)\nFAIL\nFAIL\tx\t0.1s\n"})
	expect(t, s.must(t), "test new-red")
}

// Some test runners exit with the number of failed tests.
func TestSuite_exitCodeThatCountsFailures_isNoFailureOfItsOwn(t *testing.T) {
	s := suiteIn(t, ModeAuto, Check{Name: "test", Command: "cat tap.txt; exit $(grep -c '^not ok' tap.txt)"})
	s.tap(t, "not ok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n")
	s.take(t)
	s.tap(t, "ok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n")
	expect(t, s.must(t), "test known-red")
}
