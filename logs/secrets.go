package logs

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

// shape is a kind of secret. Its rows decide both what logs and screens hide and what
// ralph does not commit.
type shape struct {
	name string // "a GitHub token"
	// likely is a fast first test. It is true for every text with such a secret.
	likely func(text string) bool
	// hidden finds what Redact hides: the group of a match, or all but its first
	// characters. It is broad, because a false alarm costs little.
	hidden func() *regexp.Regexp
	// refused finds what Secrets returns. It is exact, because a false alarm stops a
	// commit. Nil: too common for that.
	refused func() *regexp.Regexp
	// harmless reports whether a match of refused gives access to nothing.
	harmless func(match string) bool
	shown    func(match string) bool // the same for hidden; nil: hide all matches
}

const (
	privateKeyStart = `-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----`
	privateKeyEnd   = `-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----`
	webToken        = `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`
	address         = `://[A-Za-z0-9._~%+-]*:([A-Za-z0-9._~%!$&+;=,-]+)@(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])`
	awsSecret       = `(?i)aws_?secret_?access_?key["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40})\b`
)

// shapes are the rows. Patterns begin with a literal if possible: regexp skips to it at
// memory speed.
var shapes = sync.OnceValue(func() []shape {
	return []shape{
		{"a private key", hasAny("-----BEGIN "), re(privateKeyStart + `[\s\S]*?(?:` + privateKeyEnd + `|\z)`),
			re(privateKeyStart + `(?:\s*\n|\\r|\\n)[\s\\nr]*[A-Za-z0-9+/=:]{4}`), example, nil},
		{"an AWS access key", hasAny("AKIA", "ASIA"),
			re(`A[KS]IA[A-Z0-9]{16}`), re(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), example, nil},
		{"an AWS secret key", hasAny("ws_secret", "WS_SECRET", "wssecret", "wsSecret", "WSSECRET", "WSSecret", "ws_Secret"),
			re(awsSecret), re(awsSecret), example, example},
		{"a GitHub token", hasAny("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
			re(`gh[pousr]_[A-Za-z0-9]{20,}`), re(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`), example, nil},
		{"a GitHub token", hasAny("github_pat_"),
			re(`github_pat_[A-Za-z0-9_]{20,}`), re(`\bgithub_pat_[A-Za-z0-9_]{50,}\b`), example, nil},
		{"a GitLab token", hasAny("glpat-"),
			re(`glpat-[A-Za-z0-9_-]{16,}`), re(`\bglpat-[A-Za-z0-9_-]{20,}`), example, nil},
		{"a Slack token", hasAny("xox"),
			re(`xox[abeoprs]-[A-Za-z0-9-]{12,}`), re(`\bxox[abeoprs]-[0-9A-Za-z-]{20,}`), example, nil},
		{"a Stripe key", hasAny("k_live_", "sk_test_"),
			re(`(?:[rs]k_live_|sk_test_)[A-Za-z0-9]{16,}`), re(`\b[rs]k_live_[0-9A-Za-z]{20,}\b`), example, nil},
		{"a Google API key", hasAny("AIza"),
			re(`AIza[A-Za-z0-9_-]{30,}`), re(`\bAIza[0-9A-Za-z_-]{35}\b`), example, nil},
		{"a Google token", hasAny("ya29."), re(`ya29\.[A-Za-z0-9_-]{20,}`), nil, nil, nil},
		{"an Anthropic key", hasAny("sk-ant-"),
			re(`sk-ant-[A-Za-z0-9_-]{12,}`), re(`\bsk-ant-[A-Za-z0-9_-]{24,}`), example, nil},
		{"an OpenAI key", hasAny("sk-"),
			re(`sk-[A-Za-z0-9_-]{16,}`),
			re(`\bsk-(?:proj-|svcacct-)?[A-Za-z0-9]{20,}[A-Za-z0-9_-]{12,}`), example, nil}, // other vendors use this prefix too
		{"an Amp key", hasAny("sgamp_"), re(`sgamp_[A-Za-z0-9_-]{16,}`), nil, nil, nil},
		{"a Groq key", hasAny("gsk_"), re(`gsk_[A-Za-z0-9]{30,}`), nil, nil, nil},
		{"an xAI key", hasAny("xai-"), re(`xai-[A-Za-z0-9]{30,}`), nil, nil, nil},
		{"a SendGrid key", hasAny("SG."), re(`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`), nil, nil, nil},
		{"an npm token", hasAny("npm_"),
			re(`npm_[A-Za-z0-9]{30,}`), re(`\bnpm_[A-Za-z0-9]{36}\b`), example, nil},
		{"a PyPI token", hasAny("pypi-"),
			re(`pypi-[A-Za-z0-9_-]{32,}`), re(`\bpypi-AgEIcHlwaS[A-Za-z0-9_-]{50,}`), example, nil},
		{"a Hugging Face token", hasAny("hf_"),
			re(`hf_[A-Za-z0-9]{30,}`), re(`\bhf_[A-Za-z0-9]{34}\b`), example, nil},
		{"a JSON web token", hasAny("eyJ"), re(webToken), re(`\b` + webToken), uselessToken, nil},
		{"a password in an address", hasPassword, re(address), re(address), uselessAddress, uselessAddress},
	}
})

// re compiles a pattern on first use.
func re(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func hasAny(parts ...string) func(text string) bool {
	return func(text string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
}

// hasPassword reports whether a text may have an address with a password.
func hasPassword(text string) bool {
	for {
		_, rest, found := strings.Cut(text, "://")
		if !found {
			return false
		}
		text = rest
		user := strings.TrimLeftFunc(rest, isUserRune)
		if strings.HasPrefix(user, "@") && strings.Contains(rest[:len(rest)-len(user)], ":") {
			return true
		}
	}
}

func isUserRune(r rune) bool {
	return r < 0x80 && (isKeyByte(byte(r)) || strings.ContainsRune("~%+!$&;=,:", r))
}

// Secret is a secret in a text.
type Secret struct {
	Name string // what it is: "a GitHub token"
	Text string // the secret, and what makes it one
}

// Secrets returns the secrets that must not be committed: those of a known shape that
// are not examples and may still give access to something.
func Secrets(text string) []Secret {
	var found []Secret
	for _, s := range shapes() {
		if s.refused == nil || !s.likely(text) {
			continue
		}
		for _, match := range s.refused().FindAllString(text, -1) {
			if !s.harmless(match) {
				found = append(found, Secret{s.name, match})
			}
		}
	}
	return found
}

var placeholder = re(`(?i)example|xxxx|0000000|1234567890abcdef`)

// example reports whether a key is an example for documentation.
func example(match string) bool { return placeholder().MatchString(match) }

// uselessToken reports whether a JSON web token has expired, is the usual example, or
// cannot be read.
func uselessToken(match string) bool {
	part, _, _ := strings.Cut(match[strings.Index(match, ".")+1:], ".")
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

// leastPassword is the length below which a password counts as an example.
const leastPassword = 6

// words matches passwords made of defaults and placeholder words.
var words = re(`^(?i)(?:my|your|the|some|any|super|very|top|db|database|test|dev|local|demo|dummy|fake|sample|example|default|proxy|` +
	`admin|root|username|user|guest|app|password|passwd|passphrase|pass|pwd|pw|secret|token|key|api|change(?:me|it)?|here|` +
	`redacted|removed|hidden|masked|placeholder|foo|bar|baz|qux|abc|xyz|postgres|postgresql|mysql|maria|redis|mongo|rabbitmq|x+|[0-9]{1,6}|[-_.])+$`)

// uselessAddress reports whether the password in an address, from "://" on, gives access
// to nothing: it is for this machine, a placeholder, the user's name or a common word.
func uselessAddress(match string) bool {
	u, err := url.Parse("any" + match)
	if err != nil {
		return true // a placeholder such as %s
	}
	password, _ := u.User.Password()
	user, host := u.User.Username(), strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	if err == nil && (ip.IsLoopback() || ip.IsUnspecified()) || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	return len(password) < leastPassword || strings.HasPrefix(password, "$") || strings.EqualFold(password, user) ||
		words().MatchString(password) || words().MatchString(strings.Replace(password, user, "", 1))
}
