package retest

import (
	"regexp"
	"sync"
)

// patterns match paths, lines of settings and words of tasks.
var patterns = sync.OnceValue(func() (p struct {
	folder, goData, data, program, module, settings,
	loads, lacks, rigs, mends, unseen, code, goes, names,
	settingsFile, relaxes *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.folder = re(`(?:^|/)(?:tests?|__tests__|testdata|test[-_]data|specs?|(?:__)?fixtures?(?:__)?|__snapshots__|goldens?|e2e)/|\.(?:snap|golden)$`)
	p.goData = re(`(?:^|/)testdata/`)
	p.data = re(`\.(?:json|csv|tsv|txt|xml|ya?ml|html?|md|sql|golden|snap|out)$`)
	p.program = re(`^(?:node|npm|npx|pnpm|yarn|bun|deno|jest|vitest|mocha|python3?|pytest|py\.test|tox|nox|go|cargo|make|sh|bash|env|ruby|rspec|java|mvn|gradle|php|phpunit)$`)
	p.module = re(`^(?:_?pytest|unittest|doctest|nose2?|pluggy|sitecustomize|usercustomize)$`)
	p.settings = re(`(?:^|/)(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.ini|noxfile\.py|` +
		`(?:jest|vitest|playwright|karma|ava|mocha)[\w.-]*|\.mocharc[\w.]*|(?:GNU)?[Mm]akefile|[Jj]ustfile|[\w.-]+\.(?:mk|sh))$`)
	p.loads = re(`(?i)test|spec|jest|mocha|addopts|setup|reporter|runner|plugin|hook|loader|--import|--require| -r `)
	p.lacks = re(`fixture '(\w+)' not found|No module named '([\w.]+)'|Cannot find module '([^']+)'`)
	p.rigs = re(`\bpytest_\w+\(|\bautouse\b|\bcollect_ignore|\bsys\.|\bsetattr\(|\bmock\b`)
	p.code = re(`\.(?:go|[cm]?[jt]sx?|py|rs|java|kt|rb|php|cs|sh|bash)$|(?:^|/)[^./]+$`)
	p.goes = re(`(?i)\bno longer\b|\bany ?more\b|\bstop(?:s|ped)?\b|\bhid(?:e|es|den)\b|\bomit|\bsilent|\bquiet|\brandom|\buuid|\btimestamps?\b|\bclock\b|` +
		`\bnow\b|\bshuffl|\bdetermin|\border(?:ed)?\b|\bapprox|\bestimat|\bjitter|\brelax|\bloosen|\btolera`)
	p.names = re(`(?i)\b(?:fix|mend|repair|update|adapt|correct|change|make|port|let) (?:the )?(?:script |runner |file )?[\w./-]*\btests?/[\w./-]+`)
	p.mends = re(`(?i)\bfix|\bbugs?\b|\bcorrect|\bmend|\brepair|\bwrong`)
	p.unseen = re(`(?i)\brac(?:e|y)|concurren|parallel|thread|deadlock|leak|perf|fast|slow|speed|memory|\blog|flak|secur|timing|windows|macos|typo|comment|doc`)
	p.settingsFile = re(`(?:^|/)[\w.-]*\.(?:conf|cfg|ini|toml|jsonc?|ya?ml|properties|xml|env|rc)$|(?:^|/)\.[\w-]+$`)
	p.relaxes = re(`(?i)\b(?:rais|relax|lower|loosen|increas|decreas|bump|allow|permit|tolerat|adjust|configur|lenient|limits? (?:to|of|from)\b|set \S+ to)`)
	return p
})
