// Package best compares the candidates for a task and chooses the best one. It is pure.
package best

import (
	"cmp"
	"fmt"
	"slices"
)

// Candidate is one of several turns on the same task.
type Candidate struct {
	Green bool // its work is finished, and passes the required checks
	Whole bool // its agent ended by itself, and the checks have a result
	Lines int  // that its work adds and removes; 0 if there is no work
	Opinion
}

// Opinion is what judges say of a candidate; zero: nobody was asked.
type Opinion struct {
	Refused bool // a required judge refuses it, or gives no verdict
	Score   int
}

// Tied are the indexes of the green candidates with the fewest lines, if there are several: judges may
// decide between them.
func Tied(all []Candidate) (tied []int) {
	lead := all[Pick(all)]
	for i, c := range all {
		if c.Green && lead.Green && c.Lines == lead.Lines {
			tied = append(tied, i)
		}
	}
	if len(tied) < 2 {
		return nil
	}
	return tied
}

// Pick is the index of the winner: of the green candidates the one with the fewest lines, and of
// those the one that judges prefer. If none is green, it is one from which the next attempt can
// continue.
func Pick(all []Candidate) int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	return slices.MinFunc(order, func(i, j int) int {
		a, b := all[i], all[j]
		switch {
		case a.Green != b.Green:
			return first(a.Green)
		case a.Green:
			return cmp.Or(a.Lines-b.Lines, refused(a)-refused(b), b.Score-a.Score, i-j)
		case (a.Lines > 0) != (b.Lines > 0):
			return first(a.Lines > 0)
		case a.Whole != b.Whole:
			return first(a.Whole)
		}
		return i - j
	})
}

func refused(c Candidate) int {
	if c.Refused {
		return 1
	}
	return 0
}

func first(yes bool) int {
	if yes {
		return -1
	}
	return 1
}

// Why says why a candidate lost to another one.
func Why(lost, won Candidate) string {
	switch {
	case lost.Green && lost.Lines == won.Lines && lost.Refused && !won.Refused:
		return "the judges rejected it and passed another candidate of the same size"
	case lost.Green && lost.Lines == won.Lines && lost.Score != won.Score:
		return fmt.Sprintf("the judges preferred another candidate of the same size (score %d, this one has %d)",
			won.Score, lost.Score)
	case lost.Green && lost.Lines == won.Lines:
		return fmt.Sprintf("an earlier candidate of the same size passes (%d lines)", won.Lines)
	case lost.Green:
		return fmt.Sprintf("another candidate passes with fewer lines (%d, this one has %d)", won.Lines, lost.Lines)
	case !lost.Whole && lost.Lines == 0:
		return "it changed nothing"
	case !lost.Whole:
		return "it was cut off"
	case won.Green:
		return "it is not finished, or does not pass the checks"
	}
	return "no candidate passes the checks; the next attempt continues from another one"
}

// Most is the number of candidates that may start: as many as are wanted, at least one, and no
// more than any of the bounds. A bound below zero is none.
func Most(wanted int, bounds ...int) int {
	for _, b := range bounds {
		if b >= 0 {
			wanted = min(wanted, b)
		}
	}
	return max(wanted, 1)
}
