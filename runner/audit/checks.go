package audit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// judge is one row: a kind of file that says how work is judged.
type judge struct {
	name  string
	files *regexp.Regexp // whole path
	// part takes out of the file what judges; nil: all of it.
	part func(text string) string
	// easier finds in an added line what makes the checks easier to pass.
	easier *regexp.Regexp
	// asked finds in the task that it asks for such a change; nil: never.
	asked *regexp.Regexp
	// runs finds a line that runs a check: it may be replaced then, not dropped;
	// nil: none.
	runs *regexp.Regexp
}

const (
	easierCommand = `\|\|\s*(?:true|:|exit 0|echo)|[^|]\|\s*(?:cat|tee|head|tail|grep)\b|;\s*(?:true|:)(?:\s|$)|continue-on-error:\s*true|allow_failure:\s*true|\bexit 0\b|\bif:\s*(?:false|\$\{\{ *false)|` +
		`--passWithNoTests|--?skip\b|\s-run\b|\s-short\b|--?ignore\b|--deselect|\s-k\s|\s-t\s|--testNamePattern|--testPathIgnore|--?exclude\b|\bset \+e\b|--no-verify|--max-warnings[= ]*[1-9-]|--exit-zero|--issues-exit-code|^\s*-@?\w|\.SILENT|\.IGNORE|paths-ignore|workflow_dispatch`
	easierRule = `(?i)disable|ignor|exclu|skip|deselect|nolint|xfail|passWithNoTests|threshold|fail_under|\b(?:off|false|allow|warn|none|omit|no-|max|per-file|except)`
	runsCheck  = `^\s*(?:-\s*)?(?:(?:run|uses|script|command|args):)?[^:]*\b(?:tests?|lint\w*|checks?|vet|verify|validate|clippy|pytest|jest|vitest|mocha|eslint|ruff|mypy|tox|nox|tsc|golangci|coverage|typecheck|ci/run)\b(?:[^:].*)?$`
	wantsCI    = `(?i)\b(?:add|set up|setup|create|configure|introduce|extend|change|update|write|enable|move|migrate|bump|adjust|release)\b[^.\n]*\b(?:ci|workflows?|pipelines?|github actions?|actions|continuous integration|jobs?|matrix|release)\b`
	wantsLint  = `(?i)\b(?:add|set up|setup|create|configure|introduce|extend|change|update|write|enable|adopt|migrate|switch|adjust|relax|tighten)\b[^.\n]*\b(?:lint(?:er|ers|ing)?|golangci|eslint|ruff|flake8|mypy|clippy|prettier|biome|rules?|strict mode|type.?check\w*)\b`
	wantsTests = `(?i)\b(?:add|set up|setup|create|configure|introduce|extend|change|update|write|enable|migrate|switch|move|adopt|adjust|rename)\b[^.\n]*\b(?:test (?:scripts?|commands?|targets?|runner|setup|configuration|config|framework)|makefile|make targets?|npm scripts?|scripts?|jest|vitest|mocha|pytest|tox|nox|coverage|cargo|packaging|pyproject|build (?:scripts?|system|target))\b`
)

