package logs

import (
	"strconv"
	"strings"

	"ralph/logs/lazy"
)

// hiddenBits bounds the entropy that a rule asks of a key that is only hidden.
const hiddenBits = 3

// vendorShapes makes a shape of each line of ruleKeys.
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
		all = append(all, shape{name: article + strings.ReplaceAll(f[0], "-", " "), starts: strings.Fields(f[1]),
			hidden: word(pattern, ends, min(bits, hiddenBits)), refused: noExample(word(pattern, ends, bits))})
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
	compiled := lazy.Regexp(pattern)
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

var (
	vendorName  = lazy.Regexp(vendorNames)
	vendorValue = lazy.Regexp(`^(?:[A-Za-z0-9]{14,}|[A-Za-z0-9][\w=%.+/-]{31,})$`)
)

// isVendors reports whether a value looks like a key, and its name like that of a vendor.
func isVendors(name, value string) bool {
	return !hasNoDigit(value) && vendorValue().MatchString(value) && entropy(value) >= hiddenBits &&
		vendorName().MatchString(strings.ToLower(name))
}
