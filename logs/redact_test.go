package logs

import (
	"strings"
	"testing"
)

func TestRedact_knownKeyShapes_areHidden(t *testing.T) {
	for _, key := range []string{
		"sk-ant-api03-" + strings.Repeat("aB3_", 10), "sk-proj-" + strings.Repeat("x1", 12), "ghp_" + strings.Repeat("a1", 18),
		"github_pat_" + strings.Repeat("A_", 15), "glpat-" + strings.Repeat("x", 20), "AKIA" + strings.Repeat("Q", 16),
		"AIza" + strings.Repeat("b", 35), "xoxb-123456789012-abcdef", "npm_" + strings.Repeat("z", 36),
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlc2ln",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
	} {
		got := Redact("key=" + key + " and more")
		if strings.Contains(got, key[8:]) || !strings.HasPrefix(got, "key=") || !strings.HasSuffix(got, " and more") {
			t.Errorf("Redact(%q) = %q", key, got)
		}
	}
}

func TestRedact_ordinaryText_staysTheSame(t *testing.T) {
	for _, text := range []string{"", "task-list", "sk-", "risk-free desk-top", "the ghp_ prefix", "AKIA is a prefix", "eyJ", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"} {
		if got := Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
}

func TestHasLongWord_anyPlace_isFound(t *testing.T) {
	word := "sk-" + strings.Repeat("a", shortestKey-3)
	for before := range 40 {
		for after := range 3 {
			text := strings.Repeat(" ", before) + word + strings.Repeat(" ", after)
			if !hasLongWord(text) {
				t.Errorf("not found in %q", text)
			}
			if short := strings.Replace(text, "a", " ", 1); hasLongWord(short) {
				t.Errorf("found in %q", short)
			}
		}
	}
}

func BenchmarkRedact_noKey(b *testing.B) {
	text := strings.Repeat("All work and no play makes a dull agent. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}
