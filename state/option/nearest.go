package option

import "strings"

// Nearest returns the name that takes the fewest edits, if they are few enough
// to be a typing mistake; else "".
func Nearest(name string, names []string) string {
	best, fewest := "", min(3, len(name)/3)+1
	for _, candidate := range names {
		d := Edits(name, candidate)
		if strings.HasPrefix(candidate, name+"_") { // MAX_COST for MAX_COST_USD
			d = 1
		}
		// Such as SANDBOX_MODE.
		if strings.HasPrefix(name, candidate+"_") && strings.IndexByte(name[len(candidate)+1:], '_') < 0 {
			d = min(d, 2)
		}
		if d < fewest {
			best, fewest = candidate, d
		}
	}
	return best
}

// Edits is the Levenshtein distance in bytes.
func Edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
