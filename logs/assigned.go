package logs

import (
	"strings"
	"sync"

	"ralph/logs/lazy"
)

// maxEscapes is how many backslashes are before a quote in a JSON string in a JSON string in one more.
const maxEscapes = 7

// maxName is the length of the longest name of a secret, in bytes.
const maxName = 80

// assignment is a name with its value, as in NAME=value, "name": "value".
type assignment struct {
	name     string
	from, to int // the value
	quoted   bool
	colon    bool // else =
	spaced   bool // there is a blank between the = and the value
	calls    bool // the value is called or indexed: it is code
	inName   bool // it is a part of a longer name, as in arn:aws:secret:NAME
}

// names has the names that reveal a secret in a form of their own, in lower case, and what finds it from the = or : on.
var names = sync.OnceValue(func() map[string]finder {
	all := map[string]finder{}
	for list, find := range map[string]finder{
		"cookie":     key(`:\s*\\*["']?[^\s=;"'\\]+=([^"'\\\r\n]{12,})`, hasNoDigit),
		"set-cookie": key(`:\s*\\*["']?[^\s=;"'\\]+=([^;\s"'\\]{12,})`, hasNoDigit),
		"auth":       key(`:\s*\\*"([A-Za-z0-9+/]{8,}={0,2})\\*"`), // user and password, as Docker keeps them
		"sig x-amz-signature x-goog-signature sharedaccesssignature": key(`=([A-Za-z0-9%+/=_-]{40,})`),
		"_gitlab_session phpsessid jsessionid":                       key(`=([A-Za-z0-9%+/=_-]{20,})`),
		"mnemonic seedphrase seed_phrase seed-phrase":                key(`[:=]\s*\\*["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b`),
		"psk presharedkey preshared_key crumb jenkins-crumb auth-key x-auth-key dd-application-key x-honeycomb-team " +
			"app_key master-key unsealkey": key(`[:=]\s*\\*["']?(?:base64:)?([A-Za-z0-9+/=_-]{12,})`, hasNoDigit),
		"bw_session pass_phrase": key(`[:=]\s*\\*["']?([^\s"'\\]{6,})`, isWord, hasNoDigit),
	} {
		for _, name := range strings.Fields(list) {
			all[name] = find
		}
	}
	return all
})

// assigned returns a finder for the value of a variable whose name ends before the = or : at
// text[at]. If exact, it finds only values that are almost certainly secrets.
func assigned(exact bool) finder {
	return func(text string, at int) (from, to int, ok bool) {
		start, end := nameBefore(text, at)
		if !exact {
			if find := names()[strings.ToLower(text[start:end])]; find != nil {
				if from, to, ok = find(text, at); ok {
					return from, to, ok
				}
			}
		}
		if !mayBeNamed(text[start:end]) {
			return 0, 0, false
		}
		a, ok := readAssignment(text, at)
		a.name = strings.Trim(text[start:end], "-")
		a.inName = a.colon && !a.spaced && start > 0 && text[start-1] == ':'
		if a.isLogin() {
			if from, to, ok = scheme(text, at); ok && exact {
				ok = !notRandom(text[from:to])
			}
			return from, to, ok
		}
		if !ok || a.to-a.from < minPassword {
			return 0, 0, false
		}
		value := text[a.from:a.to]
		if !IsSecretName(a.name) {
			return a.from, a.to, !exact && !a.calls && isVendors(dotted(text, start, end), value)
		}
		if !a.isSecret(value) {
			return 0, 0, false
		}
		if exact && (notRandom(value) || a.name != strings.ToUpper(a.name)) {
			return 0, 0, false
		}
		return a.from, a.to, true
	}
}

// isLogin reports whether the assignment is an Authorization header.
func (a assignment) isLogin() bool {
	return len(a.name) >= len("authorization") && strings.EqualFold(a.name[len(a.name)-len("authorization"):],
		"authorization")
}

// scheme finds what follows the scheme in the value of an Authorization header.
var scheme = key(`[:=]\s*\\*["']?(?i:basic|bearer|token|apikey|geniekey|flyv1|key|sso-key|splunk|api-token)\s+(?:token=)?\\*"?([A-Za-z0-9._~+/=-]{6,})`, isWord)

// isSecret reports whether the value is a secret, and no code, placeholder or reference.
func (a assignment) isSecret(value string) bool {
	upper := a.name == strings.ToUpper(a.name)
	digit, letter := !hasNoDigit(value), strings.ContainsFunc(value, isLetter)
	switch {
	case a.calls, strings.Contains(value, "://"), // an address has a row of its own
		strings.ContainsAny(value[:1], "$%<{*./~@#"),
		strings.HasPrefix(value, " +"),           // after the end of a string: "token=" + x
		a.name == "PASS" && a.colon && !a.quoted, // of go test
		!a.quoted && (a.colon || a.spaced) && identifier().MatchString(value):
		return false
	case !a.quoted && (!digit || a.colon || a.spaced) && reference().MatchString(value), isWord(value), a.inName:
		return false
	case a.quoted && upper:
		return digit || len(value) >= 12
	case a.quoted:
		return digit && letter
	case a.colon, a.spaced:
		return digit && letter && (len(value) >= 20 || upper && len(value) >= 12 || a.spaced && len(value) >= 10 && a.isPassword())
	case upper:
		return true
	}
	return digit && letter && len(value) >= 8
}