var judges = sync.OnceValue(func() []judge {
	re := regexp.MustCompile
	return []judge{
		{"the configuration of ralph", re(`(?:^|/)\.ralphrc$|(?:^|/)\.ralph/config\.ya?ml$`), nil, re(`.`), nil, nil},
		{"the CI configuration", re(`^\.github/workflows/[^/]+\.ya?ml$|^\.gitlab-ci\.ya?ml$|^\.circleci/config\.ya?ml$|^azure-pipelines\.ya?ml$|^Jenkinsfile$|^\.travis\.ya?ml$|^\.buildkite/|^\.drone\.ya?ml$|^\.woodpecker`), nil, re(easierCommand), re(wantsCI), re(runsCheck)},
		{"the make targets", re(`(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$|(?:^|/)[Jj]ustfile$|(?:^|/)Taskfile\.ya?ml$`), makeTargets, re(easierCommand), re(wantsTests), nil},
		{"the scripts of package.json", re(`(?:^|/)package\.json$`), packageScripts, re(easierCommand + `|\bignore|\bfalse\b|"off"`), re(wantsTests), nil},
		{"the check scripts", re(`(?:^|/)(?:run[-_])?(?:tests?|checks?|lint|ci|verify|validate)(?:[-_]\w+)?\.(?:sh|bash)$|(?:^|/)noxfile\.py$|(?:^|/)\.husky/|(?:^|/)lefthook\.ya?ml$|(?:^|/)\.pre-commit-config\.ya?ml$`), nil, re(easierCommand), re(wantsTests), nil},
		{"the Go linter configuration", re(`(?:^|/)\.golangci\.(?:ya?ml|toml|json)$|(?:^|/)staticcheck\.conf$|(?:^|/)revive\.toml$`), nil, re(easierRule), re(wantsLint), nil},
		{"the eslint configuration", re(`(?:^|/)\.eslintrc(?:\.\w+)?$|(?:^|/)eslint\.config\.\w+$|(?:^|/)\.eslintignore$|(?:^|/)tslint\.json$|(?:^|/)biome\.jsonc?$|(?:^|/)\.stylelintrc|(?:^|/)\.oxlintrc`), nil, re(easierRule + `|:\s*0\b|\[0`), re(wantsLint), nil},
		{"the compiler's strictness", re(`(?:^|/)tsconfig[\w.]*\.json$`), lines(`"(?:strict\w*|no(?:Implicit|Unused|Unchecked|Fallthrough|Property)\w*|exclude|skipLibCheck|checkJs|exactOptional\w*)"`), re(`false|"exclude"|"skipLibCheck"\s*:\s*true`), re(wantsLint), nil},
		{"the Python tool configuration", re(`(?:^|/)(?:\.flake8|\.?ruff\.toml|\.pylintrc|mypy\.ini|\.bandit|pyrightconfig\.json|\.mypy\.ini)$`), nil, re(easierRule), re(wantsLint), nil},
		{"the Python tool configuration", re(`(?:^|/)pyproject\.toml$`), sections(`^tool\.(?:pytest|ruff|mypy|coverage|pylint|flake8|black|pyright|tox|bandit|isort)`), re(easierRule + `|addopts.*(?:-k|--)`), re(wantsTests + `|` + wantsLint), nil},
		{"the Python tool configuration", re(`(?:^|/)setup\.cfg$`), sections(`^(?:flake8|tool:pytest|mypy|pylint|coverage|isort|pycodestyle)`), re(easierRule + `|addopts.*(?:-k|--)`), re(wantsTests + `|` + wantsLint), nil},
		{"the test runner's configuration", re(`(?:^|/)(?:pytest\.ini|tox\.ini|\.coveragerc|(?:jest|vitest|playwright|cypress|karma|ava|nyc)\.(?:config|conf|workspace)\.\w+|\.mocharc\.?\w*|\.nycrc(?:\.json)?|nextest\.toml|\.?codecov\.ya?ml)$`), nil, re(easierRule + `|\s-k\s|--\w|pattern|\bonly\b`), re(wantsTests), nil},
		{"the Rust lint configuration", re(`(?:^|/)(?:\.?clippy\.toml|deny\.toml)$`), nil, re(easierRule), re(wantsLint), nil},
		{"the Rust lint configuration", re(`(?:^|/)Cargo\.toml$`), sections(`^(?:workspace\.)?lints|^\[?(?:test|lib|bin)\b`), re(easierRule), re(wantsLint + `|` + wantsTests), nil},
		{"the shell linter configuration", re(`(?:^|/)\.shellcheckrc$`), nil, re(easierRule), re(wantsLint), nil},
		{"the editor rules", re(`(?:^|/)\.editorconfig$|(?:^|/)\.prettierignore$`), nil, re(`(?i)\b(?:ignore|unset|off|false)\b`), re(wantsLint), nil},
	}
})

