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
	"ci:\n  provider: github", "docs:\n  theme: dark", "project:\n  owner: ann",
}

// unclear may promise something or not: the key alone does not tell, so they refuse, too.
var unclear = []string{
	"DOCKER_NETWORK=backend", "LINT_CONFIG=l.json", "SANDBOX_URL=https://x", "TEAM_REVIEWER=ann", "SECURITY_CONTACT=ann", "GUARDIAN_NAME=ann", "PERMISSIONS_TABLE=p",
	"team:\n  reviewer: ann", "reports:\n  coverage: cov.html", "finance:\n  budget: 5000",
}

// protections are settings that somebody relies on.
var protections = []string{
	"NETWORK=off", "NO_NETWORK=1", "BLOCK_NETWORK=1", "NETWORK_POLICY=deny", "ALLOW_NETWORK=0", "BACKUP=1", "BACKUP_BEFORE_RUN=1", "HIDE_CREDENTIALS=1",
	"PROTECT_CREDENTIALS=1", "REQUIRE_TESTS=1", "TESTS_REQUIRED=1", "LINT_CMD=ruff", "LINTER=ruff", "COVERAGE=80", "COVERAGE_MIN=80", "MIN_COVERAGE=80", "BUDGET=5",
	"MAX_BUDGET=5", "DAILY_BUDGET=5", "REVIEWER=codex", "REQUIRE_REVIEW=1", "DENY_PATHS=src", "FORBIDDEN_COMMANDS=rm", "SAFE_MODE=1", "SECURITY_CHECK=make",
	"agent:\n  network: false", "test:\n  coverage: 80", "gates:\n  coverage: 80", "limits:\n  budget: 5", "quality:\n  reviewer: codex",
}

func TestLoad_foreignSettings_refuseOnlyWhatPromisesProtection(t *testing.T) {
	for list, want := range map[*[]string]bool{&foreign: false, &protections: true, &unclear: true} {
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
