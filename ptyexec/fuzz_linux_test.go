package ptyexec

import "testing"

func FuzzParseStat_anyProgramName_hidesNoField(f *testing.F) {
	for _, seed := range []string{"", "init", "a) b", ") (c) R 1 2 3 4", "\n", "\xff", "7 (x) Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		_, _ = parseStat(name) // anything at all: no panic
		want := process{state: "S", parent: 5}
		if p, ok := parseStat("7 (" + name + ") S 5 6 9 0 -1"); !ok || p != want {
			t.Errorf("a program named %q is read as %+v, %v", name, p, ok)
		}
	})
}
