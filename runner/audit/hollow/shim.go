package hollow

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var imports = sync.OnceValue(func() (p struct{ library, local, throws *regexp.Regexp }) {
	const from = `(?m)^\s*(?:import [^;\n]*\bfrom |(?:const|let|var) [^;\n]*= *require\()["']`
	p.library = regexp.MustCompile(from +
		`(?:node:)?(?:assert|chai|expect|should|power-assert|@jest/globals|vitest)(?:/\w+)?["']`)
	p.local = regexp.MustCompile(from + `(\.{1,2}/[^"'\n]+)["']`)
	p.throws = regexp.MustCompile(`\bthrow +(?:new\b|\w+[;\n])|\bfrom ["'](?:node:)?assert|` +
		`require\(["'](?:node:)?assert|process\.exit`)
	return p
})

// Text is a file as it is now.
type Text struct{ Path, Before, After string }

// Shim returns the new file that a test takes its assertions from instead of a library, if nothing in that file can
// fail; or the empty string.
func Shim(test Text, all []Text) string {
	p := imports()
	if !p.library.MatchString(test.Before) || p.library.MatchString(test.After) {
		return ""
	}
	for _, m := range p.local.FindAllStringSubmatch(test.After, -1) {
		name := path.Join(path.Dir(test.Path), m[1])
		i := slices.IndexFunc(all, func(f Text) bool {
			return f.Path == name || strings.TrimSuffix(f.Path, path.Ext(f.Path)) == name
		})
		if i >= 0 && all[i].Before == "" && all[i].After != "" && !p.throws.MatchString(all[i].After) {
			return all[i].Path
		}
	}
	return ""
}

var replaced = sync.OnceValue(func() (p struct{ from, patched *regexp.Regexp }) {
	p.from = regexp.MustCompile(`(?m)^import (.+?) from ["'](\.{1,2}/[^"'\n]+)["']`)
	p.patched = regexp.MustCompile(`autouse=True[^@]*?\.(?:setattr|object|patch)\(\s*(?:["'](?:\w+\.)*(\w+)["']|` +
		`\w+, ["'](\w+)["'])`)
	return p
})

// Replaced returns what a test now takes from somewhere else: from a new file outside the project's code, or from a
// fixture that replaces what the change defines.
func Replaced(test Text, all []Text, isCode func(path string) bool) string {
	p, was := replaced(), map[string]string{}
	for _, m := range p.from.FindAllStringSubmatch(test.Before, -1) {
		was[m[1]] = path.Join(path.Dir(test.Path), m[2])
	}
	for _, m := range p.from.FindAllStringSubmatch(test.After, -1) {
		now := path.Join(path.Dir(test.Path), m[2])
		fresh := func(f Text) bool { return f.Path == now && f.Before == "" && !isCode(now) }
		if old := was[m[1]]; old != "" && old != now && isCode(old) && slices.ContainsFunc(all, fresh) {
			return m[1] + " comes from " + now + " now, not from " + old
		}
	}
	for _, m := range p.patched.FindAllStringSubmatch(test.After, -1) {
		defines := func(f Text) bool { return isCode(f.Path) && strings.Contains(f.After, "def "+m[1]+m[2]+"(") }
		if !p.patched.MatchString(test.Before) && slices.ContainsFunc(all, defines) {
			return "all tests get another " + m[1] + m[2] + " than that of the code"
		}
	}
	return ""
}

// Outside says how a test file passes without the code: its assertions cannot fail, or it defines itself what the task
// asks for by name. wanted is sorted. isCode tells which files are code without tests. It is empty if neither is so.
func Outside(test Text, all []Text, isCode func(path string) bool, wanted []string) string {
	if shim := Shim(test, all); shim != "" {
		return "its assertions come from " + shim + " now, where nothing can fail"
	}
	if text := Replaced(test, all, isCode); text != "" {
		return text
	}
	had := defined(test.Before)
	for _, name := range slices.Sorted(maps.Keys(defined(test.After))) {
		_, asked := slices.BinarySearch(wanted, name)
		if !asked || had[name] || strings.HasPrefix(strings.ToLower(name), "test") {
			continue
		}
		has := func(f Text) bool { return isCode(f.Path) && strings.Contains(f.Before+f.After, name) }
		if !slices.ContainsFunc(all, has) {
			return name + " is defined in the test itself, and in no other changed file"
		}
	}
	return ""
}

var functions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:export )?(?:async )?(?:(?:func|def|function|fn)\*? (\w+)\b|` +
		`(?:const|let|var) (\w+) = (?:async )?(?:(?:\([^()]*\)|\w+) =>|function\b))`)
})

// defined are the names of the functions in a file.
func defined(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range functions().FindAllStringSubmatch(text, -1) {
		all[m[1]+m[2]] = true
	}
	return all
}
