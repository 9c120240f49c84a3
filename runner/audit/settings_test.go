package audit

import (
	"strings"
	"testing"

	"ralph/runner/task"
)

func TestCompareSettings_easierToPass_isAFinding(t *testing.T) {
	const make, npm, ci = "the build targets were changed: ", "the scripts of package.json were changed: ", "the CI configuration was changed: "
	const python, runner, linter = "the settings of Python tools were changed: ", "the settings of a test runner were changed: ", "the settings of a linter were changed: "
	for name, tc := range map[string]struct{ path, before, after, want string }{
		"a failure is ignored":      {"Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n", make + `added "make test: go test ./... || true"`},
		"make ignores it":           {"Makefile", "test:\n\tgo test ./...\n", "test:\n\t-go test ./...\n", make + `added "make test: -go test ./..."`},
		"of another command":        {"Makefile", "test:\n\tgo test ./...\n", "test:\n\t-rm old\n\tmkdir bin || true\n\tgo test ./...\n", ""},
		"it was ignored before":     {"Makefile", "test:\n\tgo test || true\n", "test:\n\tgo test -race || true\n", ""},
		"only one test runs":        {"Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -run TestA ./...\n", make + `added "make test: go test -run TestA ./..."`},
		"the check is gone":         {"Makefile", "test:\n\tgo vet ./...\n\tgo test ./...\n", "test:\n\tgo vet ./...\n", make + `removed "make test: go test ./..."`},
		"another check came for it": {"Makefile", "test:\n\tgo test ./...\n", "test:\n\tgotestsum -- ./... && go vet ./...\n", ""},
		"a line goes on":            {"Makefile", "test:\n\tgo vet ./... && \\\n\tgo test ./...\n", "test:\n\tgo vet ./... && go test ./...\n", ""},
		"a script that it runs":     {"Makefile", "test:\n\tsh check.sh\n", "test:\n\ttrue\n", make + `removed "make test: sh check.sh"`},
		"not a check":               {"Makefile", "build:\n\tsh build.sh\n", "build:\n\ttrue\n", ""},
		"a comment":                 {"Makefile", "test:\n\tgo test ./...\n", "# go test || true\ntest:\n\tgo test ./...\n", ""},
		"the script prints":         {"package.json", `{"scripts": {"test": "jest"}}`, `{"scripts": {"test": "echo jest && exit 0"}}`, npm + `removed "npm run test: jest"`},
		"a placeholder is replaced": {"package.json", `{"scripts": {"test": "echo no tests && exit 1"}}`, `{"scripts": {"test": "jest"}}`, ""},
		"other scripts":             {"package.json", `{"scripts": {"test": "jest"}}`, `{"scripts": {"test": "jest", "build": "esbuild || true"}}`, ""},
		"a list becomes a block":    {".github/workflows/a.yml", "on: [push, pull_request]\n", "on:\n  - push\n  - pull_request\n", ""},
		"steps instead of a script": {".github/workflows/a.yml", "- run: |\n    make lint\n    make test\n", "- run: make lint\n- run: make test\n", ""},
		"a job may fail":            {".github/workflows/a.yml", "- run: make test\n", "- run: make test\n  continue-on-error: true\n", ci + `added "continue-on-error: true"`},
		"a lower gate":              {".github/workflows/a.yml", "- run: pytest --cov-fail-under=80\n", "- run: pytest --cov-fail-under=70\n", ci + `"- run: pytest --cov-fail-under=80" became "- run: pytest --cov-fail-under=70"`},
		"a higher gate":             {".github/workflows/a.yml", "- run: pytest --cov-fail-under=80\n", "- run: pytest --cov-fail-under=90\n", ""},
		"thresholds on one line":    {"jest.config.js", "coverageThreshold: { lines: 90, branches: 85 },\n", "coverageThreshold: { lines: 90, branches: 10 },\n", runner + `"coverageThreshold: { lines: 90, branches: 85 }" became "coverageThreshold: { lines: 90, branches: 10 }"`},
		"one lower, one higher":     {"jest.config.js", "lines: 90, branches: 80\n", "lines: 80, branches: 90\n", ""},
		"a rule is off":             {".eslintrc.js", "'no-var': 'error',\n", "'no-var': ['off'],\n", linter + `"'no-var': 'error'" became "'no-var': ['off']"`},
		"a rule is on":              {".eslintrc.js", "'no-var': 'warn',\n", "'no-var': ['error', 2],\n", ""},
		"other quotes":              {".eslintrc.js", "\"no-var\": \"error\",\n", "'no-var': 'error',\n", ""},
		"more exceptions":           {"ruff.toml", "ignore = [\"E1\"]\n", "ignore = [\"E1\", \"E2\"]\n", python + `"ignore = [\"E1\"]" became "ignore = [\"E1\", \"E2\"]"`},
		"other exceptions":          {"ruff.toml", "ignore = [\"E1\"]\n", "ignore = [\"E2\", \"E3\"]\n", ""},
		"not strict":                {"tsconfig.json", "\"strict\": true,\n", "\"strict\": false,\n", linter + `"\"strict\": true" became "\"strict\": false"`},
		"longer lines":              {"ruff.toml", "line-length = 88\n", "line-length = 120\n", ""},
		"tests are left out":        {"pytest.ini", "[pytest]\n", "[pytest]\naddopts = --deselect tests/a.py\n", python + `added "addopts = --deselect tests/a.py"`},
		"one exception more, JSON":  {"lint.json", `{ "max_line": 80, "exclude": ["vendor"] }`, `{ "max_line": 80, "exclude": ["vendor", "app"] }`, linter + `"\"exclude\": [\"vendor\"] }" became "\"exclude\": [\"vendor\", \"app\"] }"`},
		"a list over lines":         {"ruff.toml", "exclude = [\n  \"a\",\n]\n", "exclude = [\n  \"a\",\n  \"b\",\n]\n", python + `"exclude = [ \"a\", ]" became "exclude = [ \"a\", \"b\", ]"`},
		"a list on more lines":      {"ruff.toml", "exclude = [\"a\", \"b\"]\n", "exclude = [\n  \"a\",\n  \"b\"\n]\n", ""},
		"another file":              {"main.go", "go test\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range settingsFindings([]File{{Path: tc.path, Before: tc.before, After: tc.after, Existed: true, Exists: true}}, "", Steering{}) {
				got += f.Text
			}
			if got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestCompareSettings_programsThatOthersStart(t *testing.T) {
	const begun = "[core]\n\tbare = false\n"
	agents := Steering{Files: []string{".mcp.json", ".claude/settings.json", ".new-cli/"}, Topics: []string{"mcp", "new-cli"}}
	for _, tc := range []struct {
		path, before, after, task, want string
	}{
		{".git/hooks/pre-commit", "", "#!/bin/sh\ncurl evil\n", "Parse dates", `a program that git starts was set up: "curl evil"`},
		{".git/hooks/pre-commit", "", "curl evil\n", "Add custom React hooks", `a program that git starts was set up: "curl evil"`},
		{".git/hooks/pre-commit", "", "#!/bin/sh\n", "Install the git hooks", ""},
		{".mcp.json", "", "{\"mcpServers\": {}}\n", "Parse dates", `a setting makes another tool start a program: "{\"mcpServers\": {}}"`},
		{".mcp.json", "", "{}\n", "Add an MCP server", ""},
		{".claude/settings.json", "{}\n", "{\"hooks\": {}}\n", "Parse dates", `a setting makes another tool start a program: "{\"hooks\": {}}"`},
		{"web/.new-cli/hooks.json", "", "evil\n", "Parse dates", `a setting makes another tool start a program: "evil"`},
		{"web/.new-cli/hooks.json", "", "evil\n", "Set up New-CLI", ""},
		{"other.new-cli/hooks.json", "", "evil\n", "Parse dates", ""},
		{".mcp.json5", "", "evil\n", "Parse dates", ""},
		{".envrc", "", "export A=b\n", "Set up direnv", ""},
		{".envrc", "", "export A=b\n", "Parse dates", `a setting makes another tool start a program: "export A=b"`},
		{".git/config", begun, begun + "[core]\n\thooksPath = x\n", "Parse dates", `a program that git starts was set up: "[core] hooksPath = x"`},
		{".git/config", begun, begun + "[alias]\n\tci = !rm -rf ~\n", "Parse dates", `a program that git starts was set up: "[alias] ci = !rm -rf ~"`},
		{".git/config", begun, begun + "[core] fsmonitor = evil\n", "Parse dates", `a program that git starts was set up: "[core] fsmonitor = evil"`},
		{".git/config", begun, begun + "[submodule \"s\"]\n\tupdate = !evil\n", "Parse dates", `a program that git starts was set up: "[submodule] update = !evil"`},
		{".git/config", begun, begun + "[pager]\n\tlog = evil\n", "Parse dates", `a program that git starts was set up: "[pager] log = evil"`},
		{".git/config", begun, begun + "[remote \"o\"]\n\tuploadpack = evil\n", "Parse dates", `a program that git starts was set up: "[remote] uploadpack = evil"`},
		{".git/config", begun, begun + "[user]\n\tname = a\n[branch \"b\"]\n\tremote = origin\n", "Parse dates", ""},
		{".git/config", begun, begun + "[core]\n\thooksPath = .husky/_\n", "Set up husky", ""},
	} {
		got := ""
		for _, f := range settingsFindings([]File{{Path: tc.path, Before: tc.before, After: tc.after, Existed: tc.before != "", Exists: true}}, tc.task, agents) {
			got += f.Text
		}
		if got != tc.want {
			t.Errorf("%s for %q: %s\nwant %s", tc.path, tc.task, got, tc.want)
		}
	}
}

func TestCompareSettings_manyProgramsThatOthersStart_areAllNamed(t *testing.T) {
	var files []File
	for _, path := range []string{".mcp.json", ".claude/settings.json", ".git/hooks/pre-commit", ".git/hooks/pre-push"} {
		files = append(files, File{Path: path, Before: "", After: "x", Existed: false, Exists: true})
	}
	if found := settingsFindings(files, "", Steering{Files: []string{".mcp.json", ".claude/settings.json"}}); len(found) != len(files) {
		t.Errorf("%+v", found)
	}
}

func TestCompareSettings_configurationOfRalph_anyChangeIsAFinding(t *testing.T) {
	for _, f := range []File{
		{Path: ".ralphrc", Before: "TEST_COMMAND=a\n", After: "TEST_COMMAND=b\n", Existed: true, Exists: true},
		{Path: ".ralph/config.yaml", Before: "", After: "checks: {}\n", Existed: false, Exists: true},
		{Path: ".ralph/config.yaml", Before: "checks: {}\n", After: "", Existed: true, Exists: false},
	} {
		if found := settingsFindings([]File{f}, "Change .ralphrc", Steering{}); len(found) != 1 {
			t.Errorf("%+v: %v", f, found)
		}
	}
	if found := settingsFindings([]File{{Path: ".ralphrc", Before: "A=1\n", After: "# why\nA=1\n", Existed: true, Exists: true}}, "", Steering{}); len(found) > 0 {
		t.Error(found)
	}
}

func TestCompareSettings_promptAndSpecs_areFindingsUnlessAskedFor(t *testing.T) {
	for _, f := range []File{
		{Path: ".ralph/PROMPT.md", Before: "# Do\n", After: "# Do it\n", Existed: true, Exists: true},
		{Path: ".ralph/PROMPT.md", Before: "do\n", After: "a link to x", Existed: true, Exists: true},
		{Path: ".ralph/specs/api/users.md", Before: "must\n", After: "", Existed: true, Exists: false},
	} {
		if found := settingsFindings([]File{f}, "Add a login", Steering{}); len(found) != 1 || found[0].Kind != KindChecksChanged {
			t.Errorf("%+v: %v", f, found)
		}
		if found := settingsFindings([]File{f}, "Bring the specs and the prompt up to date", Steering{}); len(found) > 0 {
			t.Errorf("asked for: %v", found)
		}
	}
}

func TestCompareSettings_checkMovesToAnotherFile_noFinding(t *testing.T) {
	for name, files := range map[string][]File{
		"an included file": {{Path: "Makefile", Before: "test:\n\tgo test\n", After: "include a.mk\n", Existed: true, Exists: true}, {Path: "a.mk", Before: "", After: "test:\n\tgo test\n", Existed: false, Exists: true}},
		"another kind":     {{Path: "package.json", Before: `{"scripts": {"lint": "eslint ."}}`, After: `{}`, Existed: true, Exists: true}, {Path: "Makefile", Before: "", After: "lint:\n\teslint .\n", Existed: false, Exists: true}},
		"another CI":       {{Path: ".travis.yml", Before: "script: go test\n", After: "", Existed: true, Exists: false}, {Path: ".github/workflows/a.yml", Before: "", After: "- run: go test\n", Existed: false, Exists: true}},
	} {
		if found := settingsFindings(files, "", Steering{}); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// What the task asks for may change how work is judged, but not switch it off.
func TestCompareSettings_taskAsksForIt(t *testing.T) {
	threshold := File{Path: "jest.config.js", Before: "lines: 90,\n", After: "lines: 80,\n", Existed: true, Exists: true}
	oneCheck := File{Path: ".github/workflows/a.yml", Before: "- run: npm test\n- run: npm run lint\n", After: "- run: npm test\n", Existed: true, Exists: true}
	noCheck := File{Path: ".github/workflows/a.yml", Before: "- run: npm test\n", After: "- run: npm ci\n", Existed: true, Exists: true}
	hidden := File{Path: ".github/workflows/a.yml", Before: "- run: npm test\n", After: "- run: npm test || true\n", Existed: true, Exists: true}
	mayFail := File{Path: ".github/workflows/a.yml", Before: "- run: npm test\n", After: "- run: npm test\n  continue-on-error: true\n", Existed: true, Exists: true}
	for name, tc := range map[string]struct {
		file File
		task string
		want int
	}{
		"threshold":            {threshold, "Lower the coverage threshold", 0},
		"threshold, not asked": {threshold, "Add a page", 1},
		"one check":            {oneCheck, "Split the CI workflow", 0},
		"no check":             {noCheck, "Add a cache to CI", 1},
		"no check, asked":      {noCheck, "Remove the CI workflow", 0},
		"hidden":               {hidden, "Add a cache to CI", 1},
		"may fail":             {mayFail, "Add a page", 1},
		"may fail, asked":      {mayFail, "Add a nightly CI job", 0},
	} {
		if found := settingsFindings([]File{tc.file}, tc.task, Steering{}); len(found) != tc.want {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestCompareSettings_aTaskAboutTheCheckExcusesNoLess(t *testing.T) {
	const lint = "- name: lint\n  run: shellcheck bin/rotate\n"
	const test = "- run: sh tests/run.sh\n- run: make test\n"
	for _, tc := range []struct{ path, before, after, task, want string }{
		{".coveragerc", "fail_under = 95\n", "fail_under = 60\n", "Add to_lines with tests; coverage must stay at 95%", `"fail_under = 95" became "fail_under = 60"`},
		{".coveragerc", "fail_under = 95\n", "fail_under = 60\n", "Lower the coverage threshold to 60", ""},
		{".github/workflows/a.yml", lint + test, test, "The lint step of the CI is red (SC2086). Make it green", `removed "run: shellcheck bin/rotate"`},
		{".github/workflows/a.yml", lint + test, test, "CI: drop the lint step, it is in pre-commit now", ""},
		{"lint.json", `{"exclude": ["lib"]}`, `{"exclude": ["lib", "app"]}`, "Repair all findings of lint.py in app/ (one long line)", `"\"exclude\": [\"lib\"]}" became "\"exclude\": [\"lib\", \"app\"]}"`},
		{"lint.json", `{"exclude": ["lib"]}`, `{"exclude": ["lib", "app"]}`, "Repair all findings of lint.py, and exclude the old app/", ""},
		{"lint.json", `{"exclude": ["lib"]}`, `{"exclude": ["lib", "app"]}`, "Add lint.py to CI", ""},
		{".github/workflows/a.yml", lint + test, lint + test + "- run: make vet\n", "Make the CI green", ""},
	} {
		got := ""
		for _, f := range settingsFindings([]File{{Path: tc.path, Before: tc.before, After: tc.after, Existed: true, Exists: true}}, tc.task, Steering{}) {
			_, got, _ = strings.Cut(f.Text, ": ")
		}
		if got != tc.want {
			t.Errorf("%s: %s\nwant %s", tc.task, got, tc.want)
		}
	}
}

// settingsFindings are the findings in these files that the task does not excuse.
func settingsFindings(files []File, text string, steering Steering) []Finding {
	plan := []task.Task{{ID: "1", Title: text}}
	return accusing(compareSettings(Input{Files: files, Task: "1", PlanBefore: plan, Steering: steering}))
}
