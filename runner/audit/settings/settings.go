// Package settings compares the files that say how work is judged: CI, make
// targets, test scripts, linters. Texts in, one sentence out for each kind of
// file in which a change makes it easier to pass. What only moves, is written
// in another way or becomes stricter is no finding.
package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// File is one changed file.
type File struct {
	Path            string // slash-separated, relative to the project
	Before, After   string // empty also when it did not exist
	Existed, Exists bool   // before, after
}

// Finding is a change that makes it easier to pass.
type Finding struct{ File, Text string }

// row is one kind of file that says how work is judged.
type row struct {
	changed string         // that it changed, in words
	files   *regexp.Regexp // whole path
	// part takes out of the files what judges; nil: all of them.
	part func(files []source) string
	// easier finds in an added line what makes it easier to pass.
	easier *regexp.Regexp
	// asked finds in the task that it asks for such a change; nil: never.
	asked *regexp.Regexp
	// runs finds a line that runs a check: it may be replaced then, not dropped;
	// nil: none.
	runs *regexp.Regexp
	// idle finds a line that runs nothing: it may go; nil: none.
	idle *regexp.Regexp
}

// source is one side of a file.
type source struct{ path, text string }

const (
	easierCommand = `\|\|\s*(?:true|:|exit 0|echo)|[^|]\|\s*(?:cat|tee|head|tail|grep)\b|;\s*(?:true|:)(?:\s|$)|continue-on-error:\s*true|allow_failure:\s*true|\bexit 0\b|\bif:\s*(?:false|\$\{\{ *false)|` +
		`--passWithNoTests|--?skip\b|\s-run\b|\s-short\b|--?ignore\b|--deselect|\s-k\s|\s-t\s|--testNamePattern|--testPathIgnore|--?exclude\b|\bset \+e\b|--no-verify|--max-warnings[= ]*[1-9-]|--exit-zero|--issues-exit-code|^\s*-@?\w|\.SILENT|\.IGNORE|paths-ignore|workflow_dispatch`
	easierRule = `(?i)disable|ignor|exclu|skip|deselect|nolint|xfail|passWithNoTests|threshold|fail_under|\b(?:off|false|allow|warn|none|omit|no-|max|per-file|except)`
	runsCheck  = `^\s*(?:-\s*)?(?:(?:run|uses|script|command|args):)?[^:]*\b(?:tests?|lint\w*|checks?|vet|verify|validate|clippy|pytest|jest|vitest|mocha|eslint|ruff|mypy|tox|nox|tsc|golangci|coverage|typecheck|ci/run)\b(?:[^:].*)?$`
	echoes     = `(?:echo|printf|true|:)(?:\s[^|&;<>$\x60]*)?`
	// A placeholder is a whole command: in a script that has conditions, exit is none.
	placeholder = `^(?:[\w:.-]+: |\s*(?:- )?run: *|\t[@-]*)["']?` + echoes + `(?:(?:&&|;) *(?:exit \d|false|true) *)?["']?$`
	wantsCI     = `(?i)\b(?:add|set up|setup|create|configure|introduce|extend|change|update|upgrade|write|enable|move|migrate|bump|adjust|release)\b[^.\n]*\b(?:ci|workflows?|pipelines?|github actions?|actions|continuous integration|jobs?|matrix|release)\b`
	wantsLint   = `(?i)\b(?:add|set up|setup|create|configure|introduce|extend|change|update|upgrade|write|enable|adopt|migrate|switch|adjust|relax|tighten)\b[^.\n]*\b(?:lint(?:er|ers|ing)?|golangci|eslint|ruff|flake8|mypy|clippy|prettier|biome|rules?|strict mode|type.?check\w*)\b`
	wantsTests  = `(?i)\b(?:add|set up|setup|create|configure|introduce|extend|change|update|upgrade|write|enable|migrate|switch|move|adopt|adjust|rename)\b[^.\n]*\b(?:test (?:scripts?|commands?|targets?|runner|setup|configuration|config|framework)|makefile|make targets?|npm scripts?|scripts?|jest|vitest|mocha|pytest|tox|nox|coverage|cargo|packaging|pyproject|build (?:scripts?|system|target))\b`
)

