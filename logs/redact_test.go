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

func TestRedact_secretWithinItsPlace_hidesOnlyTheSecret(t *testing.T) {
	aws := strings.Repeat("aB3/x", 8)
	for in, want := range map[string]string{
		"see postgres://app:hZ8kQ2vPw1@db.internal:5432/app now":  "see postgres://app:...(redacted)@db.internal:5432/app now",
		"http://user:password@host and redis://:f3b1c2d4@cache/0": "http://user:password@host and redis://:...(redacted)@cache/0",
		"AWS_SECRET_ACCESS_KEY=" + aws + "\nnext":                 "AWS_SECRET_ACCESS_KEY=...(redacted)\nnext",
		"ghp_" + strings.Repeat("a1", 18) + " ghp_short":          "ghp_a1...(redacted) ghp_short",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

// A secret that must not be committed must not be shown either.
func TestShapes_refused_isHiddenToo(t *testing.T) {
	for _, text := range []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQdGBF\n",
		"AKIA" + strings.Repeat("Q7", 8), "aws_secret_access_key: " + strings.Repeat("aB3/x", 8), "ghu_" + strings.Repeat("a1", 18),
		"github_pat_" + strings.Repeat("A_b", 20), "glpat-" + strings.Repeat("aB", 10), "xoxe-" + strings.Repeat("1a", 12), "sk_live_" + strings.Repeat("4e", 12),
		"AIza" + strings.Repeat("aB3_x", 7), "sk-ant-api03-" + strings.Repeat("aB3_", 10), "sk-proj-" + strings.Repeat("x1", 20),
		"npm_" + strings.Repeat("aB3", 12), "pypi-AgEIcHlwaS" + strings.Repeat("aB3_-", 12), "hf_" + strings.Repeat("aB", 17),
	} {
		if found := Secrets(text); len(found) != 1 {
			t.Errorf("%d secrets in %q, want 1", len(found), text)
		}
		if Redact(text) == text {
			t.Errorf("%q is not hidden", text)
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

func BenchmarkRedact_noKey(b *testing.B) {
	for name, unit := range map[string]string{
		"prose":       "All work and no play makes a dull agent. ",
		"identifiers": "runner/internal_state_machine_test.go:12: undefined: someVeryLongIdentifier task-list ",
		"addresses":   "https://example.com/a/b?c=d#e and mail@example.com, then postgres://app@db/x ",
	} {
		text := strings.Repeat(unit, 4096/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Redact(text)
			}
		})
	}
}
