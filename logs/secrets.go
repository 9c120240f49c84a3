package logs

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Secret is a secret in a text.
type Secret struct {
	Name string // what it is: "a GitHub token"
	Text string // the secret and the text that identifies it
}

// Secrets returns the secrets that must not be committed: those of a known shape that
// are not examples and may still give access to something.
func Secrets(text string) []Secret {
	var found []Secret
	places := newPlaces(text)
	for at, starts := places.next(0); at >= 0; {
		next := at + 1
		if s, from, to := find(text, at, starts, (*shape).refuse); s != nil {
			found = append(found, Secret{s.name, text[min(at, from):to]})
			next = max(to, next)
		}
		at, starts = places.next(next)
	}
	return found
}

// example reports whether a key is an example for documentation.
func example(match string) bool {
	match = strings.ToLower(match)
	return slices.ContainsFunc([]string{"example", "xxxx", "abcdefghij", "0000000", "1234567890abcdef"},
		func(part string) bool { return strings.Contains(match, part) })
}

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

// minPassword is the length below which a password counts as an example.
const minPassword = 6

// words are defaults and placeholders for passwords, by their first letter.
var words = sync.OnceValue(func() *[256][]string {
	var all [256][]string
	for _, word := range strings.Fields("my your the some any super very top db database test dev local demo dummy fake sample " +
		"example default proxy admin root username user guest app password passwd passphrase pass pwd pw secret token " +
		"key api change changeme changeit here redacted removed hidden masked placeholder foo bar baz qux abc xyz postgres " +
		"postgresql mysql maria redis mongo rabbitmq client nota string x - _ . 0 1 2 3 4 5 6 7 8 9") {
		all[word[0]] = append(all[word[0]], word)
	}
	return &all
})

// placeholder reports whether a password consists of words.
func placeholder(password string) bool {
	return password != "" && ofWords(strings.ToLower(password))
}

func ofWords(text string) bool {
	if text == "" {
		return true
	}
	for _, word := range words()[text[0]] {
		if rest, ok := strings.CutPrefix(text, word); ok && ofWords(rest) {
			return true
		}
	}
	return false
}

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
	if err == nil && (ip.IsLoopback() || ip.IsUnspecified()) || host == "localhost" ||
		strings.HasSuffix(host, ".localhost") {
		return true
	}
	return len(password) < minPassword || strings.HasPrefix(password, "$") || strings.EqualFold(password, user) ||
		placeholder(password) || placeholder(strings.Replace(password, user, "", 1))
}
