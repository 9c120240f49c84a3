package ending

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"time"
)

var (
	// retryRE matches a line with which a CLI announces that it tries again.
	retryRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(re-?connecting|re-?trying|` +
			`(attempt|request) \d.{0,60}\b(re-?trying|retry in))\b`)
	})
	unauthorizedRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b401\b|\bunauthorized\b`) })
	// delayRE matches how long the CLI waits before it tries again.
	delayRE = sync.OnceValue(func() *regexp.Regexp {
		const part = `\d[\d.]* ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)`
		return regexp.MustCompile(`(?i)\bretry(?:ing)?(?: \d+ of \d+)?(?: in| after)? (` + part + `(?: ?` +
			part + `)*)\b` +
			`|\bwait(?:ing)? (` + part + `(?: ?` + part + `)*),? (?:and |then |before |until )*(?:re-?try|` +
			`(?:the )?next|attempt)`)
	})
)

// AnnouncesRetry reports whether a line outside the records says that the CLI waits
// and tries its call to the model again.
func AnnouncesRetry(line string) bool {
	return retryRE().MatchString(line) && !besideRE().MatchString(line)
}

// withoutDelay removes from a retry notice how long the CLI waits. The rest may say
// when a limit ends.
func withoutDelay(notice string) string { return delayRE().ReplaceAllString(notice, "retry") }

// Delay returns how long the CLI says in a retry notice that it waits; 0: it does not say.
func Delay(notice string) time.Duration {
	if m := delayRE().FindStringSubmatch(notice[:min(len(notice), maxRead)]); m != nil {
		return span(cmp.Or(m[1], m[2]))
	}
	return 0
}

// Retry returns why the CLI tries again: a transient class, a usage or a spend
// limit, a refused login (401), else Unknown. Another fatal class needs more than a notice,
// because the CLI itself still hopes.
func (r Reader) Retry(codes []string, text string) Class {
	class, _ := r.Cause(Report{Codes: codes, Errors: []string{text}})
	if m := statusRE().FindStringSubmatch(text); m != nil && class.Fatal() {
		class = statusClass(m[1])
	}
	if class.Transient() || class == UsageLimit || class == SpendLimit {
		return class
	}
	if class == Auth && unauthorizedRE().MatchString(strings.Join(append(codes, text), " ")) {
		return Auth // unlike a 403, which a proxy may answer for a while
	}
	return Unknown
}
