package agent

import (
	"slices"
	"strings"
	"testing"
)

// Real names: secrets, and names that only look like secrets.
const (
	secretNames = `GITHUB_TOKEN GITHUB_TOKEN_PROD NPM_TOKEN_2 TOKEN API_TOKENS CLAUDE_API_TOKENS SLACK_ACCESS_TOKENS CI_JOB_TOKEN
		DB_PASSWORD DB_PASSWORD_PROD PGPASSWORD POSTGRES_PASSWORDS PASS PASSWD SSHPASS DB_PASS KEY_PASSPHRASE GPG_PASSPHRASE MYSQL_PWD
		OPENAI_API_KEY_2 OPENAI_API_KEYS GOOGLE_APIKEY STRIPE_API_KEY APP_SECRETS APP_SECRET CLIENT_SECRET_PROD SECRET_KEY_BASE
		PRIVATE_KEY PRIVATE_KEY_BASE64 GITHUB_PRIVATE_KEY_PEM JWT_SIGNING_KEY AZURE_STORAGE_KEY RAILS_MASTER_KEY ALGOLIA_ADMIN_KEY
		AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS GITHUB_PAT
		DOCKER_AUTH_CONFIG REDISCLI_AUTH NPM_CONFIG__AUTH npm_config_//r.example/:_auth npm_config_//r.example/:_authToken npm_config__password
		SUPABASE_SERVICE_ROLE_KEY SSH_KEY DEPLOY_KEY JWT_KEY SIGNING_KEY ACCESS_KEY SECRETKEY DB_PWD DBPASS CREDENTIALS DATABASE_URL
		DIRENV_DIFF GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_PARAMETERS`
	plainNames = `PATH HOME USER SHELL TERM COLORTERM LANG TMPDIR EDITOR CI PYTHONPATH NODE_PATH KUBECONFIG PWD OLDPWD TEST_DATABASE_URL
		TOKENIZERS_PARALLELISM MAX_TOKENS_PER_HOUR MAX_THINKING_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_MCP_OUTPUT_TOKENS OPENAI_BASE_URL
		SSH_AUTH_SOCK SSH_AGENT_PID SSH_CONNECTION SSH_ASKPASS SSH_ASKPASS_REQUIRE GIT_ASKPASS SUDO_ASKPASS VSCODE_GIT_ASKPASS_NODE
		XAUTHORITY ICEAUTHORITY DBUS_SESSION_BUS_ADDRESS XDG_ACTIVATION_TOKEN XDG_SESSION_ID GNOME_KEYRING_CONTROL GNUPGHOME GPG_AGENT_INFO GPG_TTY
		KEYBOARD KEYMAP KEYTIMEOUT LESSKEY MONKEY_PATCH PASSENGER_APP_ENV PASSTHROUGH COMPASS_HOME BYPASS BYPASS_CACHE PASSWORD_STORE_DIR
		GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL AUTHOR DIRENV_DIR DIRENV_FILE DIRENV_WATCHES
		AWS_PROFILE AWS_REGION AWS_WEB_IDENTITY_TOKEN_FILE AZURE_FEDERATED_TOKEN_FILE POSTGRES_PASSWORD_FILE SSL_CERT_FILE TLS_PRIVATE_KEY_PATH
		DISABLE_AUTH ENABLE_AUTH CLAUDE_CODE_SKIP_BEDROCK_AUTH NEXTAUTH_URL OAUTH_REDIRECT_URI AUTH_URL HTTPS_PROXY NODE_EXTRA_CA_CERTS
		STARSHIP_SESSION_KEY KITTY_PUBLIC_KEY TERM_SESSION_ID SECRETARY GITHUB_REPOSITORY GITHUB_ACTIONS RALPH_X`
)

func TestEnvFilter_realNames_onlySecretsAreHeldBack(t *testing.T) {
	for list, held := range map[string]bool{secretNames: true, plainNames: false} {
		for _, name := range strings.Fields(list) {
			if got := len(EnvFilter{}.Checks([]string{name + "=v"})) == 0; got != held {
				t.Errorf("%s: held back %v, want %v", name, got, held)
			}
		}
	}
}

// Keys and settings of each agent, and names that look like keys of another.
func TestEnvFilter_ownVariables_reachTheirAgent(t *testing.T) {
	for name, own := range map[string]string{
		"claude": `ANTHROPIC_API_KEY ANTHROPIC_FOUNDRY_API_KEY CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_OAUTH_REFRESH_TOKEN CLAUDE_CODE_OAUTH_SCOPES
			CLAUDE_CODE_API_KEY_HELPER_TTL_MS CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_CERT CLAUDE_CODE_SKIP_BEDROCK_AUTH CLAUDE_CODE_MAX_OUTPUT_TOKENS AWS_WEB_IDENTITY_TOKEN_FILE`,
		"codex":        "OPENAI_API_KEY CODEX_API_KEY",
		"gemini":       "GEMINI_API_KEY GEMINI_API_KEY_AUTH_MECHANISM GOOGLE_APPLICATION_CREDENTIALS",
		"opencode":     "ANTHROPIC_API_KEY COHERE_API_KEY PERPLEXITY_API_KEY OLLAMA_API_KEY CLOUDFLARE_API_KEY OPENCODE_API_KEY AWS_BEARER_TOKEN_BEDROCK",
		"qwen":         "DASHSCOPE_API_KEY BAILIAN_CODING_PLAN_API_KEY OPENAI_API_KEY",
		"amp":          "AMP_API_KEY",
		"cursor-agent": "CURSOR_API_KEY CURSOR_AUTH_TOKEN",
	} {
		for _, v := range strings.Fields(own) {
			if !slices.Contains(row(t, name).Command(Request{Env: []string{v + "=k"}}).Env, v+"=k") {
				t.Errorf("%s does not get %s", name, v)
			}
		}
	}
}

func TestEnvFilter_secrets_areTheValuesNobodyMaySee(t *testing.T) {
	r := Request{Env: []string{"PATH=/bin", "NPM_TOKEN=npm-value", "OPENAI_API_KEY=own-value", "GITHUB_TOKEN=passed-value",
		"REDIS_URL=redis://:pw@h", "HTTPS_PROXY=http://u:pw@proxy", "GIT_CONFIG_KEY_0=safe.directory", "LANG=C"}}
	got := EnvFilter{Exclude: []string{"!GITHUB_TOKEN"}}.Secrets(row(t, "codex"), r)
	if !slices.Equal(got, []string{"npm-value", "own-value", "passed-value", "redis://:pw@h", "http://u:pw@proxy"}) {
		t.Errorf("%q", got)
	}
}

func TestEnvFilter_held_listsWhatTheAgentDoesNotGet(t *testing.T) {
	r := Request{Env: []string{"PATH=/bin", "NPM_TOKEN=secret", "ANTHROPIC_API_KEY=secret", "CLAUDECODE=1", "CORP_API_KEY=secret"}}
	if got := (EnvFilter{}).Withheld(row(t, "codex"), r); !slices.Equal(got, []string{"ANTHROPIC_API_KEY", "CORP_API_KEY", "NPM_TOKEN"}) {
		t.Errorf("%q", got)
	}
	if got := (EnvFilter{Exclude: []string{"!*"}}).Withheld(row(t, "codex"), r); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

func TestCommand_sessionThatIsAnOption_isNotResumed(t *testing.T) {
	args := row(t, "claude").Command(Request{ArgvCall: ArgvCall{Session: "--dangerously-skip-permissions"}}).Args
	if slices.Contains(args, "--resume") || slices.Contains(args, "--dangerously-skip-permissions") {
		t.Errorf("%q", args)
	}
}
