package audit

import "testing"

// An honest reason is good for as many tests as it explains.
func TestCompare_oneReason_isNoExcuseForMoreTests(t *testing.T) {
	const code = "def div(a, b):\n    if b == 0:\n        return None\n    return a / b\n"
	const cut = "def div(a, b):\n    return a / b\n"
	const one = "\n\ndef test_one():\n    assert div(6, 3) == 2\n"
	const zero = "\n\ndef test_zero():\n    assert div(6, 0) is None\n"
	const other = "\n\ndef test_other():\n    assert div(8, 2) == 4\n"
	const again = "\n\ndef test_again():\n    assert div(8, 2) == 4\n"
	for name, tc := range map[string]struct{ code, before, after, want string }{
		"a branch for one test":  {cut, one + zero, one, ""},
		"a branch for two tests": {cut, one + zero + other, one, "1 test was removed, and what it tested is still there: test_other"},
		"merged":                 {code, one + other, one + "    assert div(8, 2) == 4\n", ""},
		"merged, one of two":     {code, one + other + again, one + "    assert div(8, 2) == 4\n", "1 test was removed, and what it tested is still there: test_again"},
		"merged and hollow":      {code, one + other, one + "    assert div(8, 2) == 4 or True\n", "1 test was removed, and what it tested is still there: test_other"},
		"compared with itself":   {code, one + "    assert div(4, 2) == div(2, 1)\n", one + "    assert div(2, 1) == div(2, 1)\n", `the test "test_one" checks less than before`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range Compare(Input{Files: []File{{"calc.py", code, tc.code, true, true}, {"test_calc.py", tc.before, tc.after, true, true}}}) {
				got += f.Text
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