// isPassword reports whether the name is that of a password in a config file.
func (a assignment) isPassword() bool {
	name := strings.ToLower(a.name)
	return strings.HasSuffix(name, "password") || strings.HasSuffix(name, "passwd") || strings.HasSuffix(name, "_pass")
}

// reference matches code that only looks like a value: os.environ, config.token, r.password2.
var reference = lazy.Regexp(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$`)

// identifier matches the name of a secret in code: v4aCredentialProvider, api_v2_secret_proto.
var identifier = lazy.Regexp(`^[A-Za-z_]\w*(?:[a-z0-9](?:Key|Token|Secret|Password|Credential)|_(?:key|token|secret|password|credential)_)\w*$`)

// mayBeNamed is a fast first test: true if the name may be one of a secret.
func mayBeNamed(name string) bool {
	var three uint32
	for i := range len(name) {
		three = (three<<8 | uint32(name[i]|0x20)) & 0xffffff
		switch three {
		case 'p'<<16 | 'a'<<8 | 's', 'p'<<16 | 'w'<<8 | 'd', 's'<<16 | 'e'<<8 | 'c', 't'<<16 | 'o'<<8 | 'k',
			'k'<<16 | 'e'<<8 | 'y', 'c'<<16 | 'r'<<8 | 'e', 'p'<<16 | 'a'<<8 | 't', 'a'<<16 | 'u'<<8 | 't':
			return true
		}
	}
	return false
}

// nameBefore returns where the name before the = or : at text[at] starts and ends.
func nameBefore(text string, at int) (start, end int) {
	end = at
	for end > 0 && (text[end-1] == '"' || text[end-1] == ' ' || text[end-1] == '\\' || text[end-1] == '\'') &&
		at-end < 2+maxEscapes {
		end--
	}
	for start = end; start > 0 && end-start < maxName && isNameByte(text[start-1]); start-- {
	}
	if start > 0 && start < end && text[start-1] == '\\' && strings.IndexByte("nrt", text[start]) >= 0 {
		start++ // as in \nNAME
	}
	if start > 0 && end-start > 5 && text[start-1] == '\\' && text[start] == 'u' && isHex(text[start+4]) {
		start += 5 // as in \u0026NAME
	}
	if start > 0 && text[start-1] == '[' { // as in ESC[31mNAME
		if i := strings.IndexByte(text[start:end], 'm'); i >= 0 &&
			strings.Trim(text[start:start+i], "0123456789;") == "" {
			start += i + 1
		}
	}
	return start, end
}

// readAssignment reads the assignment with its = or : at text[at].
func readAssignment(text string, at int) (a assignment, ok bool) {
	a.colon = text[at] == ':'
	i := skip(text, at+1, " \t", 8)
	a.spaced = text[at-1] == ' ' || i > at+1
	if i == len(text) || strings.IndexByte("=>~", text[i]) >= 0 {
		return a, false // a comparison, an arrow
	}
	quote := skip(text, i, "\\", maxEscapes)
	if a.from = skip(text, quote, `"'`, 1); a.from > quote {
		a.quoted = true
		a.to = endOf(text, a.from, func(c byte) bool { return c == text[quote] || c == '\n' || c == '\\' })
	} else {
		a.from = i
		a.to = endOf(text, i, func(c byte) bool { return c <= ' ' || strings.IndexByte("\"'`\\,;|&<>(){}[]", c) >= 0 })
		a.calls = a.to < len(text) && strings.IndexByte("([{<", text[a.to]) >= 0
	}
	return a, a.to > a.from
}

// skip returns the index after at most most bytes of set.
func skip(text string, i int, set string, most int) int {
	for end := i + most; i < len(text) && i < end && strings.IndexByte(set, text[i]) >= 0; i++ {
	}
	return i
}

func endOf(text string, i int, ends func(byte) bool) int {
	for most := i + maxSecret; i < len(text) && i < most && !ends(text[i]); i++ {
	}
	return i
}

func isNameByte(b byte) bool { return isWordByte(b) || b == '_' || b == '-' }

// dotted returns the name text[start:end] with what is before its dots, as in sonar.token.
func dotted(text string, start, end int) string {
	for start > 0 && end-start < maxName && (isNameByte(text[start-1]) || text[start-1] == '.') {
		start--
	}
	return text[start:end]
}
