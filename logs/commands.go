package logs

import (
	"regexp"
	"strings"
	"sync"
)

const (
	// argument is the value of a flag, perhaps quoted, and that within a JSON string.
	argument = `(?:\\*"([^"\\\n]+)|\\*'([^'\\\n]+)|([^\s"'\\|;&<>]+))`
	// next is what separates a flag from its argument, also in a list of strings.
	next = `(?:[ =]+|\\*["'], ?|(?:\\n)?\s+)`
)

// commandFlag is a flag of some commands with a secret in its argument.
type commandFlag struct {
	letters  string // the first one of the flag
	commands string
	pattern  string
}

// flags is the table of commands that take a secret as an argument. A flag with the name of a secret,
// as in --password, needs no row.
func flags() []commandFlag {
	return []commandFlag{
		{"-aAsSkfuUiLnoqvx", "curl http https xh", `-(?:-user|-proxy-user|-auth|[a-zA-Z]{0,6}[uUa])` + `(?:` + next + `)?\\*["']?[^\s:"'\\]*:([^\s"'\\]+)`},
		{"-b", "curl", `-(?:-cookie|b)(?:` + next + `)?\\*["']?[^\s=;"'\\]+=([^\s"'\\]{8,})`},
		{"p", "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mariadb mariadb-dump mariadb-admin " +
			"mycli 7z 7za", `-p` + argument},
		{"p", "sshpass", `-p(?:` + next + `)?` + argument},
		{"p", "docker login,podman login,buildah login,skopeo login,helm registry login,az login,oc login,cf login," +
			"twine upload,mongo,mongosh,mongodump,mongorestore,mongoexport,mongoimport,cqlsh", `-p` + next + argument},
		{"a", "redis-cli valkey-cli", `-a` + next + argument},
		{"P", "sqlcmd bcp osql zip unzip", `-P(?:` + next + `)?` + argument},
		{"w", "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", `-w` + next + argument},
		{"U", "smbclient rpcclient smbget smbmap net", `-U` + next + `\\*["']?[^%\s"'\\]+%([^\s"'\\]+)`},
		{"sdkp", "keytool jarsigner apksigner", `-[a-z]*pass` + next + argument},
		{"p", "openssl", `-pass(?:in|out)?` + next + `\\*["']?pass:([^\s"'\\]+)`},
		{"abcmBdin", "htpasswd", `-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+` + argument},
	}
}

// command is a flag of one command.
type command struct {
	name string
	find func() *regexp.Regexp
}

var byLetter = sync.OnceValue(func() *['z' + 1][]command {
	var table ['z' + 1][]command
	for _, f := range flags() {
		names, find := strings.Fields(f.commands), re("^"+f.pattern)
		if strings.Contains(f.commands, ",") {
			names = strings.Split(f.commands, ",")
		}
		for _, letter := range []byte(f.letters) {
			for _, name := range names {
				table[letter] = append(table[letter], command{name, find})
			}
		}
	}
	return &table
})

// flagStarts are the first bytes of flags that may have a secret, with what is before them.
func flagStarts() []string {
	var starts []string
	for letter, commands := range byLetter() {
		if len(commands) == 0 && letter != '-' {
			continue
		}
		for _, before := range []string{" -", `"-`, "'-"} {
			starts = append(starts, before+string(rune(letter)))
		}
	}
	return starts
}

const maxCommand = 256 // bytes between a command and its flag

// inCommand is a finder for arguments of flags, at the space or quote before the flag.
func inCommand(text string, at int) (from, to int, ok bool) {
	if at+2 >= len(text) || text[at+2] > 'z' {
		return 0, 0, false
	}
	candidates := byLetter()[text[at+2]]
	if text[at+2] == '-' {
		if from, to, ok = longFlag(text, at+1); ok {
			return from, to, ok
		}
	}
	if len(candidates) == 0 {
		return 0, 0, false
	}
	line := text[max(0, at-maxCommand):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for _, c := range candidates {
		if !hasCommand(line, c.name) {
			continue
		}
		m := c.find().FindStringSubmatchIndex(text[at+1 : min(len(text), at+maxSecret)])
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 && !notArgument(text[at+1+m[i]:at+1+m[i+1]]) {
				return at + 1 + m[i], at + 1 + m[i+1], true
			}
		}
	}
	return 0, 0, false
}

// hasCommand reports whether a command begins somewhere in the line.
func hasCommand(line, name string) bool {
	for i := 0; ; i++ {
		j := strings.Index(line[i:], name)
		if j < 0 {
			return false
		}
		i += j
		end := i + len(name)
		if (i == 0 || !isWordByte(line[i-1]) && line[i-1] != '-' && line[i-1] != '.' || startsWord(line, i)) &&
			(end == len(line) || line[end] == ' ' || line[end] == '"' || line[end] == '\'' || line[end] == '\\') {
			return true
		}
	}
}

// mount matches where docker build and docker service take a secret from: id=key1,src=key1.
var mount = re(`^(?:id|type|env|source|src|target)=`)

var long = re(`^--([a-z][a-z0-9-]*)(?: +|\\*["'], ?)` + argument)

// longFlag is a finder for --NAME VALUE.
func longFlag(text string, at int) (from, to int, ok bool) {
	end := at + 2
	for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] == '-') && end-at < maxName {
		end++
	}
	name := text[at+2 : end]
	if end == len(text) || strings.IndexByte(" \"'\\", text[end]) < 0 || !mayBeNamed(name) {
		return 0, 0, false
	}
	if strings.HasSuffix(name, "-hash") || !IsSecretName(name) && name != "authkey" && name != "auth-key" {
		return 0, 0, false
	}
	m := long().FindStringSubmatchIndex(text[at:min(len(text), at+maxSecret)])
	for i := 4; i < len(m); i += 2 {
		if m[i] < 0 {
			continue
		}
		value := text[at+m[i] : at+m[i+1]]
		isKey := len(value) >= 8 && !hasNoDigit(value) && strings.ContainsFunc(value, isLetter)
		if isKey && !notArgument(value) && !strings.Contains(value, "://") && !mount().MatchString(value) {
			return at + m[i], at + m[i+1], true
		}
	}
	return 0, 0, false
}
