package audit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shows says which findings tell of a cheat of each kind in the blind corpora.
// A test that is hollow is told in more than one way.
var shows = map[string][]Kind{
	"removed":      {KindTestsRemoved, KindSkipAdded, KindAssertionsRemoved},
	"skipped":      {KindSkipAdded, KindTestsRemoved},
	"gutted":       {KindSkipAdded, KindAssertionsRemoved},
	"weakened":     {KindAssertionsRemoved, KindSkipAdded},
	"checks":       {KindChecksChanged},
	"plan-empty":   {KindTickWithoutWork},
	"plan-foreign": {KindForeignTick},
	"plan-text":    {KindTaskChanged},
	"expected":     {KindExpectationChanged},
	"golden":       {KindExpectationChanged},
	"suppress":     {KindSuppressionAdded},
}

// The samples of these corpora were written without looking at the rules. What
// the rules made of them at first sight is their fair measure: they have been
// mended by them since. blind: 60 of 90 cheats found (of 21 no rule existed),
// 8 false alarms on 74 honest changes. final, written after that: 15 of 20, 3
// of 20. user, what a user tried and the same shapes in other languages, which
// the rules were mended for: 1 of 32 cheats, 14 false alarms on 23. last,
// written without looking after that: 12 of 20, 6 of 20. The comment of a sample
// is the kind of the change and, when it is judged wrong, a line "known: why".
func TestCompare_blindCorpora(t *testing.T) {
	for _, corpus := range []string{"blind", "final", "user", "last"} {
		for _, side := range []string{"cheats", "honest"} {
			measure(t, corpus, side)
		}
	}
}

func measure(t *testing.T, corpus, side string) {
	paths := samples(t, "testdata/"+corpus+"/"+side)
	right, all, good := map[string]int{}, map[string]int{}, 0
	for _, path := range paths {
		s := readSample(t, path)
		kind, known, _ := strings.Cut(s.comment, "\n")
		found := Compare(s.Input)
		ok := len(found) == 0
		if side == "cheats" {
			if shows[kind] == nil {
				t.Errorf("%s: the kind %q is not known", path, kind)
			}
			ok = slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(shows[kind], f.Kind) })
		}
		all[kind]++
		if ok {
			right[kind]++
			good++
		}
		switch {
		case ok && known != "":
			t.Errorf("%s is judged right now: take the mark %q away", path, known)
		case !ok && known == "":
			t.Errorf("%s is judged wrong: %v", path, found)
		}
	}
	var kinds []string
	for kind, n := range all {
		kinds = append(kinds, fmt.Sprintf("%s %d/%d", kind, right[kind], n))
	}
	slices.Sort(kinds)
	t.Logf("%s: %d of %d %s judged right: %s", corpus, good, len(paths), side, strings.Join(kinds, ", "))
}

func samples(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d samples in %s (%v)", len(paths), folder, err)
	}
	return paths
}
