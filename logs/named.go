package logs

import (
	"encoding/base64"
	"strings"
	"sync"
)

// named has the names that reveal a secret in a special form, in lower case, and what finds it from the = or : on.
var named = sync.OnceValue(func() map[string]finder {
	table := map[string]finder{}
	for _, row := range []struct {
		names string
		find  finder
	}{
		{"cookie", key(`:\s*\\*["']?[^\s=;"'\\]+=([^"'\\\r\n]{12,})`, hasNoDigit)},
		{"set-cookie", key(`:\s*\\*["']?[^\s=;"'\\]+=([^;\s"'\\]{12,})`, hasNoDigit)},
		{"auth", dockerAuth},
		{"sig x-amz-signature x-goog-signature sharedaccesssignature", key(`=([A-Za-z0-9%+/=_-]{40,})`)},
		{"_gitlab_session phpsessid jsessionid", key(`=([A-Za-z0-9%+/=_-]{20,})`)},
		{"code", inQuery(key(`=([A-Za-z0-9%_=-]{40,})`))},
		{"mnemonic seedphrase seed_phrase seed-phrase", key(`[:=]\s*\\*["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b`)},
		{"psk presharedkey preshared_key crumb jenkins-crumb auth-key x-auth-key dd-application-key x-honeycomb-team " +
			"app_key master-key unsealkey", key(`[:=]\s*\\*["']?(?:base64:)?([A-Za-z0-9+/=_-]{12,})`, hasNoDigit)},
		{"value", inElement},
		{"user", afterSlash(key(`:[^\s:]+ +([^\s"']{6,})`, isWord, hasNoDigit))},
		{"private-lines", whole(`: *[0-9]+[\s\S]*?(?:Private-MAC: [0-9a-f]+|\z)`)},
		{"tid", key(`=[0-9a-f]*;exp=[0-9]+;[^\s"'\\]*:([0-9a-f]{40,})`)},
		{"response", key(`=\\*"([0-9a-f]{32})\\*"`)},
		{"login", key(`=([0-9a-f]{40})\b`)}, // sonar.login
		{"bw_session pass_phrase", key(`[:=]\s*\\*["']?([^\s"'\\]{6,})`, isWord, hasNoDigit)},
	} {
		for _, name := range strings.Fields(row.names) {
			table[name] = row.find
		}
	}
	return table
})

// bundled finds the password of a host in the settings of Bundler.
var bundled = key(`[:=]\s*\\*["']?[^\s:"'\\]+:([^\s"'\\]{6,})`, isWord, hasNoDigit)

// specialNames has a bit for the length of each name in named, by the first letter.
var specialNames = sync.OnceValue(func() *[32]uint32 {
	var lengths [32]uint32
	for name := range named() {
		lengths[name[0]&31] |= 1 << len(name)
	}
	return &lengths
})

// special returns the finder of a name in named; nil: there is none.
func special(name string) finder {
	if strings.HasPrefix(name, "BUNDLE_") && strings.Contains(name, "__") {
		return bundled
	}
	const longest = 31
	if len(name) > longest || name == "" || specialNames()[name[0]&31]&(1<<len(name)) == 0 {
		return nil
	}
	var lower [longest]byte
	for i := range len(name) {
		if lower[i] = name[i]; name[i] >= 'A' && name[i] <= 'Z' {
			lower[i] |= 0x20
		}
	}
	return named()[string(lower[:len(name)])]
}

var quotedBase64 = re(`^\s*:\s*\\*"([A-Za-z0-9+/]{8,}={0,2})\\*"`)

// dockerAuth finds the user and password that Docker keeps as base64.
func dockerAuth(text string, at int) (from, to int, ok bool) {
	m := quotedBase64().FindStringSubmatchIndex(text[at:min(len(text), at+maxSecret)])
	if m == nil {
		return 0, 0, false
	}
	return at + m[2], at + m[3], true
}

// afterSlash is find for /user:NAME PASSWORD on Windows.
func afterSlash(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		if i := at - len("/user"); i < 0 || text[i] != '/' {
			return 0, 0, false
		}
		return find(text, at)
	}
}

// inQuery is find for parameters of an address.
func inQuery(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		if i := at - len("?code"); i < 0 || text[i] != '?' && text[i] != '&' {
			return 0, 0, false
		}
		return find(text, at)
	}
}

var (
	elementKey = re(`key=\\*["']([A-Za-z_.:-]+)\\*["']\s+value$`)
	quoted     = re(`^=\\*["']([^"'\\<>]{6,})`)
)

// inElement finds the value in <add key="NAME" value="...">.
func inElement(text string, at int) (from, to int, ok bool) {
	name := elementKey().FindStringSubmatch(text[max(0, at-maxName):at])
	if name == nil || !IsSecretName(name[1]) {
		return 0, 0, false
	}
	m := quoted().FindStringSubmatchIndex(text[at:min(len(text), at+maxSecret)])
	if m == nil || !isArgument(text[at+m[2]:at+m[3]]) {
		return 0, 0, false
	}
	return at + m[2], at + m[3], true
}

// element is a finder for <NAME>value</NAME>, at the "</".
func element(text string, at int) (from, to int, ok bool) {
	end := at + 2
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	if end == len(text) || text[end] != '>' || !mayBeNamed(text[at+2:end]) || !IsSecretName(text[at+2:end]) {
		return 0, 0, false
	}
	from = at
	for from > 0 && at-from < maxCommand && text[from-1] > ' ' && text[from-1] != '>' && text[from-1] != '<' {
		from--
	}
	if from == 0 || text[from-1] != '>' || at-from < minPassword {
		return 0, 0, false
	}
	value := text[from:at]
	return from, at, !hasNoDigit(value) && isArgument(value)
}

