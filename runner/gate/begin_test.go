package gate

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestSuite_goBeforeThereIsAModuleOrCode_isSkippedAndBeginsByItself(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: "go test ./..."})
	s.Place.Env = append(os.Environ(), "GOWORK=off")
	expect(t, s.take(t), "test skipped")
	expect(t, s.must(t), "test skipped")
	write(t, s.Place.Dir, map[string]string{"go.mod": "module x\n", "a_test.go": "package x\n\nimport (\n\t\"testing\"\n\n\t\"x/calc\"\n)\n\nfunc TestA(t *testing.T) { calc.Add() }\n"})
	rep := s.must(t)
	expect(t, rep, "test skipped")
	if got := rep.Results[0].Reason; got != "nothing to check yet: there is no Go code besides tests" {
		t.Errorf("reason %q", got)
	}
	write(t, s.Place.Dir, map[string]string{"calc/calc.go": "package calc\n\nfunc Add() {}\n"})
	expect(t, s.must(t), "test passed")
	write(t, s.Place.Dir, map[string]string{"calc/calc.go": "package calc\n\nfunc Sub() {}\n"})
	expect(t, s.must(t), "test failed blocks")
}

func TestSuite_tdd_onlyWhatWasGreenBlocks(t *testing.T) {
	s := suiteIn(t, ModeTDD, Check{Name: "test", Command: tapTests}, Check{Name: "lint", Kind: KindLint, Command: "[ ! -f dirty ]"})
	s.tap(t, "ok 1 - a\n")
	s.take(t)
	s.tap(t, "ok 1 - a\nnot ok 2 - b\n")
	rep := s.must(t)
	expect(t, rep, "test new-red", "lint passed")
	if want := []string{"check test: never passed yet: b"}; !slices.Equal(rep.NewRed(), want) || !strings.Contains(strings.Join(rep.Findings(), " "), "new and red: b") {
		t.Errorf("new %q, findings %q", rep.NewRed(), rep.Findings())
	}
	s.tap(t, "not ok 1 - a\nnot ok 2 - b\n")
	rep = s.must(t)
	expect(t, rep, "test failed blocks", "lint passed")
	if r := rep.Results[0]; !slices.Equal(names(r.Blamed), []string{"a"}) || !slices.Equal(r.New, []string{"b"}) {
		t.Errorf("blamed %v, new %v", names(r.Blamed), r.New)
	}
	s.tap(t, "ok 1 - a\nok 2 - b\n")
	expect(t, s.must(t), "test passed", "lint passed")
	s.tap(t, "ok 1 - a\nnot ok 2 - b\n") // it was green by now
	write(t, s.Place.Dir, map[string]string{"dirty": ""})
	expect(t, s.must(t), "test failed blocks", "lint failed blocks")
}
