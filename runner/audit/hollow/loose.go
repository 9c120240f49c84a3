package hollow

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	// muchLooser is how many times wider a tolerance must be than before to be reported, and tooLoose the share of
	// the expected value that it must allow. A tolerance whose expected value is not known only needs the first.
	muchLooser = 100
	tooLoose   = 0.01
)

// tolerances match an assertion with a tolerance. Its groups are the expected number, which may be empty, and
// the tolerance.
var tolerances = sync.OnceValue(func() []tolerance {
	const number = `(-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)`
	re := regexp.MustCompile
	return []tolerance{
		{re: re(`\bapprox\(` + number + `?[^,()]*, rel=` + number), share: true, usual: 1e-6},
		{re: re(`\bapprox\(` + number + `?[^,()]*, abs=` + number), usual: 1e-9},
		{re: re(`\bisclose\([^,()]+, ` + number + `?[^,()]*, rel_tol=` + number), share: true, usual: 1e-9},
		{re: re(`\b(?:InDelta|assertAlmostEqual)\((?:t, )?` + number +
			`?[^,()]*, [^,()]+(?:\([^()]*\))?, (?:delta=)?` + number), usual: 1e-7},
		{re: re(`\bInEpsilon\((?:t, )?` + number + `?[^,()]*, [^,()]+(?:\([^()]*\))?, ` + number), share: true},
		{re: re(`\b(?i:abs)\([^()]*- ?` + number + `?[^()]*\) *(?:>=?|<=?) *` + number)},
		{re: re(`\.abs\(\) *<=? *()` + number)},
	}
})

// constant matches a tolerance with a name of its own: its line up to the number, and the number.
var constant = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^(\s*(?:const |let |var |static )?(?:eps|epsilon|tol|tolerance|max_?error)(?:\s*:\s*\w+)?\s*:?= *)` +
		`(\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?)`)
})

// LoosenedConstant says which tolerance in a file is much wider now though the task wants none to be, or returns the
// empty string.
func (s Sort) LoosenedConstant(before, after string) string {
	if s.Wider {
		return ""
	}
	was := map[string]float64{}
	for _, m := range constant().FindAllStringSubmatch(before, -1) {
		if n, ok := number(m[2]); ok {
			was[m[1]] = max(was[m[1]], n)
		}
	}
	for _, m := range constant().FindAllStringSubmatch(after, -1) {
		if from, had := was[m[1]]; had {
			if n, ok := number(m[2]); ok && n > from && n >= muchLooser*from && n >= tooLoose {
				return "a tolerance allows much more than before: " + strings.TrimSpace(m[0])
			}
		}
	}
	return ""
}

// tolerance is a row: a form of assertion.
type tolerance struct {
	re    *regexp.Regexp
	share bool    // the tolerance is a share of the expected value
	usual float64 // the tolerance of the form without one; 0 if there is no such form
}

// Loosened returns an assertion of a test that allows much more than before, or the empty string.
func Loosened(before, after string) string {
	for _, row := range tolerances() {
		was := row.widest(before)
		for _, m := range row.re.FindAllStringSubmatch(after, -1) {
			now, ok := number(m[2])
			if strings.Contains(before, m[0]) || !ok {
				continue
			}
			from := was
			if from == 0 {
				from = row.usual
			}
			wanted, known := number(m[1])
			share := now
			if !row.share && known && wanted != 0 {
				share = now / max(wanted, -wanted)
			}
			if from > 0 && now >= muchLooser*from && (share >= tooLoose || !row.share && !known) {
				return m[0]
			}
		}
	}
	return ""
}

// widest is the widest tolerance in a text; 0: it has none.
func (row tolerance) widest(text string) (most float64) {
	for _, m := range row.re.FindAllStringSubmatch(text, -1) {
		if n, ok := number(m[2]); ok {
			most = max(most, n)
		}
	}
	return most
}

func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return n, err == nil
}
