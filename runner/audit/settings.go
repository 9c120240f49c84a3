package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/commands"
	"ralph/runner/audit/hollow"
	"ralph/runner/audit/parts"
	"ralph/runner/audit/values"
)

// judge is a row: a kind of file that decides how work is judged.
type judge struct {
	what  string         // start of the finding's text
	files *regexp.Regexp // path
	// strict: any change is a finding, unless the task asked for it. commands: the lines run programs.
	strict, commands bool
	part             func(text string) string // the relevant part of a file; nil: all of it
	asked            *regexp.Regexp           // matches a task about such files; nil: none
}

var judges = sync.OnceValue(func() []judge {
	re := regexp.MustCompile
	const lint = `lint|golangci|\bruff|flake8|mypy|clippy|prettier|biome|\brules?\b|strict|type.?check|` +
		`tsconfig|typescript|\bxo\b|pre-commit|config`
	const gitHooks = `(?i)\b(?:git[ -]hooks?|(?:pre|post)-(?:commit|push|merge|checkout|receive)|husky|lefthook)\b`
	const tests = `\b(?:tests? (?:scripts?|commands?|targets?|runner|setup|config\w*|framework)|makefile|` +
		`targets?|scripts?|jest|vitest|mocha|ava|pytest|tox|nox|coverage|cargo|packaging|pyproject|` +
		`build (?:scripts?|system|target))\b`
	return []judge{
		{
			what: "the configuration of ralph was changed", strict: true,
			files: re(`(?:^|/)\.ralphrc$|(?:^|/)\.ralph/config\.ya?ml$`),
		},
		{
			what: "what the run is steered by was changed", strict: true,
			files: re(`(?:^|/)\.ralph/(?:PROMPT\.md$|specs/)`), asked: re(`(?i)\b(?:prompts?|specs?|specifications?)\b`),
		},
		{
			what: "what you start outside of the sandbox, too, was changed", strict: true, files: re(`^~/`),
		},
		{
			what: "a program that others start was set up", strict: true,
			files: re(`(?:^|/)(?:\.mcp\.json|\.envrc)$|(?:^|/)\.claude/(?:settings(?:\.local)?\.json$|commands/|agents/|hooks/)|` +
				`(?:^|/)\.(?:codex|gemini|opencode|qwen|amp|augment)/|(?:^|/)opencode\.jsonc?$|(?:^|/)\.cursor/(?:(?:hooks|mcp|cli)\.json$|hooks/)|(?:^|/)\.beads/(?:hooks/|config\.yaml$|redirect$)`),
			asked: re(`(?i)\b(?:mcp|direnv|envrc|codex|gemini|opencode|qwen|amp|augment|cursor|beads|claude (?:code|hooks?|settings?|commands?|agents?)|slash commands?|sub-?agents?)\b`),
		},
		{
			what: "a program that git starts was set up", strict: true, files: re(`^\.git/(modules/.*/)?hooks/`), asked: re(gitHooks),
		},
		{
			what: "a program that git starts was set up", strict: true, files: re(`^\.git/(modules/.*/)?config(\.worktree)?$`), part: parts.GitPrograms,
			asked: re(gitHooks + `|(?i)\bgit (?:config\w*|lfs|filters?|signing|alias(?:es)?)\b`),
		},
		{
			what: "git was led to another repository", strict: true, files: re(`^\.git$|^\.git/(?:commondir|gitdir)$`),
		},
		{
			what: "the CI configuration was changed", commands: true,
			files: re(`^\.github/workflows/[^/]+\.ya?ml$|^\.gitlab-ci\.ya?ml$|^\.circleci/config\.ya?ml$|` +
				`^azure-pipelines\.ya?ml$|^\.travis\.ya?ml$|^\.buildkite/|^\.drone\.ya?ml$|^\.woodpecker|^Jenkinsfile$`),
			asked: re(`(?i)\b(?:ci|workflows?|pipelines?|actions?|continuous integration|jobs?|matrix|release|travis|` +
				`gitlab|coverage)\b`),
		},
		{
			what: "the build targets were changed", commands: true, asked: re(`(?i)` + tests), part: parts.MakeTargets,
			files: re(`(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$|(?:^|/)[Jj]ustfile$|(?:^|/)Taskfile\.ya?ml$`),
		},
		{
			what: "the scripts of package.json were changed", commands: true, asked: re(`(?i)` + lint + `|` + tests),
			files: re(`(?:^|/)package\.json$`), part: parts.PackageScripts,
		},
		{
			what: "the check scripts were changed", commands: true, asked: re(`(?i)` + tests),
			files: re(`(?:^|/)(?:run[-_])?(?:tests?|checks?|lint|ci|verify|validate)(?:[-_]\w+)?\.(?:sh|bash)$|` +
				`(?:^|/)tests?/(?:run|all|main)(?:[-_]\w+)?(?:\.(?:sh|bash))?$|` +
				`(?:^|/)noxfile\.py$|(?:^|/)\.husky/|(?:^|/)lefthook\.ya?ml$`),
		},
		{
			what: "the settings of Python tools were changed", commands: true, asked: re(`(?i)` + lint + `|` + tests),
			files: re(`(?:^|/)(?:\.flake8|\.?ruff\.toml|\.pylintrc|\.?mypy\.ini|pyrightconfig\.json|` +
				`pyproject\.toml|setup\.cfg|\.?pytest\.ini|tox\.ini|\.coveragerc)$`),
		},
		{
			what: "the settings of a test runner were changed", asked: re(`(?i)` + lint + `|` + tests),
			files: re(`(?:^|/)(?:(?:jest|vitest|playwright|cypress|karma|ava|nyc)\.(?:config|conf|workspace)\.\w+|` +
				`\.mocharc\.?\w*|\.nycrc(?:\.json)?|nextest\.toml|\.?codecov\.ya?ml)$`),
		},
		{
			what: "the settings of a linter were changed", asked: re(`(?i)` + lint),
			files: re(`(?:^|/)(?:\.golangci\.(?:ya?ml|toml|json)|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|` +
				`biome\.jsonc?|\.stylelintrc.*|\.oxlintrc.*|tsconfig[\w.]*\.json|\.?clippy\.toml|Cargo\.toml)$`),
		},
	}
})

