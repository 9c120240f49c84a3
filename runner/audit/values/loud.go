package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var muting = sync.OnceValue(func() (p struct{ mutes, strict *regexp.Regexp }) {
	re := regexp.MustCompile
	p.mutes = re(`\s*(?://|/\*|#|--)\s*(?:eslint-disable|@ts-(?:ignore|expect-error|nocheck)|nolint|noqa|` +
		`type: *ignore|pylint: *disable|ruff: *noqa|mypy: *ignore|shellcheck disable|rubocop:disable|biome-ignore|` +
		`oxlint-disable|golangci).*$|^\s*#!?\[(?:allow|expect|warn)\(.*\)\]\s*$`)
	p.strict = re(`^#!\[(?:deny|forbid)\(`)
	return p
})

// Loud returns a text of code without the lines that silence a linter since before, and with those that made it strict.
func Loud(before, after string) (text string, muted []string) {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	added := Without(is, was)
	var kept []string
	for _, line := range is {
		if !slices.Contains(added, line) || !muting().mutes.MatchString(line) {
			kept = append(kept, line)
			continue
		}
		muted = append(muted, strings.TrimSpace(line))
		if code := muting().mutes.ReplaceAllString(line, ""); strings.TrimSpace(code) != "" {
			kept = append(kept, code)
		}
	}
	for _, line := range Without(was, is) {
		if muting().strict.MatchString(line) {
			kept, muted = slices.Insert(kept, 0, line), append(muted, "without "+strings.TrimSpace(line))
		}
	}
	return strings.Join(kept, "\n"), muted
}
