package agent

import (
	"slices"
	"strings"
	"testing"

	"ralph/logs"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// mine is a user's own agent whose key does not look like a secret.
func mine() Spec {
	return Spec{Name: "mine", Bin: "mine", Format: FormatText, Env: Variables{Set: []string{"MY_TOKEN=set"}, Keys: []string{"MY_LOGIN_*"}}}
}

type filterCase struct {
	exclude string // with spaces between the entries
	name    string // or NAME=value
	passes  string // to whom, of these: claude codex mine checks
}

func filterCases() []filterCase {
	return []filterCase{
		{"", "GITHUB_TOKEN", ""},
		{"", "TOKEN", ""},
		{"", "npm_config_//registry.example/:_authToken", ""},
		{"", "AWS_SECRET_ACCESS_KEY", ""},
		{"", "AWS_ACCESS_KEY_ID", ""},
		{"", "TF_VAR_db_password", ""},
		{"", "PGPASSWORD", ""},
		{"", "SECRET_KEY_BASE", ""},
		{"", "STRIPE_API_KEY", ""},
		{"", "GITHUB_PAT", ""},
		{"", "PATH", "claude codex mine checks"},
		{"", "SSH_AUTH_SOCK", "claude codex mine checks"},
		{"", "GIT_ASKPASS", "claude codex mine checks"},
		{"", "HTTPS_PROXY", "claude codex mine checks"},
		{"", "SSL_CERT_FILE", "claude codex mine checks"},
		{"", "XDG_ACTIVATION_TOKEN", "claude codex mine checks"},
		{"", "DATABASE_URL", ""},
		{"", "REDIS_URL=redis://:f3b1c2@cache/0", ""},
		{"!REDIS_URL", "REDIS_URL=redis://:f3b1c2@cache/0", "claude codex mine checks"},
		{"", "REDIS_URL=redis://cache/0", "claude codex mine checks"},
		{"", "https_proxy=http://u:pw@proxy:3128", "claude codex mine checks"},
		{"", "ANTHROPIC_BASE_URL=https://u:pw@gateway", "claude codex mine"},
		{"", "PWD", "claude codex mine checks"},
		{"", "OLDPWD", "claude codex mine checks"},
		{"", "MAX_THINKING_TOKENS", "claude codex mine checks"},
		{"", "STARSHIP_SESSION_KEY", "claude codex mine checks"},
		{"", "AWS_REGION", "claude codex mine checks"},
		{"", "ANTHROPIC_BASE_URL", "claude codex mine checks"},
		{"", "ANTHROPIC_API_KEY", "claude"},
		{"", "ANTHROPIC_CUSTOM_HEADERS", "claude"},
		{"", "OPENAI_API_KEY", "codex"},
		{"", "MY_LOGIN_NAME", "mine"},
		{"!GITHUB_TOKEN", "GITHUB_TOKEN", "claude codex mine checks"},
		{"!GITHUB_TOKEN", "NPM_TOKEN", ""},
		{"!GITHUB_*", "GITHUB_TOKEN", "claude codex mine checks"},
		{"!GITHUB_TOKE?", "GITHUB_TOKEN", "claude codex mine checks"},
		{"!GITHUB_TOKEN?", "GITHUB_TOKEN", ""},
		{"!github_token", "GITHUB_TOKEN", "claude codex mine checks"},
		{"!GITHUB_*  GITHUB_TOKEN", "GITHUB_TOKEN", ""},
		{"GITHUB_TOKEN !GITHUB_*", "GITHUB_TOKEN", "claude codex mine checks"},
		{"KUBECONFIG", "KUBECONFIG", ""},
		{"ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", ""},
		{"!*", "AWS_SECRET_ACCESS_KEY", "claude codex mine checks"},
		{"!*", "MY_LOGIN_NAME", "claude codex mine checks"},
		{"*", "PATH", "claude codex mine checks"}, // without it nothing runs
		{"* !LANG", "TERM", ""},
	}
}

func TestEnvFilter_entries_holdBackAndPassOn(t *testing.T) {
	for _, test := range filterCases() {
		f := EnvFilter{Custom: []Spec{mine()}, Exclude: strings.Fields(test.exclude)}
		env := []string{test.name}
		if !strings.Contains(test.name, "=") {
			env[0] += "=a=b"
		}
		var passes []string
		for _, s := range []Spec{row(t, "claude"), row(t, "codex"), mine()} {
			if slices.Contains(s.Command(Request{Env: env, Filter: f}).Env, env[0]) {
				passes = append(passes, s.Name)
			}
		}
		if len(f.Checks(env)) > 0 {
			passes = append(passes, "checks")
		}
		if got := strings.Join(passes, " "); got != test.passes {
			t.Errorf("%q: %s passes to %q, want %q", test.exclude, test.name, got, test.passes)
		}
	}
}

func TestEnvFilter_cloudKeys_passOnlyWhileTheAgentUsesThatCloud(t *testing.T) {
	const key = "AWS_SECRET_ACCESS_KEY=k"
	for value, passes := range map[string]bool{"CLAUDE_CODE_USE_BEDROCK=1": true, "CLAUDE_CODE_USE_VERTEX=true": true, "CLAUDE_CODE_USE_BEDROCK=0": false, "CLAUDE_CODE_USE_BEDROCK=": false, "A=1": false} {
		env := []string{key, value}
		if got := slices.Contains(row(t, "claude").Command(Request{Env: env}).Env, key); got != passes {
			t.Errorf("%s: passes %v, want %v", value, got, passes)
		}
		if slices.Contains(row(t, "codex").Command(Request{Env: env}).Env, key) || slices.Contains(EnvFilter{}.Checks(env), key) {
			t.Errorf("%s: another agent or a check gets the key", value)
		}
	}
}

func TestEnvFilter_modelOfACloud_passesItsKeysToOpencode(t *testing.T) {
	for _, test := range []struct{ model, key, env string }{
		{"amazon-bedrock/anthropic.claude-x", "AWS_SECRET_ACCESS_KEY", ""},
		{"google-vertex-anthropic/claude-x", "GOOGLE_APPLICATION_CREDENTIALS", ""},
		{"", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_VERTEX_PROJECT=p"},
		{"github-models/gpt-x", "GITHUB_TOKEN", ""},
		{"cloudflare-workers-ai/x", "CLOUDFLARE_API_TOKEN", ""},
	} {
		for _, other := range []string{"AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GITHUB_TOKEN", "CLOUDFLARE_API_TOKEN"} {
			r := Request{ArgvCall: ArgvCall{Model: test.model}, Env: []string{other + "=k", test.env}}
			if got := slices.Contains(row(t, "opencode").Command(r).Env, other+"=k"); got != (other == test.key) {
				t.Errorf("model %q, %s: %s passes: %v", test.model, test.env, other, got)
			}
			if slices.Contains(row(t, "codex").Command(r).Env, other+"=k") {
				t.Errorf("model %q: codex gets %s", test.model, other)
			}
		}
	}
}

func TestEnvFilter_withheld_isWhatNoRuleLetsThrough(t *testing.T) {
	env := []string{"PATH=/bin", "CLAUDECODE=1", "ANTHROPIC_API_KEY=k", "GITHUB_TOKEN=t", "NPM_TOKEN=n", "IS_SANDBOX=0", "A_TOKEN=a"}
	f := EnvFilter{Exclude: []string{"!NPM_TOKEN"}}
	got := f.Withheld(row(t, "claude"), Request{ArgvCall: ArgvCall{PermissionMode: PermitBypass}, Env: env, Root: true})
	if diff := cmp.Diff([]string{"A_TOKEN", "GITHUB_TOKEN"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCommand_envOfTheRow_isSetEvenIfItLooksLikeASecret(t *testing.T) {
	got := mine().Command(Request{Env: []string{"MY_TOKEN=outer"}, Filter: EnvFilter{Exclude: []string{"MY_*"}}}).Env
	if diff := cmp.Diff([]string{"MY_TOKEN=set"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpecs_keysAndBuiltInEntries_areValid(t *testing.T) {
	for _, s := range Specs() {
		keys := slices.Clone(s.Env.Keys)
		for _, cloud := range s.Env.Clouds {
			keys = append(keys, cloud.Keys...)
		}
		for _, key := range keys {
			if !validEnvEntry(key) || strings.HasPrefix(key, "!") {
				t.Errorf("%s: %q", s.Name, key)
			}
		}
	}
	for _, entry := range logs.SecretNameGlobs() {
		if !validEnvEntry(entry) {
			t.Errorf("%q", entry)
		}
	}
}

// For any entries, an agent gets what is not withheld, and the last entry decides for a check.
func TestEnvFilter_anyEntries_withheldAndCallAgree(t *testing.T) {
	entry := rapid.StringMatching(`!?[ABKEYTOKN_*?]{1,6}`)
	name := rapid.OneOf(rapid.StringMatching(`[ABKEYTOKN_/]{1,8}`), rapid.SampledFrom([]string{"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "CLAUDECODE", "PATH"}))
	rapid.Check(t, func(rt *rapid.T) {
		f := EnvFilter{Exclude: rapid.SliceOfN(entry, 0, 4).Draw(rt, "entries")}
		names := rapid.SliceOfNDistinct(name, 1, 8, rapid.ID[string]).Draw(rt, "names")
		var env []string
		for _, n := range names {
			env = append(env, n+"=v")
		}
		s := row(t, "claude")
		agent, held := s.Command(Request{Env: env, Filter: f}).Env, f.Withheld(s, Request{Env: env})
		for _, n := range names {
			if n != "CLAUDECODE" && slices.Contains(agent, n+"=v") == slices.Contains(held, n) { // it is of another session
				rt.Fatalf("%q: withheld %q, and the call has %q", f.Exclude, held, agent)
			}
		}
		f.Exclude = append(f.Exclude, names[0])
		if strings.Contains(names[0], "/") {
			return // no entry can name it
		}
		if names[0] == "PATH" {
			names[0], env[0] = "LANG", "LANG=v" // PATH always passes
			f.Exclude[len(f.Exclude)-1] = "LANG"
		}
		if slices.Contains(f.Checks(env), env[0]) {
			rt.Fatalf("%q passes although the last entry is its name", names[0])
		}
	})
}