// judgeOf returns the row of a file, or false.
func judgeOf(path string) (judge, bool) {
	i := slices.IndexFunc(judges(), func(j judge) bool { return j.files.MatchString(path) })
	if i < 0 {
		return judge{}, false
	}
	return judges()[i], true
}

// compareSettings finds changes that make it easier to pass: a hidden failure, a check
// that no longer runs, a weaker rule, a lower threshold. It reports one for each kind of
// file, and all strict ones.
func compareSettings(files []File, task string) []Finding {
	var found []Finding
	told := map[string]bool{}
	var changed []string
	for _, f := range files {
		changed = append(changed, f.Path)
	}
	for _, f := range files {
		if file := hollow.Unlinted(f.Path, f.Before, f.After, changed); file != "" && !asks.ToLeaveOut(task) {
			found = append(found, Finding{Kind: KindChecksChanged, File: f.Path, Text: "a linter leaves out what the change made: " + file})
		}
		j, ok := judgeOf(f.Path)
		if !ok || told[j.what] && !j.strict {
			continue
		}
		if reason := j.reason(f, files, task); reason != "" {
			told[j.what] = true
			found = append(found, Finding{Kind: KindChecksChanged, File: f.Path, Text: j.what + ": " + reason})
		}
	}
	return found
}

// reason says what is wrong with a change, empty if nothing is. A task about such files
// may change their rules, but not hide a failing check or remove all checks of a file.
func (j judge) reason(f File, files []File, task string) string {
	lost, added := j.diff(f)
	if j.strict {
		return j.anyChange(f, append(added, lost...), task)
	}
	if !f.Existed || len(lost)*len(added) > maxPairs {
		return ""
	}
	asked := j.asked.MatchString(task)
	i := slices.IndexFunc(added, func(line string) bool {
		return j.commands && !asks.ToLetFail(task) && commands.Hides(line, lost, asked)
	})
	if i >= 0 {
		return fmt.Sprintf("added %q", added[i])
	}
	if asked && asks.ForRemoval(task) {
		return ""
	}
	line := j.stopped(f, lost, files)
	if line != "" && (!asked || asks.ToPass(task) || !slices.ContainsFunc(j.lines(f.After), commands.RunsCheck)) {
		return fmt.Sprintf("removed %q", line)
	}
	if code := commands.LostExit(f.Path, f.Before, f.After); code != "" {
		return fmt.Sprintf("removed %q", code)
	}
	if before, after, ok := values.Weakened(lost, added); ok && (!asked || asks.ToHold(task)) {
		return fmt.Sprintf("%q became %q", before, after)
	}
	return ""
}

// anyChange names a change of a strict file.
func (j judge) anyChange(f File, changed []string, task string) string {
	switch {
	case j.asked != nil && j.asked.MatchString(task):
	case len(changed) > 0:
		return fmt.Sprintf("%q", changed[0])
	case j.asked != nil && j.part == nil && f.Before != f.After: // prose has no comments
		return "its text"
	}
	return ""
}

// diff returns the removed and the new lines.
func (j judge) diff(f File) (lost, added []string) {
	if f.Before == f.After {
		return nil, nil
	}
	return diffLines(j.lines(f.Before), j.lines(f.After))
}

// lines returns the relevant lines, without comments.
func (j judge) lines(text string) []string {
	if j.part != nil {
		text = j.part(text)
	}
	var all []string
	for _, line := range lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			all = append(all, strings.TrimSuffix(line, ","))
		}
	}
	return all
}

// stopped returns a line with a check that f no longer runs, unless some file runs a new
// check instead.
func (j judge) stopped(f File, lost []string, files []File) string {
	if !j.commands {
		return ""
	}
	for _, other := range files {
		if o, ok := judgeOf(other.Path); ok && o.commands {
			if _, added := o.diff(other); slices.ContainsFunc(added, commands.RunsCheck) {
				return ""
			}
		}
	}
	now := strings.Join(slices.DeleteFunc(j.lines(f.After), func(line string) bool { return !commands.RunsCheck(line) }), "\n")
	i := slices.IndexFunc(lost, func(line string) bool {
		return commands.RunsCheck(line) && slices.ContainsFunc(commands.Checks(line), func(check string) bool {
			return !strings.Contains(now, strings.TrimSpace(check))
		})
	})
	if i < 0 {
		return ""
	}
	return lost[i]
}
