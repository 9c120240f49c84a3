package logs

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A line may end anywhere, also in the middle of what starts a secret.
func TestRedact_textThatEndsAnywhereOrIsNoText_isSafe(t *testing.T) {
	var begins []string
	for _, s := range shapes() {
		begins = append(begins, s.starts...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const bytes = "\\\"' \t\n:=-<>/t*0aZ_.@\x00\xff"
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(3) {
			for range random.IntN(8) {
				b.WriteByte(bytes[random.IntN(len(bytes))])
			}
			b.WriteString(begins[random.IntN(len(begins))])
		}
		text := b.String()
		for cut := max(0, len(text)-12); cut <= len(text); cut++ {
			Redact(text[:cut])
			Secrets(text[:cut])
		}
	}
	junk := make([]byte, 1<<20)
	for i := range junk {
		junk[i] = byte(random.Uint32())
	}
	for at := 0; at < len(junk); at += 4096 {
		Redact(string(junk[at : at+4096]))
	}
	Redact(string(junk))
}
