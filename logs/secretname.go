package logs

// This file recognizes variables that contain secrets, by their name or
// by their value.

import (
	"path"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
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
		"NOTIFY", "WEBHOOKS", // addresses with keys in them
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
	for _, glob := range globs() {
		// If found is what the glob says, it would change nothing.
		if glob, excludes := strings.CutPrefix(glob, "!"); found == excludes && MatchName(glob, name) {
			found = !found
		}
	}
	return found
}

// MatchName is path.Match, but ten times as fast for a glob with * only at its ends: each agent call compares all
// variables with all globs, and Redact most names.
func MatchName(glob, name string) bool {
	part, begins := strings.CutPrefix(glob, "*")
	part, ends := strings.CutSuffix(part, "*")
	switch {
	case strings.IndexByte(part, '*') >= 0 || strings.IndexByte(part, '?') >= 0:
		ok, _ := path.Match(glob, name) // false for a malformed one
		return ok
	case begins && ends:
		return strings.Contains(name, part)
	case begins:
		return strings.HasSuffix(name, part)
	case ends:
		return strings.HasPrefix(name, part)
	}
	return name == part
}

var keyInAddress = lazy.Regexp(`://(?:[^\s"'/?@:]*:[^\s"'/?@]+@|[^\s"'?]*\?(?:[^\s"']*[&;])?(?i:password)=[^\s"'&;])`)

// KeyInAddress reports whether a text has an address with a password: before the host,
// or as a parameter.
func KeyInAddress(text string) bool {
	return strings.Contains(text, "://") && keyInAddress().MatchString(text)
}