var rows = sync.OnceValue(func() []row {
	re := regexp.MustCompile
	return []row{
		{changed: "the configuration of ralph was changed", files: re(`(?:^|/)\.ralphrc$|(?:^|/)\.ralph/config\.ya?ml$`), easier: re(`.`)},
		{changed: "the CI configuration was changed", files: re(`^\.github/workflows/[^/]+\.ya?ml$|^\.gitlab-ci\.ya?ml$|^\.circleci/config\.ya?ml$|^azure-pipelines\.ya?ml$|^Jenkinsfile$|^\.travis\.ya?ml$|^\.buildkite/|^\.drone\.ya?ml$|^\.woodpecker`),
			easier: re(easierCommand), asked: re(wantsCI), runs: re(runsCheck), idle: re(placeholder)},
		{changed: "the make targets were changed", files: re(`(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$|(?:^|/)[Jj]ustfile$|(?:^|/)Taskfile\.ya?ml$`),
			part: makeTargets, easier: re(easierCommand), asked: re(wantsTests), idle: re(placeholder)},
		{changed: "the scripts of package.json were changed", files: re(`(?:^|/)package\.json$`),
			part: each(packageScripts), easier: re(easierCommand + `|\bignore|\bfalse\b|"off"`), asked: re(wantsTests), idle: re(placeholder)},
		{changed: "the check scripts were changed", files: re(`(?:^|/)(?:run[-_])?(?:tests?|checks?|lint|ci|verify|validate)(?:[-_]\w+)?\.(?:sh|bash)$|(?:^|/)noxfile\.py$|(?:^|/)\.husky/|(?:^|/)lefthook\.ya?ml$|(?:^|/)\.pre-commit-config\.ya?ml$`),
			easier: re(easierCommand), asked: re(wantsTests), idle: re(`^\s*` + echoes + `$`)},
		{changed: "the Go linter configuration was changed", files: re(`(?:^|/)\.golangci\.(?:ya?ml|toml|json)$|(?:^|/)staticcheck\.conf$|(?:^|/)revive\.toml$`), easier: re(easierRule), asked: re(wantsLint)},
		{changed: "the eslint configuration was changed", files: re(`(?:^|/)\.eslintrc(?:\.\w+)?$|(?:^|/)eslint\.config\.\w+$|(?:^|/)\.eslintignore$|(?:^|/)tslint\.json$|(?:^|/)biome\.jsonc?$|(?:^|/)\.stylelintrc|(?:^|/)\.oxlintrc`),
			easier: re(easierRule + `|:\s*0\b|\[0`), asked: re(wantsLint)},
		{changed: "the compiler's strictness was changed", files: re(`(?:^|/)tsconfig[\w.]*\.json$`),
			part: lines(`"(?:strict\w*|no(?:Implicit|Unused|Unchecked|Fallthrough|Property)\w*|exclude|skipLibCheck|checkJs|exactOptional\w*)"`), easier: re(`false|"exclude"|"skipLibCheck"\s*:\s*true`), asked: re(wantsLint)},
		{changed: "the Python tool configuration was changed", files: re(`(?:^|/)(?:\.flake8|\.?ruff\.toml|\.pylintrc|\.?mypy\.ini|\.bandit|pyrightconfig\.json|pyproject\.toml|setup\.cfg|\.?pytest\.ini|tox\.ini|\.coveragerc)$`),
			part: each(pythonTools), easier: re(easierRule + `|addopts.*(?:-k|--)|\s-k\s|--co\b|--collect-only|\|\||^\s*- *\w`), asked: re(wantsTests + `|` + wantsLint)},
		{changed: "the test runner's configuration was changed", files: re(`(?:^|/)(?:(?:jest|vitest|playwright|cypress|karma|ava|nyc)\.(?:config|conf|workspace)\.\w+|\.mocharc\.?\w*|\.nycrc(?:\.json)?|nextest\.toml|\.?codecov\.ya?ml)$`),
			easier: re(easierRule + `|\s-k\s|--\w|pattern|\bonly\b`), asked: re(wantsTests)},
		{changed: "the Rust lint configuration was changed", files: re(`(?:^|/)(?:\.?clippy\.toml|deny\.toml)$`), easier: re(easierRule), asked: re(wantsLint)},
		{changed: "the Rust lint configuration was changed", files: re(`(?:^|/)Cargo\.toml$`),
			part: sections(`^(?:workspace\.)?lints|^\[?(?:test|lib|bin)\b`), easier: re(easierRule), asked: re(wantsLint + `|` + wantsTests)},
		{changed: "the shell linter configuration was changed", files: re(`(?:^|/)\.shellcheckrc$`), easier: re(easierRule), asked: re(wantsLint)},
		{changed: "the editor rules were changed", files: re(`(?:^|/)\.editorconfig$|(?:^|/)\.prettierignore$`), easier: re(`(?i)\b(?:ignore|unset|off|false)\b`), asked: re(wantsLint)},
	}
})

