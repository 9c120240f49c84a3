package audit

import (
	"slices"

	"ralph/runner/audit/lang"
)

// compareFiles finds what keeps more than one test from running.
func (c *comparison) compareFiles() []Finding {
	var found []Finding
	add := func(file, text string) {
		f := Finding{Kind: KindSkipAdded, File: file, Text: text}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	var was, is fileFacts
	changed := map[string][2]fileFacts{}
	for path, f := range c.before.files {
		if a := c.after.files[path]; a == nil || c.steers(f.raw, a.raw) {
			b := f.facts()
			was.focus, was.blockSkips = was.focus+b.focus, was.blockSkips+b.blockSkips
		}
	}
	for path, f := range c.after.files {
		b := c.before.files[path]
		if b != nil && !c.steers(b.raw, f.raw) {
			continue
		}
		both := [2]fileFacts{1: f.facts()}
		if b != nil {
			both[0] = b.facts()
		}
		changed[path] = both
		is.focus, is.blockSkips = is.focus+both[1].focus, is.blockSkips+both[1].blockSkips
	}
	for file, f := range changed {
		if is.focus > was.focus && f[1].focus > f[0].focus {
			add(file, "only some of the tests run now: a focus (.only) was added")
		}
		if is.blockSkips > was.blockSkips && f[1].blockSkips > f[0].blockSkips {
			add(file, "a group of tests is skipped now")
		}
		if c.before.files[file] != nil && f[1].skips > f[0].skips {
			add(file, "the whole file may not run any more")
		}
		if f[1].hooks > f[0].hooks {
			add(file, "it keeps tests from running or from failing now")
		}
	}
	for i, j := range c.pairs {
		a, b := c.after.tests[i], c.before.tests[j]
		if a.file != b.file && c.after.files[a.file].facts().skips > c.before.files[b.file].facts().skips {
			add(a.file, "the whole file may not run any more")
		}
	}
	return found
}

// steers says whether the lines that changed in a file may keep tests from running.
func (c *comparison) steers(was, is string) bool {
	if c.l.Hooks.MatchString(was) || c.l.Hooks.MatchString(is) {
		return true
	}
	was, is = lang.ChangedLines(was, is)
	return slices.ContainsFunc([]string{was, is}, func(s string) bool {
		return c.l.Focus.MatchString(s) || c.l.FileSkip.MatchString(s) || c.l.Skip.MatchString(s)
	})
}