var (
	user     = re(`^(?:\s|\\+[nrt])+[^\s\\,]+(?:\s|\\+[nrt])+$`)
	escaped  = re(`^\\+u003e([^<\s\\]{6,})\\+u003c/`)
	lineEnds = re(`^[ \t]*(?:\\+[nr]|[\r\n]|$)`)
	account  = re(`([^\s"'\\:]+):([^\s"'\\]{4,})\\*["']? *\| *(?:sudo +)?ch$`)
)

// afterLogin is a finder for passwords in .netrc, and for those that go to chpasswd, at the "passw".
func afterLogin(text string, at int) (from, to int, ok bool) {
	before := text[max(0, at-maxCommand):at]
	if strings.HasSuffix(before, "ch") {
		if m := account().FindStringSubmatchIndex(before); m != nil {
			start := at - len(before)
			return start + m[4], start + m[5], isArgument(before[m[4]:m[5]])
		}
		return 0, 0, false
	}
	end := at + len("password")
	if !strings.HasPrefix(text[at:], "password") {
		if end = at + len("passwd"); !strings.HasPrefix(text[at:], "passwd ") {
			return 0, 0, false
		}
	}
	if strings.HasPrefix(text[end:], `\`) {
		if m := escaped().FindStringSubmatchIndex(text[end:min(len(text), end+maxCommand)]); m != nil {
			return end + m[2], end + m[3], isArgument(text[end+m[2] : end+m[3]])
		}
	}
	from = afterBlanks(text, end)
	to = endOf(text, from, func(c byte) bool { return strings.IndexByte(" \t\r\n\f\"'\\", c) >= 0 })
	if from == end || from == to {
		return 0, 0, false
	}
	value := text[from:to]
	if hasNoDigit(value) && !strings.Contains(before, "machine ") || !isArgument(value) {
		return 0, 0, false
	}
	if strings.Contains(before, "login") && (endsWithUser(before, "login") || endsWithUser(before, "account")) {
		return from, to, true
	}
	// Alone on its line: the line before it may have been another write.
	start := strings.TrimRight(before, " \t")
	alone := start == "" || strings.HasSuffix(start, "\n") || strings.HasSuffix(start, `\n`)
	return from, to, alone && len(value) >= 8 && !hasNoDigit(value) && strings.ContainsFunc(value, isLetter) &&
		lineEnds().MatchString(text[to:min(len(text), to+8)])
}

// endsWithUser reports whether a text ends with a word and the name of a user.
func endsWithUser(text, word string) bool {
	for {
		_, after, found := strings.Cut(text, word)
		if !found || user().MatchString(after) {
			return found
		}
		text = after
	}
}

// afterBlanks returns the index after blanks and tabs, which may be \t in a JSON string.
func afterBlanks(text string, i int) int {
	for i < len(text) {
		tab := skip(text, i, `\`, maxSecret)
		switch {
		case text[i] == ' ' || text[i] == '\t':
			i++
		case tab > i && tab < len(text) && text[tab] == 't':
			i = tab + 1
		default:
			return i
		}
	}
	return i
}

var passLine = re(`^:(?:[0-9]{4,5}|\*):[\w*.-]+:[\w*@.-]+:([^\s:"'\\/]{6,})(?:\\+[nr"]|["'\s]|$)`)

// pgpass is a finder for lines HOST:PORT:DATABASE:USER:PASSWORD, at the first colon.
func pgpass(text string, at int) (from, to int, ok bool) {
	port := skip(text, at+1, "0123456789", 5)
	if at+6 > len(text) || text[at+1] != '*' && (port < at+5 || port == len(text) || text[port] != ':') ||
		text[at+1] == '*' && text[at+2] != ':' {
		return 0, 0, false
	}
	m := passLine().FindStringSubmatchIndex(text[at:min(len(text), at+maxCommand)])
	if m == nil {
		return 0, 0, false
	}
	start := at
	for start > 0 && at-start < maxName && (isKeyByte(text[start-1]) || text[start-1] == '*') {
		start--
	}
	first := start < at && (start == 0 || text[start-1] == '\n' || text[start-1] == '"' || text[start-1] == '\'' ||
		text[start-1] == '\\')
	value := text[at+m[2] : at+m[3]]
	return at + m[2], at + m[3], first && isArgument(value) && !hasNoDigit(value) && strings.ContainsFunc(value, isLetter)
}

var unsealKey = key(`:\s*([A-Za-z0-9+/]{40,}={0,2})`)

// unseal is a finder for Vault's "Unseal Key 1: ...", at the colon.
func unseal(text string, at int) (from, to int, ok bool) {
	if at == 0 || text[at-1] < '0' || text[at-1] > '9' {
		return 0, 0, false
	}
	before := strings.TrimRight(text[max(0, at-16):at], "0123456789")
	if !strings.HasSuffix(before, "Unseal Key ") {
		return 0, 0, false
	}
	return unsealKey(text, at)
}

// encodedKey finds a private key in base64, as kubeconfig and Kubernetes secrets have it.
func encodedKey(text string, at int) (from, to int, ok bool) {
	for to = at; to < len(text) && (isKeyByte(text[to]) || text[to] == '+' || text[to] == '/' || text[to] == '='); {
		to++
	}
	head := min(to-at, 60) &^ 3
	begin, err := base64.StdEncoding.DecodeString(text[at : at+head])
	if err != nil || !strings.Contains(string(begin), "PRIVATE KEY") {
		return 0, 0, false
	}
	return at + min(shownOfKey, to-at), to, true
}