// change is what only one side of the files of a row has.
type change struct {
	files       []string
	existed     bool
	lost, added []string
}

// Compare finds changes that make it easier to pass. Work that a task asks for
// by name may change how it is judged, but not by switching it off.
func Compare(files []File, task string) []Finding {
	changes := make([]change, len(rows()))
	var all change
	for i, r := range rows() {
		changes[i] = r.change(files)
		all.lost, all.added = append(all.lost, changes[i].lost...), append(all.added, changes[i].added...)
	}
	var found []Finding
	for i, r := range rows() {
		if len(changes[i].files) == 0 {
			continue
		}
		if reason := r.judge(changes[i], all, task); reason != "" {
			found = append(found, Finding{File: slices.Min(changes[i].files), Text: r.changed + ": " + reason})
		}
	}
	return found
}

func (r row) change(files []File) change {
	var c change
	var was, is []source
	for _, f := range files {
		if !r.files.MatchString(f.Path) {
			continue
		}
		c.files = append(c.files, f.Path)
		if f.Existed {
			was = append(was, source{f.Path, f.Before})
		}
		if f.Exists {
			is = append(is, source{f.Path, f.After})
		}
	}
	if len(c.files) > 0 {
		before := r.lines(was)
		c.existed = len(before) > 0
		c.lost, c.added = diffLines(before, r.lines(is))
	}
	return c
}

// lines are the lines that count, without comments.
func (r row) lines(files []source) []string {
	part := r.part
	if part == nil {
		part = each(func(f source) string { return f.text })
	}
	var all []string
	for line := range strings.Lines(strings.ReplaceAll(part(files), "\\\n", " ")) {
		line = strings.TrimRight(line, " \t\r\n")
		if at := commentStart(line); at >= 0 {
			line = strings.TrimRight(line[:at], " \t")
		}
		line = patterns().block.ReplaceAllString(line, ":")
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
// makes it easier. A setting may have moved to a file of another row.
func (r row) judge(c, all change, task string) string {
	added := c.added
	if r.runs == nil { // what CI runs must be run there
		added = all.added
	}
	if len(all.lost)*max(len(c.added), len(added)) > maxPairs {
		return ""
	}
	lost := readSettings(all.lost)
	for _, line := range c.added {
		hits := r.easier.FindAllString(line, -1)
		if hits == nil {
			continue
		}
		old := closest(line, lost)
		for _, hit := range hits {
			if strings.Count(old, hit) < strings.Count(line, hit) && (old != "" || patterns().check.MatchString(line) || !patterns().hides.MatchString(hit)) {
				return fmt.Sprintf("added %q", strings.TrimSpace(line))
			}
		}
	}
	if !c.existed || r.asked != nil && r.asked.MatchString(task) && !r.stopsChecks(c.lost, c.added) {
		return ""
	}
	now := " " + strings.Join(words(added), " ") + " "
	candidates := readSettings(added)
	for _, old := range readSettings(c.lost) {
		line := old.text
		inWords := strings.Join(words([]string{line}), " ")
		if r.idle != nil && r.idle.MatchString(line) || versionless(strings.Join(strings.Fields(line), "")) == "-" || inWords == "" {
			continue // it runs nothing, or is an item in a list of versions
		}
		if !strings.Contains(now, " "+inWords+" ") && !slices.ContainsFunc(candidates, old.extends) {
			return fmt.Sprintf("removed %q", strings.TrimSpace(line))
		}
	}
	return ""
}

// stopsChecks says whether a line that ran a check is gone, and no new one runs
// any.
func (r row) stopsChecks(lost, added []string) bool {
	return r.runs != nil && !slices.ContainsFunc(added, r.runs.MatchString) && slices.ContainsFunc(lost, r.runs.MatchString)
}
