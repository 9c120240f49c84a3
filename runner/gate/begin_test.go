package gate

import (
	"slices"
	"strings"
	"testing"
)

func TestSuite_tdd_onlyWhatWasGreenBlocks(t *testing.T) {
	s := suiteIn(t, ModeTDD, Check{Name: "test", Command: tapTests}, Check{Name: "lint", Kind: KindLint, Command: "[ ! -f dirty ]"})
	s.tap(t, "ok 1 - a\n")
	s.take(t)
	s.tap(t, "ok 1 - a\nnot ok 2 - b\n")
	rep := s.must(t)
	expect(t, rep, "test new-red", "lint passed")
	if got := rep.RedBefore(); len(got) > 0 {
		t.Errorf("red before: %q", got)
	}
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
