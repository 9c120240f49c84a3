package logs

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestValues_secretsKnownByTheirText_areHiddenHoweverTheyAreWritten(t *testing.T) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAA\nQyNTUxOQAAACBsecretline2\n-----END OPENSSH PRIVATE KEY-----\n"
	v := NewValues([]string{"swordfish & chips", "tr0ub\"4dor", key, "short", "/home/ann/.ssh/id", "password", "true", "12345678"})
	for text, secret := range map[string]string{
		"it said swordfish & chips.":                   "swordfish",
		`{"out":"swordfish \u0026 chips"}`:             "swordfish",
		`{"out":"swordfish & chips"}`:                  "swordfish",
		`{"out":"tr0ub\"4dor"}`:                        "4dor",
		"a line QyNTUxOQAAACBsecretline2 of it":        "QyNTUx",
		`{"k":"` + strings.ReplaceAll(key, "\n", `\n`): "b3BlbnNz",
	} {
		if got := v.Redact(text); strings.Contains(got, secret) || got == text {
			t.Errorf("%q", got)
		}
	}
	const plain = "short /home/ann/.ssh/id password true 12345678"
	if got := v.Redact(plain); got != plain {
		t.Errorf("%q", got)
	}
}

func TestRedactor_anyPieces_writeWhatTheWholeWould(t *testing.T) {
	v := NewValues([]string{"swordfish9"})
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7bq+\n", 20) + "-----END RSA PRIVATE KEY-----\n"
	text := "one\nsay swordfish9 now\n" + pem + "GITHUB_TOKEN=abcdef123456\r\nend " + "ghp_" + strings.Repeat("a1", 18)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var out bytes.Buffer
		w := NewRedactor(&out, v)
		for rest := text; rest != ""; {
			n := min(len(rest), 1+r.IntN(40))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		for _, secret := range []string{"swordfish9", "MIIE", "abcdef123456", "a1a1a1a1a1"} {
			if strings.Contains(got, secret) {
				t.Fatalf("%q is in %q", secret, got)
			}
		}
		for _, kept := range []string{"one\nsay ", " now\n", "GITHUB_TOKEN=", "\r\nend "} {
			if !strings.Contains(got, kept) {
				t.Fatalf("%q is not in %q", kept, got)
			}
		}
	}
}

func TestRedactor_lineWithoutEnd_isWrittenAndItsSecretsAreHidden(t *testing.T) {
	var out bytes.Buffer
	w := NewRedactor(&out, NewValues([]string{"swordfish & chips"}))
	key := "ghp_" + strings.Repeat("a1", 18)
	for range 5000 {
		_, _ = w.Write([]byte("word " + key + " swordfish & chips"))
	}
	if n := out.Len(); n < 100<<10 {
		t.Errorf("%d bytes are written before the line ends", n)
	}
	_ = w.Close()
	if n := strings.Count(out.String(), redacted); n != 10000 || strings.Contains(out.String(), "chips") || strings.Contains(out.String(), "a1a1a1") {
		t.Errorf("%d secrets are hidden", n)
	}
}

// What follows a header without a key must not be lost.
func TestRedactor_headerOfNoKey_hidesLittle(t *testing.T) {
	var out bytes.Buffer
	w := NewRedactor(&out, Values{})
	_, _ = w.Write([]byte("-----BEGIN PRIVATE KEY-----\n"))
	for range 1000 {
		_, _ = w.Write([]byte(strings.Repeat("ordinary ", 8) + "\n"))
	}
	_ = w.Close()
	if out.Len() < 40<<10 {
		t.Errorf("only %d bytes are left", out.Len())
	}
}

func BenchmarkRedactor_streamJSON(b *testing.B) {
	line := `{"type":"assistant","message":{"id":"msg_01","role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("All work and no play makes a dull agent. ", 20) + `"}]}}` + "\n"
	chunk := []byte(strings.Repeat(line, 32))
	w := NewRedactor(discard{}, NewValues([]string{"swordfish9", "another-secret-1", "a-third-0123456789"}))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		_, _ = w.Write(chunk)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error)       { return len(p), nil }
func (discard) WriteString(s string) (int, error) { return len(s), nil }
