package asks

import (
	"regexp"
	"sync"
)

// wishes are patterns of tasks after which tests or limits may rightly say something else.
var wishes = sync.OnceValue(func() (p struct{ goes, names, mends, unseen, relaxes *regexp.Regexp }) {
	re := regexp.MustCompile
	p.goes = re(`(?i)\bno longer\b|\bany ?more\b|\bstop(?:s|ped)?\b|\bhid(?:e|es|den)\b|\bomit|\bsilent|\bquiet|` +
		`\brandom|\buuid|\btimestamps?\b|\bclock\b|\bnow\b|\bshuffl|\bdetermin|\border(?:ed)?\b|\bapprox|\bestimat|` +
		`\bjitter|\brelax|\bloosen|\btolera`)
	p.names = re(`(?i)\b(?:fix|mend|repair|update|adapt|correct|change|make|port|let) (?:the )?(?:script |runner |` +
		`file )?[\w./-]*\btests?/[\w./-]+`)
	p.mends = re(`(?i)\bfix|\bbugs?\b|\bcorrect|\bmend|\brepair|\bwrong`)
	p.unseen = re(`(?i)\brac(?:e|y)|concurren|parallel|thread|deadlock|leak|perf|fast|slow|speed|memory|\blog|flak|` +
		`secur|timing|windows|macos|typo|comment|doc`)
	p.relaxes = re(`(?i)\b(?:rais|relax|lower|loosen|increas|decreas|bump|allow|permit|tolerat|adjust|configur|` +
		`lenient|limits? (?:to|from)\b|set \S+ to)`)
	return p
})

// ForLess reports whether a task wants something to go, so that tests may rightly ask for less.
func ForLess(task string) bool {
	return ForRemoval(task) || ForFewerTests(task) || ForSkips(task) ||
		wishes().goes.MatchString(task) && !ToKeepBehavior(task)
}

// ToMendTests reports whether a task names files of tests that it wants changed: "adapt tests/a.sh".
func ToMendTests(task string) bool { return wishes().names.MatchString(task) }

// ToShowBug reports whether a task wants a mistake mended, and a test that shows it.
func ToShowBug(task string) bool {
	return ForTests(task) && wishes().mends.MatchString(task) && !wishes().unseen.MatchString(task)
}

// ForOtherLimits reports whether a task wants limits to change.
func ForOtherLimits(task string) bool { return wishes().relaxes.MatchString(task) }
