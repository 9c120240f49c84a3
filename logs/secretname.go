package logs

// This file recognizes variables that contain secrets, by their name or
// by their value.

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// SecretNameGlobs returns patterns of the names, in upper case, with * for any text. A glob that starts with !
// excludes names. The last match decides.
func SecretNameGlobs() []string { return slices.Clone(globs()) }

var globs = sync.OnceValue(func() []string {
	return []string{"*TOKEN", "*TOKEN_*", "*API_TOKENS", "*ACCESS_TOKENS", "*SECRET", "*SECRETS", "*SECRET_*",
		"*SECRETKEY*",
		"*PASSWORD*", "*PASSWD", "PASS", "*_PASS", "DBPASS", "*_DBPASS", "SSHPASS", "*PASSPHRASE", "*_PWD",
		"*API_KEY*", "*APIKEY*", "*ACCESS_KEY*", "*ACCESSKEY", "*PRIVATE_KEY*", "*PRIVATEKEY", "*_MASTER_KEY",
		"*_ADMIN_KEY",
		"*SIGNING_KEY", "*ENCRYPTION_KEY", "*_STORAGE_KEY", "*_ACCOUNT_KEY", "ACCOUNTKEY", "*_SERVICE_KEY",
		"*_SERVICE_ROLE_KEY", "SSH_KEY", "*_SSH_KEY", "DEPLOY_KEY", "*_DEPLOY_KEY", "JWT_KEY", "*_JWT_KEY",
		"CREDENTIALS", "*_CREDENTIALS", "*_PAT", "*_AUTH", "*_AUTH_CONFIG",
		"DATABASE_URL", "*CONNECTION_STRING",
		"NOTIFY", "WEBHOOKS", "REPLIES", // ralph's own: addresses with keys in them
		"DIRENV_DIFF", // all variables that direnv has set, with their values
		// git fails on a count without its values: all of them or none.
		"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS",
		// Paths, switches and descriptions.
		"!*_TYPE", "!*_EXPIRY", "!*_PROJECT_ID", "!AZURE_TOKEN_CREDENTIALS", "!*_FILE", "!*_PATH", "!*ABLE_AUTH",
		"!*SKIP_*", "!PASSWORD_STORE_*", "!XDG_*"}
})

// IsSecretName reports whether a variable with this name contains a secret. Case does not matter, and - is
// the same as _.
func IsSecretName(name string) bool {
	name = strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	found := false
	for i := range patterns() {
		// If found is what the pattern says, it would change nothing.
		if p := &patterns()[i]; found == p.excludes && p.match(name) {
			found = !found
		}
	}
	return found
}

// pattern is a glob, read once: each agent call compares all variables with all globs, and Redact most names.
type pattern struct {
	part                   string // without * at its ends
	excludes, begins, ends bool   // begins: there is * before the part
	any                    bool   // there is * or ? within the part
}

var patterns = sync.OnceValue(func() []pattern {
	var all []pattern
	for _, glob := range globs() {
		glob, excludes := strings.CutPrefix(glob, "!")
		p := parse(glob)
		p.excludes = excludes
		all = append(all, p)
	}
	return all
})

func parse(glob string) (p pattern) {
	p.part, p.begins = strings.CutPrefix(glob, "*")
	p.part, p.ends = strings.CutSuffix(p.part, "*")
	if p.any = strings.IndexByte(p.part, '*') >= 0 || strings.IndexByte(p.part, '?') >= 0; p.any {
		p.part = glob
	}
	return p
}

// MatchName is path.Match, but ten times as fast for a glob with * only at its ends.
func MatchName(glob, name string) bool {
	p := parse(glob)
	return p.match(name)
}

func (p *pattern) match(name string) bool {
	switch {
	case p.any:
		ok, _ := path.Match(p.part, name) // false for a malformed one
		return ok
	case p.begins && p.ends:
		return strings.Contains(name, p.part)
	case p.begins:
		return strings.HasSuffix(name, p.part)
	case p.ends:
		return strings.HasPrefix(name, p.part)
	}
	return name == p.part
}

// KeyInAddress reports whether a text has an address with a password: before the host,
// or as a parameter.
func KeyInAddress(text string) bool {
	for {
		_, rest, found := strings.Cut(text, "://")
		if !found {
			return false
		}
		end := strings.IndexAny(rest, " \t\r\n\"'")
		if end < 0 {
			end = len(rest)
		}
		address := rest[:end]
		authority, parameters, _ := strings.Cut(address, "?")
		authority, _, _ = strings.Cut(authority, "/")
		if user, _, has := strings.Cut(authority, "@"); has {
			if _, password, _ := strings.Cut(user, ":"); password != "" {
				return true
			}
		}
		for parameter := range strings.FieldsFuncSeq(parameters, func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, _ := strings.Cut(parameter, "=")
			if value != "" && strings.EqualFold(name, "password") {
				return true
			}
		}
		text = rest
	}
}
