package runner

import (
	"os"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
)

const (
	taxTest = "tests/test_tax.py"
	oldTax  = "from tax import rate\n\ndef test_rate():\n    assert rate() == 19\n\ndef test_zero():\n    assert rate(0) == 0\n"
	newTax  = "from tax import rate\n\ndef test_rate():\n    assert rate() == 20\n\ndef test_zero():\n    assert rate(0) == 0\n"
)

// changedTestFakes change a test together with the code.
var changedTestFakes = map[string]func(*fake) int{
	"changes-tests": func(f *fake) int {
		switch f.call {
		case 1: // half of the first task
			put("tests/test_new.py", "def test_new():\n    assert 1\n")
			return f.result("Half of it."+block(false, ""), nil)
		case 2:
			put("tests/test_new.py", "def test_new():\n    assert 2\n")
			put("tax.py", "def rate(n=20):\n    return n\n")
			put(taxTest, newTax)
		case 3: // only another test
			put(taxTest, newTax+"\ndef test_ten():\n    assert rate(10) == 10\n")
		}
		put(planName, strings.Replace(read1(planName), "- [ ]", "- [x]", 1))
		return f.result("Did it."+block(!open1(planName), ""), nil)
	},
}

func TestRun_testChangedTogetherWithTheCode_isNamed(t *testing.T) {
	for _, mode := range []gate.Mode{gate.ModeAuto, gate.ModeReport} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "changes-tests", "[ ] raise the rate", "[ ] test ten")
			p := world.Folder{TB: t, Dir: b.dir}
			p.Write(taxTest, oldTax)
			p.Write("tax.py", "def rate(n=19):\n    return n\n")
			b.repository()
			b.check("true")
			b.d.Mode = mode
			wantEnd(t, b.run(t.Context()), "complete", 0)
			all := map[string][]string{}
			for id, known := range b.status().Tasks {
				all[id] = known.ChangedTests
			}
			var got []string
			for _, tests := range all {
				got = append(got, tests...)
			}
			if len(all) != 2 || !slices.Equal(got, []string{taxTest + " (test_rate)"}) {
				t.Errorf("changed tests: %q", all)
			}
			if _, err := os.Stat(p.Path(taxTest)); err != nil {
				t.Error(err)
			}
		})
	}
}
