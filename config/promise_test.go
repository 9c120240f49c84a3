package config

import (
	"strings"
	"testing"
)

func TestLoad_unknownKeyThatReadsLikeAProtection_refusesToStart(t *testing.T) {
	for _, key := range []string{
		"READ_ONLY", "READONLY", "READ_ONLY_PATHS", "NETWORK", "NO_NETWORK", "NETWORK_ACCESS", "OFFLINE", "NO_INTERNET", "FIREWALL",
		"BACKPRESSURE", "BACK_PRESSURE", "E2E", "E2E_COMMAND", "RUN_E2E", "END_TO_END_COMMAND", "QUALITY_GATE", "QUALITY", "SMOKE_COMMAND",
		"PRE_COMMIT", "PRECOMMIT", "STRICT", "STRICT_MODE", "ESLINT", "PLAYWRIGHT", "PYTEST", "GITLEAKS", "UNITTEST", "TEST2_COMMAND",
		"VERIFICATION", "VALIDATION_COMMAND", "VALIDATORS", "SECURITY_SCAN", "COVERAGE_THRESHOLD", "BUDGET", "BUDGET_USD", "MAX_SPEND",
		"RESTRICT_TO", "RESTRICTED_PATHS", "EXCLUDE", "EXCLUDED_PATHS", "DO_NOT_TOUCH", "OFF_LIMITS", "NO_PUSH", "WRITABLE_PATHS",
		"REQUIRE_APPROVAL", "APPROVAL_MODE", "ENFORCE_PLAN", "TRUSTED_PATHS", "FROZEN_FILES", "LOCKED_FILES", "IMMUTABLE_PATHS",
		"NO_SUDO", "DANGEROUS_COMMANDS", "DESTRUCTIVE", "ROLLBACK", "STOP_ON_ERROR", "REVIEWERS", "REDACT", "CREDENTIALS",
		"TYPE_CHECK", "WHITE_LIST", "JAIL", "CONTAINED", "ACCEPTANCE_COMMAND", "REGRESSION", "INVARIANTS", "PREVENT_DELETION",
	} {
		for file, text := range map[string]string{
			rcName: key + "=yes", yamlName: strings.ToLower(key) + ": yes", "nested": "mine:\n  deep:\n    " + strings.ToLower(key) + ": yes",
			"in a list": "pipeline:\n- name: a\n  " + strings.ToLower(key) + ": yes",
		} {
			dir, name := t.TempDir(), yamlName
			if file == rcName {
				name = rcName
			}
			write(t, dir, name, text)
			if _, _, err := (Loader{Dir: dir, Home: dir}).Load(); err == nil || !strings.Contains(err.Error(), "reads like a check or a protection") {
				t.Errorf("%s, %s: %v", key, file, err)
			}
		}
	}
}

func TestLoad_unknownKeyThatPromisesNothing_isAWarning(t *testing.T) {
	for _, key := range []string{
		"THEME", "LOG_LEVEL", "EDITOR", "NODE", "DOTNET_ROOT", "NAME", "VERSION", "STYLE", "COLOR", "LATEST", "GREETING", "OWNER",
		"REQUIREMENTS_FILE", "LOCK_FILE", "DEPLOY_KEYWORDS", "REGION", "BRANCH", "BASE_URL", "HTTP_PROXY", "GREATEST", "UNITS", "WORKFORCE",
		"INTEGRATIONS", "LANGUAGE", "TIMEZONE", "READ_TIMEOUT", "ONLY", "MY_NOTES", "NETWORTH", "CONTEST", "FORMAT", "DEBUG", "PORT",
	} {
		dir := t.TempDir()
		write(t, dir, rcName, key+"=yes")
		write(t, dir, yamlName, "mine: {"+strings.ToLower(key)+": yes}")
		if _, warnings, err := (Loader{Dir: dir, Home: dir}).Load(); err != nil || len(warnings) != 2 {
			t.Errorf("%s: %v, %v", key, warnings, err)
		}
	}
}

func TestLoad_unknownProtectionInYAML_isNamedWithItsPath(t *testing.T) {
	for text, want := range map[string]string{
		"quality: {gate: make}":                        `:1: unknown key "quality"`,
		"project:\n  readOnly: true":                   `:2: unknown key "project.readOnly"`,
		"agent:\n  extra:\n    noNetwork: true":        `:3: unknown key "agent.extra.noNetwork"`,
		"stages:\n- name: a\n- name: b\n  e2e: make":   `:4: unknown key "stages.e2e"`,
		"theme:\n  name: dark\n  verify:":              "",
		"stages: [{name: a}, {name: b, args: [test]}]": "",
	} {
		dir := t.TempDir()
		write(t, dir, yamlName, text)
		_, warnings, err := (Loader{Dir: dir, Home: dir}).Load()
		if want == "" && (err != nil || len(warnings) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v; want %q", text, warnings, err, want)
		}
	}
}
