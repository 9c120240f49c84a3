package config

import (
	"strings"
	"testing"
)

// foreign are settings of other programs and of projects, which promise no protection.
var foreign = []string{
	"NETWORK_TIMEOUT=30", "NETWORK_NAME=dev", "BACKUP_DIR=old", "BACKUP_RETENTION=7", "GOOGLE_APPLICATION_CREDENTIALS=key.json",
	"AWS_CREDENTIALS=aws", "CREDENTIALS_FILE=c.json", "DB_TEST_URL=postgres", "TEST_DATABASE_URL=postgres", "COVERAGE_DIR=cov",
	"ESLINT_CONFIG=e.json", "PYTEST_ADDOPTS=-q", "PLAYWRIGHT_BROWSERS_PATH=b", "REVIEW_APP_URL=https://x",
	"BUILD_DIR=out", "BUILD_NUMBER=7", "TEST_USER=ann",
	"SECURITY_CONTACT=ann", "GUARDIAN_NAME=ann", "PERMISSIONS_TABLE=p", "reports:\n  coverage: cov.html",
	"ci:\n  provider: github", "docs:\n  theme: dark", "project:\n  owner: ann",
}

// unclear may promise something or not, such as a reviewer who is a person or an agent: they
// refuse, too.
var unclear = []string{
	"DOCKER_NETWORK=backend", "LINT_CONFIG=l.json", "SANDBOX_URL=https://x", "TEAM_REVIEWER=ann", "team:\n  reviewer: ann",
	"finance:\n  budget: 5000", "paths:\n  protected: infra", "docs:\n  readonly: true",
}

// protections are settings that somebody relies on.
var protections = []string{
	"NETWORK=off", "NO_NETWORK=1", "BLOCK_NETWORK=1", "NETWORK_POLICY=deny", "ALLOW_NETWORK=0", "BACKUP=1", "BACKUP_BEFORE_RUN=1", "HIDE_CREDENTIALS=1",
	"PROTECT_CREDENTIALS=1", "REQUIRE_TESTS=1", "TESTS_REQUIRED=1", "LINT_CMD=ruff", "LINTER=ruff", "COVERAGE=80", "COVERAGE_MIN=80", "MIN_COVERAGE=80", "BUDGET=5",
	"MAX_BUDGET=5", "DAILY_BUDGET=5", "REVIEWER=codex", "REQUIRE_REVIEW=1", "DENY_PATHS=src", "FORBIDDEN_COMMANDS=rm", "SAFE_MODE=1", "SECURITY_CHECK=make",
	"agent:\n  network: false", "test:\n  coverage: 80", "gates:\n  coverage: 80", "limits:\n  budget: 5", "quality:\n  reviewer: codex",
}

// The second set was written before its first run: then, 14 of these refused, and 4 of the protections did not.
var foreignToo = []string{
	"SECURITY_EMAIL=a@example.com", "GUARDIAN_API_URL=https://x", "REVIEWS_TABLE=reviews", "TEST_EMAIL=a@example.com", "DOCKER_HOST=unix:///x",
	"DOCKER_REGISTRY=images.example.com", "BUILD_ID=7", "CHECKOUT_URL=https://x", "NETWORK_INTERFACE=eth0", "JUDGE_NAME=ann", "SANDBOX_EMAIL=a@example.com",
	"artifacts:\n  coverage: cov.xml", "paths:\n  tests: spec", "contacts:\n  security: ann", "links:\n  security: https://x",
}

var protectionsToo = []string{
	"CONTAINER_NETWORK=none", "LINTER_CONFIG=strict.json", "REMOTE_SANDBOX=https://x", "PERMISSIONS_FILE=perm.json", "SECURITY_LEVEL=high",
	"GUARD_PATHS=infra", "PRE_PUSH=make", "KEEP_OUT=infra", "SPENDING_CAP=10", "HUMAN_IN_THE_LOOP=1", "NEVER_TOUCH=db",
	"team:\n  qa: codex", "project:\n  budget: 20", "ci:\n  coverage: 90", "reports:\n  coverage_min: 90",
}

func TestLoad_foreignSettings_refuseOnlyWhatPromisesProtection(t *testing.T) {
	for list, want := range map[*[]string]bool{&foreign: false, &protections: true, &unclear: true, &foreignToo: false, &protectionsToo: true} {
		wrong := 0
		for _, text := range *list {
			dir, name := t.TempDir(), rcName
			if strings.Contains(text, ":\n") {
				name = yamlName
			}
			write(t, dir, name, text)
			_, _, err := (Loader{Dir: dir, Home: dir}).Load()
			if refused := err != nil; refused != want {
				wrong++
				t.Errorf("%q: refused %v: %v", text, refused, err)
			}
		}
		t.Logf("wrong: %d of %d (want refused: %v)", wrong, len(*list), want)
	}
}

func TestLoad_promiseThatRalphKeepsUnderAnotherName_namesIt(t *testing.T) {
	for text, want := range map[string]string{
		"DOCKER_NETWORK=backend": "; ralph has SANDBOX_NET; correct", "DOCKER=1": "; ralph has SANDBOX; correct",
		"TEAM_REVIEWER=ann": "; ralph has QA or JUDGES; correct", "MONTHLY_BUDGET=5": "; ralph has MAX_COST_USD; correct",
		"PRE_PUSH=make": "; ralph has HOOK_PRE_COMMIT and other hooks; correct", "BACKUP=1": "; ralph has `ralph undo`; correct",
		"SECURITY_LEVEL=high": "; ralph has a row of checks in .ralph/config.yaml; correct",
		"PROTECTED_PATHS=src": "does not have; correct", "HUMAN_IN_THE_LOOP=1": "does not have; correct",
	} {
		dir := t.TempDir()
		write(t, dir, rcName, text)
		if _, _, err := (Loader{Dir: dir, Home: dir}).Load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
