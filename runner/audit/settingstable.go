package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// settingsRow is a kind of file that decides how work is judged.
type settingsRow struct {
	What  string         // start of the finding's text
	Files *regexp.Regexp // path
	// Strict: any change is a finding, unless the task asked for it. Commands: the lines run programs.
	Strict, Commands bool
	Part             func(text string) string // the relevant part of a file; nil: all of it
	Asked            *regexp.Regexp           // matches a task about such files; nil: none
	steering         bool                     // what steers other programs belongs to it, too: see Steering
}

// Steering is what steers agent CLIs, and the programs that keep plans, in a project, from their tables. The zero
// value: nothing.
type Steering struct {
	Files  []string // that make them start programs; folders end with a slash
	Topics []string // regular expressions of words: how a task speaks of them
}

var settingsRows = sync.OnceValue(func() []settingsRow {
	re := regexp.MustCompile
	const lint = `lint|golangci|\bruff|flake8|mypy|clippy|prettier|biome|\brules?\b|strict|type.?check|` +
		`tsconfig|typescript|\bxo\b|pre-commit|config`
	const gitHooks = `(?i)\b(?:git[ -]hooks?|(?:pre|post)-(?:commit|push|merge|checkout|receive)|husky|lefthook)\b`
	const tests = `\b(?:tests? (?:scripts?|commands?|targets?|runner|setup|config\w*|framework)|makefile|` +
		`targets?|scripts?|jest|vitest|mocha|ava|pytest|tox|nox|coverage|cargo|packaging|pyproject|` +
		`build (?:scripts?|system|target))\b`
	return []settingsRow{
		{
			What: "the configuration of ralph was changed", Strict: true,
			Files: re(`(?:^|/)\.ralphrc$|(?:^|/)\.ralph/config\.ya?ml$|^ralph-policy\.yaml$`),
		},
		{
			What: "files that control the run were changed", Strict: true,
			Files: re(`(?:^|/)\.ralph/(?:PROMPT\.md$|specs/)`),
			Asked: re(`(?i)\b(?:prompts?|specs?|specifications?)\b`),
		},
		{
			What: "a file that you also use outside the sandbox was changed", Strict: true, Files: re(`^~/`),
		},
		{
			What: "a setting makes another tool start a program", Strict: true, steering: true,
			Files: re(`(?:^|/)\.envrc$`), Asked: re(`(?i)\b(?:direnv|envrc)\b`),
		},
		{
			What: "a program that git starts was set up", Strict: true, Files: re(`^\.git/(modules/.*/)?hooks/`),
			Asked: re(gitHooks),
		},
		{
			What: "a program that git starts was set up", Strict: true,
			Files: re(`^\.git/(modules/.*/)?config(\.worktree)?$`), Part: gitPrograms,
			Asked: re(gitHooks + `|(?i)\bgit (?:config\w*|lfs|filters?|signing|alias(?:es)?)\b`),
		},
		{
			What: "git was led to another repository", Strict: true, Files: re(`^\.git$|^\.git/(?:commondir|gitdir)$`),
		},
		{
			What: "the CI configuration was changed", Commands: true,
			Files: re(`^\.github/workflows/[^/]+\.ya?ml$|^\.gitlab-ci\.ya?ml$|^\.circleci/config\.ya?ml$|` +
				`^azure-pipelines\.ya?ml$|^\.travis\.ya?ml$|^\.buildkite/|^\.drone\.ya?ml$|^\.woodpecker|` +
				`^Jenkinsfile$`),
			Asked: re(`(?i)\b(?:ci|workflows?|pipelines?|actions?|continuous integration|jobs?|matrix|release|travis|` +
				`gitlab|coverage)\b`),
		},
		{
			What: "the build targets were changed", Commands: true, Asked: re(`(?i)` + tests), Part: makeTargets,
			Files: re(`(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$|(?:^|/)[Jj]ustfile$|(?:^|/)Taskfile\.ya?ml$`),
		},
		{
			What: "the scripts of package.json were changed", Commands: true, Asked: re(`(?i)` + lint + `|` + tests),
			Files: re(`(?:^|/)package\.json$`), Part: packageScripts,
		},
		{
			What: "the check scripts were changed", Commands: true, Asked: re(`(?i)` + tests),
			Files: re(`(?:^|/)(?:run[-_])?(?:tests?|checks?|lint|ci|verify|validate)(?:[-_]\w+)?\.(?:sh|bash)$|` +
				`(?:^|/)tests?/(?:run|all|main|lib|helpers?|asserts?|common|utils?)(?:[-_]\w+)?(?:\.(?:sh|bash))?$|` +
				`(?:^|/)noxfile\.py$|(?:^|/)\.husky/|(?:^|/)lefthook\.ya?ml$`),
		},
		{
			What: "the settings of Python tools were changed", Commands: true, Asked: re(`(?i)` + lint + `|` + tests),
			Files: re(`(?:^|/)(?:\.flake8|\.?ruff\.toml|\.pylintrc|\.?mypy\.ini|pyrightconfig\.json|` +
				`pyproject\.toml|setup\.cfg|\.?pytest\.ini|tox\.ini|\.coveragerc)$`),
		},
		{
			What: "the settings of a test runner were changed", Asked: re(`(?i)` + lint + `|` + tests),
			Files: re(`(?:^|/)(?:(?:jest|vitest|playwright|cypress|karma|ava|nyc)\.(?:config|conf|workspace)\.\w+|` +
				`\.mocharc\.?\w*|\.nycrc(?:\.json)?|nextest\.toml|\.?codecov\.ya?ml)$`),
		},
		{
			What: "the settings of a linter were changed", Asked: re(`(?i)` + lint),
			Files: re(`(?:^|/)(?:\.?lint(?:er|rc|ing)?\.(?:conf|cfg|ini|toml|ya?ml|jsonc?)|\.golangci\.(?:ya?ml|toml|json)|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|` +
				`biome\.jsonc?|\.lintrc(?:\.\w+)?|\.stylelintrc.*|\.oxlintrc.*|tsconfig[\w.]*\.json|\.?clippy\.toml|` +
				`Cargo\.toml)$`),
		},
	}
})

// settingsTable is the table for a project.
type settingsTable []settingsRow

// settingsFor returns the table, with what steers other programs.
func settingsFor(steering Steering) settingsTable {
	all := slices.Clone(settingsRows())
	for i, r := range all {
		if !r.steering || len(steering.Files) == 0 {
			continue
		}
		files := r.Files.String()
		for _, name := range steering.Files {
			files += `|(?:^|/)` + regexp.QuoteMeta(name)
			if !strings.HasSuffix(name, "/") {
				files += `$`
			}
		}
		all[i].Files = regexp.MustCompile(files)
		all[i].Asked = regexp.MustCompile(r.Asked.String() + `|(?i)\b(?:` + strings.Join(steering.Topics, "|") + `)\b`)
	}
	return all
}

// of returns the row of a file, or false.
func (t settingsTable) of(path string) (settingsRow, bool) {
	i := slices.IndexFunc(t, func(r settingsRow) bool { return r.Files.MatchString(path) })
	if i < 0 {
		return settingsRow{}, false
	}
	return t[i], true
}
