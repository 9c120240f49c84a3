package logs

import (
	"regexp"
	"strings"
	"sync"
)

// keyShapes are the fixed beginnings of keys and tokens, and the shape of what
// follows. The beginnings are looked for first: almost no text has one.
var keyShapes = []struct{ start, rest string }{
	{"sk-", `[A-Za-z0-9_-]{16,}`},                                            // Anthropic, OpenAI and others
	{"sgamp_", `[A-Za-z0-9_-]{16,}`},                                         // Amp
	{"ghp_", `[A-Za-z0-9]{20,}`},                                             // GitHub
	{"gho_", `[A-Za-z0-9]{20,}`},                                             //
	{"ghs_", `[A-Za-z0-9]{20,}`},                                             //
	{"github_pat_", `[A-Za-z0-9_]{20,}`},                                     //
	{"glpat-", `[A-Za-z0-9_-]{16,}`},                                         // GitLab
	{"npm_", `[A-Za-z0-9]{30,}`},                                             // npm
	{"pypi-", `[A-Za-z0-9_-]{32,}`},                                          // PyPI
	{"hf_", `[A-Za-z0-9]{30,}`},                                              // Hugging Face
	{"gsk_", `[A-Za-z0-9]{30,}`},                                             // Groq
	{"xai-", `[A-Za-z0-9]{30,}`},                                             // xAI
	{"SG.", `[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},                        // SendGrid
	{"sk_live_", `[A-Za-z0-9]{16,}`},                                         // Stripe
	{"rk_live_", `[A-Za-z0-9]{16,}`},                                         //
	{"sk_test_", `[A-Za-z0-9]{16,}`},                                         //
	{"AKIA", `[A-Z0-9]{16}`},                                                 // AWS
	{"ASIA", `[A-Z0-9]{16}`},                                                 //
	{"AIza", `[A-Za-z0-9_-]{30,}`},                                           // Google
	{"ya29.", `[A-Za-z0-9_-]{20,}`},                                          //
	{"xox", `[abprs]-[A-Za-z0-9-]{12,}`},                                     // Slack
	{"eyJ", `[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`}, // JSON web token
	{"-----BEGIN ", `[A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`},
}

var keyPattern = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for _, k := range keyShapes {
		all = append(all, regexp.QuoteMeta(k.start)+k.rest)
	}
	return regexp.MustCompile(`(?:` + strings.Join(all, `|`) + `)`)
})

// shortestKey is the least number of key bytes in a row that any shape has,
// but for the private key block.
const shortestKey = 16

// Redact replaces what has the shape of a known key or token by its first
// characters. It is for what ralph itself writes; the raw output of an agent
// is kept as it is, readable by its owner only.
func Redact(text string) string {
	if !hasLongWord(text) && !strings.Contains(text, "PRIVATE KEY-----") {
		return text
	}
	for _, k := range keyShapes {
		if strings.Contains(text, k.start) {
			return keyPattern().ReplaceAllStringFunc(text, func(key string) string {
				return key[:min(6, len(key))] + "...(redacted)"
			})
		}
	}
	return text
}

// hasLongWord looks for shortestKey key bytes in a row by testing every
// shortestKey-th byte first: prose is let through at memory speed.
func hasLongWord(text string) bool {
	for i := shortestKey - 1; i < len(text); i += shortestKey {
		from, to := i, i
		for from > 0 && from > i-shortestKey && isKeyByte(text[from]) {
			from--
		}
		if from == i {
			continue
		}
		for to < len(text)-1 && to-from < shortestKey && isKeyByte(text[to+1]) {
			to++
		}
		if to-from >= shortestKey || from == 0 && to-from == shortestKey-1 && isKeyByte(text[0]) {
			return true
		}
	}
	return false
}

func isKeyByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.'
}
