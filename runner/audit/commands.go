package audit

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

var commandPatterns = sync.OnceValue(func() (p struct{ check, hide, always, idle, owner, judges, swallow *regexp.Regexp }) {
	const tools = `go (?:test|vet)|cargo (?:\w+ )*(?:test|clippy|nextest)|pytest|unittest|tox|nox|jest|` +
		`vitest|mocha|ava|eslint|golangci-lint|ruff|flake8|mypy|tsc|rspec|bats|ctest|` +
		`(?:npm|yarn|pnpm)(?: run)? (?:\w+:)*(?:test|lint|check|typecheck|coverage)|` +
		`shellcheck|hadolint|yamllint|stylelint|pylint|pyright|staticcheck|rubocop|phpstan|cargo fmt.*--check|` +
		`(?:black|prettier|rustfmt) --check|make (?:[\w-]+ )*(?:test|lint|check|vet)(?:[-_]\w+)?|` +
		`mvn (?:\S+ )*(?:test|verify)|gradlew? (?:\S+ )*(?:test|check)`
	const narrow = `[\s"'](?:-run|-k|--ignore|--deselect|--testNamePattern|--testPathIgnorePatterns)[ =]`
	p.check = regexp.MustCompile(`\b(?:` + tools + `)(?:$|[\s"';&|:])`)
	p.hide = regexp.MustCompile(`\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|:|exit 0)\s*["']?$|` +
		`--passWithNoTests|--exit-zero|--issues-exit-code[= ]0|--no-verify|^@?-@?\w|` + narrow)
	p.always = regexp.MustCompile(`^(?:continue-on-error|allow_failure):\s*true|^ignore_errors\s*=\s*[Tt]rue|` +
		`^addopts.*` + narrow)
	p.judges = regexp.MustCompile(`(?i)test|check|lint|verify|spec|\bci\b`)
	p.swallow = regexp.MustCompile(`\|\|\s*(?:true|:|exit 0|echo\b)|;\s*(?:true|:|exit 0)\b|[^|]\|\s*(?:grep|sed|awk|cat|tee|head|tail)\b`)
	p.owner = regexp.MustCompile(`^(?:make|npm run) \S+: `)
	p.idle = regexp.MustCompile(`^(?:- )?(?:(?:make |npm run )?[\w:.-]+:)?\s*["']?[@-]*(?:echo|printf|true|exit 0)\b`)
	return p
})

// runsCheck reports whether a line runs a check, or is part of such a target, and does
// more than print.
func runsCheck(line string) bool {
	return commandPatterns().check.MatchString(line) && !commandPatterns().idle.MatchString(line)
}

// hidesFailure reports whether an added line ignores the failure of a check or narrows a check,
// and no removed line did the same. A task about such files may decide which jobs may
// fail.
func hidesFailure(line string, lost []string, asked bool) bool {
	target := commandPatterns().owner.FindString(line)
	line = strings.TrimPrefix(line, target)
	hidden := ""
	if !asked {
		hidden = commandPatterns().always.FindString(line)
	}
	if hidden == "" && commandPatterns().check.MatchString(line) {
		hidden = commandPatterns().hide.FindString(line)
	}
	for _, l := range lost { // whatever a target for tests runs is a check: "./t" becomes "./t | grep -v FAIL || true"
		was := strings.TrimLeft(strings.TrimPrefix(l, target), "@-")
		if before, after, same := strings.Cut(line, was); same && was != "" && strings.HasPrefix(l, target) && !strings.Contains(line, "pipefail") && commandPatterns().judges.MatchString(target) {
			if strings.Trim(before, "@-") == "" && strings.Contains(before, "-") && !strings.Contains(l, "-"+was) {
				return true // make ignores what it returns
			}
			hidden = cmp.Or(hidden, commandPatterns().swallow.FindString(after))
		}
	}
	return hidden != "" && !slices.ContainsFunc(lost, func(l string) bool { return strings.Contains(l, hidden) })
}

// narrower match arguments with which a check runs fewer tests.
var narrower = lazy.Regexp(`\s(?:-short|-skip[ =]\S+|-m (?:"not [^"]*"|'not [^']*')|--grep[ =]\S+|--skip[ =]\S+|` +
	`--lib|--testPathIgnorePatterns[ =]\S+)`)

// narrowed reports whether a line that runs a check replaces one that only lacks an argument to leave tests out.
func narrowed(line string, lost []string) bool {
	bare := narrower().ReplaceAllString(line, "")
	return bare != line && commandPatterns().check.MatchString(line) && slices.Contains(lost, bare)
}