// compareChecks finds changes that make the checks easier. Work that a task
// asks for by name may change how it is judged, but not by switching it off.
func compareChecks(files []File, task string) []Finding {
	var found []Finding
	for _, j := range judges() {
		var was, is []string
		var names []string
		for _, f := range files {
			if !j.files.MatchString(f.Path) {
				continue
			}
			names = append(names, f.Path)
			if f.Existed {
				was = append(was, j.lines(f.Before)...)
			}
			if f.Exists {
				is = append(is, j.lines(f.After)...)
			}
		}
		if reason := j.judge(was, is, task); reason != "" {
			found = append(found, Finding{Kind: KindChecksChanged, File: names[0], Text: fmt.Sprintf("%s was changed: %s", j.name, reason)})
		}
	}
	return found
}

// lines are the lines that count, without comments.
func (j judge) lines(text string) []string {
	if j.part != nil {
		text = j.part(text)
	}
	var all []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if at := commentStart(line); at >= 0 {
			line = strings.TrimRight(line[:at], " \t")
		}
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// commentStart is where a comment with # or // begins in a line, -1 for none.
func commentStart(line string) int {
	for i := range line {
		if line[i] == '#' || strings.HasPrefix(line[i:], "//") {
			if strings.TrimSpace(line[:i]) == "" || line[i-1] == ' ' && !strings.ContainsAny(line[:i], `"'`) {
				return i
			}
		}
	}
	return -1
}

// judge returns what is wrong with a change; empty when it is honest: each old
// line is still there, perhaps with more words, and nothing that was added
// makes it easier.
func (j judge) judge(was, is []string, task string) string {
	lost, added := diffLines(was, is)
	for _, line := range added {
		old := closest(line, lost)
		for _, hit := range j.easier.FindAllString(line, -1) {
			if strings.Count(old, hit) < strings.Count(line, hit) {
				return fmt.Sprintf("added %q", strings.TrimSpace(line))
			}
		}
	}
	if len(was) == 0 || j.asked != nil && j.asked.MatchString(task) && !j.stopsChecks(lost, added) {
		return ""
	}
	for _, line := range lost {
		if versionless(strings.Join(strings.Fields(line), "")) == "-" {
			continue // an item in a list of versions
		}
		if !slices.ContainsFunc(added, func(now string) bool { return extends(line, now) }) {
			return fmt.Sprintf("removed %q", strings.TrimSpace(line))
		}
	}
	return ""
}

// stopsChecks says whether a line that ran a check is gone, and no new one runs
// any.
func (j judge) stopsChecks(lost, added []string) bool {
	return j.runs != nil && !slices.ContainsFunc(added, j.runs.MatchString) && slices.ContainsFunc(lost, j.runs.MatchString)
}

// diffLines returns the lines that only one side has, however often the other
// side has them, regardless of order and indentation.
func diffLines(was, is []string) (lost, added []string) {
	have := map[string]int{}
	for _, line := range is {
		have[strings.TrimSpace(line)]++
	}
	for _, line := range was {
		if key := strings.TrimSpace(line); have[key] > 0 {
			have[key]--
		} else {
			lost = append(lost, line)
		}
	}
	for _, line := range is {
		if key := strings.TrimSpace(line); have[key] > 0 {
			have[key]--
			added = append(added, line)
		}
	}
	return lost, added
}

// closest is the lost line with the most words in common; empty for none.
func closest(line string, lost []string) string {
	best, most := "", 0
	for _, l := range lost {
		n := 0
		for _, w := range strings.Fields(l) {
			if strings.Contains(line, w) {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// extends says whether now has all words of was, in the same order. Where the
// line names what is used, its version may differ.
func extends(was, now string) bool {
	uses := usePattern().MatchString(was)
	words := strings.Fields(strings.Trim(now, " \t,;"))
	for _, w := range strings.Fields(strings.Trim(was, " \t,;")) {
		if w == "-" || uses && versionless(w) == "" {
			continue // the item may have got another first key, the list another version
		}
		i := slices.IndexFunc(words, func(n string) bool {
			return unquoted(n) == unquoted(w) || uses && versionless(n) == versionless(w) || stricter(was, w, n)
		})
		if i < 0 {
			return false
		}
		words = words[i+1:]
	}
	return true
}

// stricter says whether a word of a line of settings became a stricter one.
func stricter(line, was, now string) bool {
	was, now = strings.Trim(was, `"',;[]{}%`), strings.Trim(now, `"',;[]{}%`)
	p := strictness()
	if p.level[was] > 0 && p.level[now] > p.level[was] {
		return true
	}
	lenient := p.lenient.MatchString(line)
	if was, now := strings.ToLower(was), strings.ToLower(now); was == "false" && now == "true" || was == "true" && now == "false" {
		return lenient == (now == "false")
	}
	x, err := strconv.ParseFloat(was, 64)
	y, err2 := strconv.ParseFloat(now, 64)
	return err == nil && err2 == nil && (lenient && y < x || p.least.MatchString(line) && !lenient && y > x)
}

var strictness = sync.OnceValue(func() (p struct {
	level          map[string]int
	lenient, least *regexp.Regexp // a higher value is easier to pass; is harder
}) {
	p.level = map[string]int{"off": 1, "allow": 1, "warn": 2, "warning": 2, "error": 3, "deny": 3, "forbid": 4}
	p.lenient = regexp.MustCompile(`(?i)ignor|exclu|skip|allow|omit|disable|max|limit|complexity|passWith`)
	p.least = regexp.MustCompile(`(?i)fail.?under|threshold|cover|lines|branches|functions|statements|minimum`)
	return p
})

var usePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\buses:|\bruns-on:|\bimage:|version|\bcontainer:|\brev:|^\s*FROM\b|\b(?:node|python|go|rust|java|os):`)
})

func unquoted(s string) string { return strings.Trim(s, `"',;[]`) }

func versionless(s string) string { return strings.Trim(s, `0123456789.vx^~<>="',;[]`) }

// makeTargets are the recipes of the targets that check, with the variables
// that name commands.
func makeTargets(text string) string {
	target := regexp.MustCompile(`^(?:\.PHONY|\w*(?:test|check|lint|ci|verify|vet|cover|build|all|typecheck)\w*)\b[^=]*:`)
	variable := regexp.MustCompile(`^(?:export )?\w*(?:TEST|CHECK|LINT|FLAGS|PYTEST|GO|CARGO|NPM)\w*\s*[:?+]?=`)
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case target.MatchString(line) && !strings.HasPrefix(line, ".PHONY"):
			inside = true
		case variable.MatchString(line):
			out.WriteString(line)
			continue
		case strings.TrimSpace(line) != "" && line[0] != '\t' && line[0] != ' ':
			inside = false
		}
		if inside {
			out.WriteString(line)
		}
	}
	return out.String()
}

// packageScripts are the scripts that check and the settings of test tools.
func packageScripts(text string) string {
	var p map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &p) != nil {
		return text
	}
	script := regexp.MustCompile(`test|lint|check|build|verify|ci|types|coverage|validate|prepush|precommit`)
	var scripts map[string]string
	_ = json.Unmarshal(p["scripts"], &scripts) // of another shape: none
	var out []string
	for name, command := range scripts {
		if script.MatchString(name) {
			out = append(out, name+": "+command)
		}
	}
	for _, key := range []string{"jest", "vitest", "mocha", "ava", "nyc", "c8", "eslintConfig", "eslintIgnore", "lint-staged", "husky", "tap", "xo"} {
		var v any
		if json.Unmarshal(p[key], &v) == nil {
			if data, err := json.MarshalIndent(v, key+" ", " "); err == nil {
				out = append(out, key+" "+string(data))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// lines takes the lines that match.
func lines(pattern string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(text string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if re.MatchString(line) {
				out.WriteString(line)
			}
		}
		return out.String()
	}
}

// sections takes the parts of a TOML or INI file whose header matches.
func sections(pattern string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(text string) string {
		var out strings.Builder
		inside := false
		for line := range strings.Lines(text) {
			if header, ok := strings.CutPrefix(line, "["); ok {
				inside = re.MatchString(header)
			}
			if inside {
				out.WriteString(line)
			}
		}
		return out.String()
	}
}
