package ending

import (
	"regexp"
	"strings"
	"sync"
)

// maxRead is how many bytes of a text Normalize and Until read.
const maxRead = 4 << 10

type replacement struct {
	re *regexp.Regexp
	by string
}

// The longer and more exact ones come first.
var variable = sync.OnceValue(func() []replacement {
	var out []replacement
	for _, r := range [...][2]string{
		{`https?://\S+`, "<url>"},
		{`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`, "<address>"},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "<id>"},
		{`\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?([.,]\d+)?(z|[+-]\d\d:?\d\d)?`, "<time>"},
		{`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?( ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b`, "<time>"},
		{`\b(req|msg|ses|toolu|call|thread)_[a-z0-9]+`, "<id>"},
		{`(~|\.{1,2})?(/[\w.@+-]+){2,}/?`, "<path>"},
		{`\b0x[0-9a-f]+\b`, "<hex>"},
		{`\b([0-9a-f]*[a-f][0-9a-f]*\d|[0-9a-f]*\d[0-9a-f]*[a-f])[0-9a-f]{5,}\b`, "<hex>"},
		{`\b\d+([.,]\d+)*\s?(ms|milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|[smhd])\b`, "<span>"},
		{`\d+([.,]\d+)*`, "<n>"},
	} {
		out = append(out, replacement{regexp.MustCompile(r[0]), r[1]})
	}
	return out
})

// Normalize replaces what differs between two occurrences of the same error:
// numbers, ids, times, spans, paths, addresses. Texts with the same result are the
// same error. The result has at most 300 runes.
func Normalize(errText string) string {
	s := strings.ToLower(strings.ToValidUTF8(errText[:min(len(errText), maxRead)], ""))
	for _, v := range variable() {
		s = v.re.ReplaceAllString(s, v.by)
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300])
	}
	return s
}

var epoch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\|\d{10,13}\b`) })

// Shown is an error text for people: without a time in seconds since 1970, which stands
// beside it as a time of day.
func Shown(errText string) string { return epoch().ReplaceAllString(errText, "") }
