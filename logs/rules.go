package logs

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// hiddenBits bounds the entropy that a rule asks of a key that is only hidden.
const hiddenBits = 3

// vendorShapes are the shapes of ruleKeys.
func vendorShapes() []shape {
	var all []shape
	for line := range strings.Lines(ruleKeys) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		bits, _ := strconv.ParseFloat(f[3], 64)
		pattern, ends := f[4], f[2] == "true"
		article := "a "
		if strings.IndexByte("aeio", f[0][0]) >= 0 {
			article = "an "
		}
		all = append(all, shape{article + strings.ReplaceAll(f[0], "-", " "), strings.Fields(f[1]),
			word(pattern, ends, min(bits, hiddenBits)), noExample(word(pattern, ends, bits))})
	}
	return all
}

// word returns a finder for a key that is random. If it ends, no letter or digit may follow; else the rest of the
// word belongs to it. bits is its least entropy per byte.
func word(pattern string, ends bool, bits float64) finder {
	pattern = "^(" + pattern + ")"
	if ends {
		pattern += "(?:[^A-Za-z0-9_-]|$)"
	}
	compiled := re(pattern)
	return func(text string, at int) (from, to int, ok bool) {
		m := compiled().FindStringSubmatchIndex(text[at:min(len(text), at+maxSecret)])
		if m == nil || entropy(text[at:at+m[3]]) < bits {
			return 0, 0, false
		}
		from, to = at+min(shownOfKey, m[3]), at+m[3]
		for to < len(text) && isKeyByte(text[to]) && (text[to] != '.' || to+1 < len(text) && isKeyByte(text[to+1])) {
			to++
		}
		return from, to, true
	}
}

func noExample(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		from, to, ok = find(text, at)
		return from, to, ok && !example(text[at:to])
	}
}

// vendorValue is a value that the name of a vendor reveals.
type vendorValue struct{ name, value func() *regexp.Regexp }

var vendorNames = sync.OnceValues(func() (any *regexp.Regexp, each []vendorValue) {
	var names []string
	for line := range strings.Lines(ruleValues) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		names = append(names, name)
		each = append(each, vendorValue{re(name), re("^(?:" + value + ")$")})
	}
	return regexp.MustCompile(strings.Join(names, "|")), each
})

// isVendors reports whether a value looks like those of the vendor in its name.
func isVendors(name, value string) bool {
	if len(value) < minVendorValue || hasNoDigit(value) || strings.ContainsAny(value, " /.(") && strings.IndexByte("/.(", value[0]) >= 0 {
		return false
	}
	name = strings.ToLower(name)
	anyName, each := vendorNames()
	if !anyName.MatchString(name) {
		return false
	}
	for _, v := range each {
		if v.name().MatchString(name) && v.value().MatchString(value) {
			return true
		}
	}
	return false
}

// minVendorValue is the length of the shortest value in ruleValues.
const minVendorValue = 14
