package view

import (
	"fmt"
	"strings"

	"ralph/state"
)

// hintedFrom is the confidence, in percent, from which hints get a line.
const hintedFrom = 50

// hintEntries shows what the words of the final message suggest. A single "done" is
// not news, and of a task that is done they say nothing that matters.
func hintEntries(h state.Hints, done bool) []entry {
	if done || len(h.NoWork)+len(h.Stuck) == 0 && (h.Confidence < hintedFrom || len(h.Completion) == 0) {
		return nil
	}
	said := func(what string, words []string) string { return Prefix(what+": ", strings.Join(words, ", ")) }
	sounds := ""
	if h.Confidence > 0 {
		sounds = fmt.Sprintf("done (%d %%)", h.Confidence)
	}
	return one(RoleNote,
		"it sounds like: "+Join(" · ", sounds, said("nothing to do", h.NoWork), said("stuck", h.Stuck)))
}
