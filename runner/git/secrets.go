package git

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// secret is one shape of a key. fine says of a match that it is none.
type secret struct {
	name    string
	pattern *regexp.Regexp
	fine    func(text string) bool
}

// key is a secret that was found in a text.
type key struct{ name, text string }

var secrets = sync.OnceValue(func() []secret {
	re := regexp.MustCompile
	example := placeholder().MatchString
	return []secret{
		{"a private key", re(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s*\n|\\r|\\n)[\s\\nr]*[A-Za-z0-9+/=:]{4}`), example},
		{"an AWS access key", re(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), example},
		{"an AWS secret key", re(`(?i)aws_?secret_?access_?key["']?\s*[:=]\s*["']?[A-Za-z0-9/+]{40}\b`), example},
		{"a GitHub token", re(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b`), example},
		{"a GitLab token", re(`\bglpat-[A-Za-z0-9_-]{20,}`), example},
		{"a Slack token", re(`\bxox[abeoprs]-[0-9A-Za-z-]{20,}`), example},
		{"a Stripe key", re(`\b[rs]k_live_[0-9A-Za-z]{20,}\b`), example},
		{"a Google API key", re(`\bAIza[0-9A-Za-z_-]{35}\b`), example},
		{"an Anthropic key", re(`\bsk-ant-[A-Za-z0-9_-]{24,}`), example},
		{"an OpenAI key", re(`\bsk-(?:proj-|svcacct-)?[A-Za-z0-9]{20,}[A-Za-z0-9_-]{12,}`), example},
		{"an npm token", re(`\bnpm_[A-Za-z0-9]{36}\b`), example},
		{"a PyPI token", re(`\bpypi-AgEIcHlwaS[A-Za-z0-9_-]{50,}`), example},
		{"a JSON web token", re(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), uselessToken},
		{"a password in an address", re(`(?i)\b[a-z][a-z0-9+.-]*://[a-z0-9._~%+-]*:[a-z0-9._~%!$&+;=,-]+@(?:[a-z0-9.-]+|\[[0-9a-f:]+\])`), uselessAddress},
		{"a Hugging Face token", re(`\bhf_[A-Za-z0-9]{34}\b`), example},
	}
})

// placeholder finds in a key that it is an example.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)example|xxxx|0000000|1234567890abcdef`) })

// keysIn finds the secrets in a text.
func keysIn(text string) []key {
	var keys []key
	for _, s := range secrets() {
		for _, match := range s.pattern.FindAllString(text, -1) {
			if !s.fine(match) {
				keys = append(keys, key{s.name, match})
			}
		}
	}
	return keys
}

// uselessToken says whether a JSON web token has expired, is the one that all
// documentation shows, or none at all.
func uselessToken(text string) bool {
	part, _, _ := strings.Cut(text[strings.Index(text, ".")+1:], ".")
	data, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return true
	}
	var claims struct {
		Name string  `json:"name"`
		Exp  float64 `json:"exp"` // Unix seconds
	}
	if err := json.Unmarshal(data, &claims); err != nil {
		return true
	}
	return claims.Name == "John Doe" || claims.Exp > 0 && claims.Exp < float64(time.Now().Unix())
}

// leastPassword is the length below which a password is one for show.
const leastPassword = 6

// words finds passwords that are made of words for passwords and of defaults.
var words = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)(?:my|your|the|some|any|super|very|top|db|database|test|dev|local|demo|dummy|fake|sample|example|default|proxy|` +
		`admin|root|username|user|guest|app|password|passwd|passphrase|pass|pwd|pw|secret|token|key|api|change(?:me|it)?|here|` +
		`redacted|removed|hidden|masked|placeholder|foo|bar|baz|qux|abc|xyz|postgres|postgresql|mysql|maria|redis|mongo|rabbitmq|x+|[0-9]{1,6}|[-_.])+$`)
})

// uselessAddress says whether the password in a URL opens nothing: of this
// machine only, a placeholder, the user's name again, a word.
func uselessAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return true // it has a placeholder like %s
	}
	password, _ := u.User.Password()
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil && (ip.IsLoopback() || ip.IsUnspecified()) || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	return len(password) < leastPassword || strings.HasPrefix(password, "$") || strings.EqualFold(password, u.User.Username()) ||
		words().MatchString(password) || words().MatchString(strings.Replace(password, u.User.Username(), "", 1))
}
