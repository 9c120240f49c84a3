package audit

import (
	"slices"

	"ralph/runner/audit/lang"
)

// pair finds for each test after the one that it was: unchanged, by name in
// the same file, by name elsewhere, by its body.
func (c *comparison) pair() {
	type key struct{ name, more string }
	for _, of := range []func(t *test) key{
		func(t *test) key { return key{t.name, t.body.Text} },
		func(t *test) key { return key{t.name, t.file} },
		func(t *test) key { return key{name: t.name} },
	} {
		left := map[key][]int{}
		for _, j := range c.unmatched() {
			k := of(c.before.tests[j])
			left[k] = append(left[k], j)
		}
		for _, i := range c.unpaired() {
			if k := of(c.after.tests[i]); len(left[k]) > 0 {
				c.pairs[i], c.matched[left[k][0]] = left[k][0], true
				left[k] = left[k][1:]
			}
		}
	}
	c.pairBodies()
}

func (c *comparison) pairBodies() {
	before, after := c.unmatched(), c.unpaired()
	if len(before)*len(after) > maxPairs {
		for _, j := range before {
			c.matched[j] = true // nobody knows
		}
		return
	}
	numbers, words := index{}, make([][]int, len(c.before.tests))
	for _, j := range before {
		words[j] = numbers.sorted(lang.Words(c.before.tests[j].body))
	}
	for _, i := range after {
		now := numbers.sorted(lang.Words(c.after.tests[i].body))
		for _, j := range before {
			if !c.matched[j] && similarity(words[j], now) >= sameBody {
				c.pairs[i], c.matched[j] = j, true
				break
			}
		}
	}
}

// unmatched are the tests before that none after was found for, by index.
func (c *comparison) unmatched() (left []int) {
	for j := range c.before.tests {
		if !c.matched[j] {
			left = append(left, j)
		}
	}
	return left
}

// unpaired are the tests after that none before was found for, by index.
func (c *comparison) unpaired() (left []int) {
	for i := range c.after.tests {
		if _, old := c.pairs[i]; !old {
			left = append(left, i)
		}
	}
	return left
}

// index gives each different thing a number: many bags are compared faster so.
type index map[string]int

// sorted are the numbers of the things of b, each as often as b has it.
func (x index) sorted(b lang.Bag) []int {
	var all []int
	for text, n := range b {
		at, ok := x[text]
		if !ok {
			at = len(x)
			x[text] = at
		}
		all = append(all, slices.Repeat([]int{at}, n)...)
	}
	slices.Sort(all)
	return all
}

// similarity is 1 for the same sorted numbers, 0 for nothing in common.
func similarity(a, b []int) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	return float64(common) / float64(max(len(a)+len(b)-common, 1))
}
