package logs

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file says which texts in the place of a secret are none.

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
	return text == "" || slices.ContainsFunc(words()[text[0]], func(word string) bool {
		rest, ok := strings.CutPrefix(text, word)
		return ok && ofWords(rest)
	})
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

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// hasNoDigit reports whether a match is words rather than a key.
func hasNoDigit(match string) bool {
	for i := range len(match) { // strings.ContainsAny makes a set first
		if match[i] >= '0' && match[i] <= '9' {
			return false
		}
	}
	return true
}

// isWord reports whether a value is a placeholder or a common word.
func isWord(value string) bool { return placeholder(value) || example(value) }

// notArgument reports whether an argument of a command can be no secret: it is a variable, a placeholder or a common
// word.
func notArgument(value string) bool {
	return len(value) < 4 || strings.IndexByte("$%<{*./~@#-", value[0]) >= 0 || isWord(value) ||
		strings.ContainsAny(value, "$`{<")
}

// notRandom reports whether a value is probably no generated key: those have letters of both
// cases, digits, and few repetitions.
func notRandom(value string) bool {
	const leastLength, leastBits = 20, 3.7
	mixed := !hasNoDigit(value) && strings.ToLower(value) != value && strings.ToUpper(value) != value
	return len(value) < leastLength || entropy(value) < leastBits || !mixed || isWord(value) ||
		strings.ContainsAny(value, " .(){}$<>")
}

// entropy returns that of the bytes of a value, in bits per byte.
func entropy(value string) float64 {
	var count [256]float64
	for i := range len(value) {
		count[value[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if p := n / float64(len(value)); n > 0 {
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
