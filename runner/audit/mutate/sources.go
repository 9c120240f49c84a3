package mutate

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// least is how many mutants of a function say something.
const least = 2

// Sources are files of code, by path.
type Sources map[string]string

// Of returns mutants of so many of the wanted functions, those of each function one after the other. A function with
// fewer than two has none.
func (s Sources) Of(most, functions int, wanted func(function string) bool) (all [][]Mutant) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if all = slices.DeleteFunc(all, func(m []Mutant) bool { return len(m) < least }); len(all) >= functions {
			break
		}
		for _, m := range Of(name, s[name], most, wanted) {
			if n := len(all); n > 0 && all[n-1][0].Path == m.Path && all[n-1][0].Func == m.Func {
				all[n-1] = append(all[n-1], m)
				continue
			}
			all = append(all, []Mutant{m})
		}
	}
	all = slices.DeleteFunc(all, func(m []Mutant) bool { return len(m) < least })
	return all[:min(len(all), functions)]
}

// Words returns the words of a text that can be names of functions.
func Words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		all[word] = true
	}
	return all
}

// Reached accepts functions that are named, and what those call in their own file.
func (s Sources) Reached(named func(function string) bool) func(function string) bool {
	all := map[string]bool{}
	for _, text := range s {
		bodies := Bodies(text)
		var add func(function string)
		add = func(function string) {
			if all[function] {
				return
			}
			all[function] = true
			for word := range Words(bodies[function]) {
				if _, known := bodies[word]; known {
					add(word)
				}
			}
		}
		for function := range bodies {
			if named(function) {
				add(function)
			}
		}
	}
	return func(function string) bool { return all[function] }
}

// InTurn takes a mutant of each group, then another one, until there are so many.
func InTurn(groups [][]Mutant, most int) (all []Mutant) {
	for i := range most {
		for _, group := range groups {
			if i < len(group) && len(all) < most {
				all = append(all, group[i])
			}
		}
	}
	return all
}
