package boxes

import "testing"

func TestParse_leadingIDs(t *testing.T) {
	for title, want := range map[string]string{
		"T3: do it": "T3", "**US-001** do it": "US-001", "**US-001:** do it": "US-001", "**[T1]** x": "T1",
		"[T12] do it": "T12", "`BUG-7` do it": "BUG-7", "T-3 - do it": "T-3", "T3 — do it": "T3",
		"T001 [P] do it": "T001", "PROJ-1234 do it": "PROJ-1234", "**T2: do it**": "T2", "T1.2: do it": "T1.2",
		"Do it": "", "S3 upload": "", "UTF-8 handling": "", "3 more tests": "", "Python3 support": "", "do T3: it": "",
	} {
		if got := leadingID(title); got != want {
			t.Errorf("leadingID(%q) = %q, want %q", title, got, want)
		}
	}
}
