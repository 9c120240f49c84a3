package logs

import (
	"path"
	"strings"
	"testing"
)

func TestIs_realNames_onlySecrets(t *testing.T) {
	for list, want := range map[string]bool{
		`SUPABASE_SERVICE_ROLE_KEY SUPABASE_SERVICE_KEY SSH_KEY CI_SSH_KEY DEPLOY_KEY JWT_KEY SIGNING_KEY JWT_SIGNING_KEY ACCESS_KEY AWS_ACCESS_KEY_ID
		SECRETKEY DB_PWD MYSQL_PWD SMTP_PWD DBPASS CREDENTIALS GOOGLE_APPLICATION_CREDENTIALS DATABASE_URL apiKey accessToken x-api-key db_password`: true,
		`PWD OLDPWD CWD KEY KEYBOARD PUBLIC_KEY STARSHIP_SESSION_KEY TEST_DATABASE_URL COMPASS BYPASS TOKENS MAX_TOKENS
		SSL_CERT_FILE AWS_SHARED_CREDENTIALS_FILE SSH_KEY_PATH SSH_AUTH_SOCK ENABLE_AUTH CACHE_KEY primary_key author
		AZURE_TOKEN_CREDENTIALS TOKEN_TYPE token_expiry SECRET_MANAGER_PROJECT_ID`: false,
	} {
		for _, name := range strings.Fields(list) {
			if IsSecretName(name) != want {
				t.Errorf("%s: a secret %t, want %t", name, !want, want)
			}
		}
	}
}

func TestInAddress_anyAddressWithAPassword_isFound(t *testing.T) {
	for text, want := range map[string]bool{
		"postgres://app:pw@db/app": true, "redis://:pw@cache:6379/0": true, "a http://x and https://u:p@h": true,
		"mongodb://u:p@a:1,b:2/db": true, "jdbc:postgresql://db/app?user=a&password=pw": true,
		"https://example.com/@me:here": false, "postgres://app@db/app": false, "http://host:8080/a@b": false, "u:p@h": false,
		"https://u:@host": false, "https://h/?password=": false, "http://h:80?to=a:b@c": false, "": false, "://": false,
	} {
		if KeyInAddress(text) != want {
			t.Errorf("%q: a password %t, want %t", text, !want, want)
		}
	}
}
func TestMatch_anyGlob_isPathMatch(t *testing.T) {
	for _, glob := range append(SecretNameGlobs(), "*", "**", "?", "A", "A*", "*A", "*A*", "A*B", "*A*B*", "A?B*", "**A", "A**", "*?") {
		glob = strings.TrimPrefix(glob, "!")
		for _, name := range []string{"", "A", "B", "AB", "AXB", "XAXBX", "MY_TOKEN", "TOKEN_FILE", "GIT_CONFIG_KEY_1", "PASS", "A_PASS"} {
			if want, err := path.Match(glob, name); MatchName(glob, name) != want || err != nil {
				t.Errorf("Match(%q, %q) is %t, %v", glob, name, !want, err)
			}
		}
	}
}
