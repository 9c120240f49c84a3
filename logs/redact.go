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
	{"AKIA", `[A-Z0-9]{16}`},                                                 // AWS
	{"ASIA", `[A-Z0-9]{16}`},                                                 //
	{"AIza", `[A-Za-z0-9_-]{30,}`},                                           // Google
	{"ya29.", `[A-Za-z0-9_-]{20,}`},                                          //
	{"xox", `[abprs]-[A-Za-z0-9-]{10,}`},                                     // Slack
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

// Redact replaces what has the shape of a known key or token by its first
// characters. It is for what ralph itself writes; the raw output of an agent
// is kept as it is, readable by its owner only.
func Redact(text string) string {
	for _, k := range keyShapes {
		if strings.Contains(text, k.start) {
			return keyPattern().ReplaceAllStringFunc(text, func(key string) string {
				return key[:min(6, len(key))] + "...(redacted)"
			})
		}
	}
	return text
}
