package logs

import (
	"slices"
	"strings"

	"ralph/logs/lazy"
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

const maxCommand = 256 // bytes between a command and its flag

// commandShapes are the shapes of flags. They start with the first bytes of a flag and what is before it.
func commandShapes() []shape {
	all := []shape{{name: "a secret in a flag", starts: flagStarts("-"), hidden: longFlag}}
	for _, f := range flags() {
		names, find := strings.Fields(f.commands), key("."+f.pattern, notArgument)
		if strings.Contains(f.commands, ",") {
			names = strings.Split(f.commands, ",")
		}
		all = append(all, shape{name: "a secret in a command", starts: flagStarts(f.letters),
			hidden: func(text string, at int) (from, to int, ok bool) {
				line := text[max(0, at-maxCommand):at]
				line = line[strings.LastIndexByte(line, '\n')+1:]
				if !slices.ContainsFunc(names, func(name string) bool { return hasCommand(line, name) }) {
					return 0, 0, false
				}
				return find(text, at)
			}})
	}
	return all
}

func flagStarts(letters string) (starts []string) {
	for _, letter := range letters {
		starts = append(starts, " -"+string(letter), `"-`+string(letter), "'-"+string(letter))
	}
	return starts
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
var mount = lazy.Regexp(`^(?:id|type|env|source|src|target)=`)

var long = key(`.--[a-z][a-z0-9-]*(?: +|\\*["'], ?)`+argument, notArgument)

// longFlag is a finder for --NAME VALUE, at the blank or quote before it.
func longFlag(text string, at int) (from, to int, ok bool) {
	end := at + len(" --")
	for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] == '-') && end-at < maxName {
		end++
	}
	name := text[at+len(" --") : end]
	if end == len(text) || strings.IndexByte(" \"'\\", text[end]) < 0 || !mayBeNamed(name) || strings.HasSuffix(name, "-hash") ||
		!IsSecretName(name) && name != "authkey" && name != "auth-key" {
		return 0, 0, false
	}
	from, to, ok = long(text, at)
	value := text[from:to]
	return from, to, ok && len(value) >= 8 && !hasNoDigit(value) && strings.ContainsFunc(value, isLetter) &&
		!strings.Contains(value, "://") && !mount().MatchString(value)
}
