package ending

import (
	"strings"
	"testing"
)

func TestNormalize_sameErrorSameText(t *testing.T) {
	for _, same := range [][2]string{
		{"API Error: 500 at 2026-11-20T04:01:02.865Z (req_011abc)", "API Error: 503 at 2026-11-21T05:00:00Z (req_999zzz)"},
		{"connect ECONNREFUSED 127.0.0.1:8990", "connect  ECONNREFUSED 10.0.0.1:80"},
		{"No conversation found with session ID: 11111111-2222-3333-4444-555555555555", "No conversation found with session ID: aaaaaaaa-2222-3333-4444-555555555555"},
		{"open /tmp/a/b.txt: no such file", "open /home/x/y/z.go: no such file"},
		{"resets 4:49am (UTC)", "resets 11pm (UTC)"},
		{"timed out after 300s", "timed out after 12 minutes"},
		{"panic at 0xdeadbeef in commit 3f2a9c1d4e", "panic at 0x1 in commit 77aa01bc2d"},
	} {
		if a, b := Normalize(same[0]), Normalize(same[1]); a != b || a == "" {
			t.Errorf("%q and %q differ", a, b)
		}
	}
	if Normalize("undefined: foo") == Normalize("undefined: bar") {
		t.Error("different errors became the same")
	}
	if n := len([]rune(Normalize(strings.Repeat("wörter ", 5000)))); n > 300 {
		t.Errorf("%d runes", n)
	}
}
