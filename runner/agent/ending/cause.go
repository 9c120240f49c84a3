package ending

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// Reader reads the error texts of one CLI.
type Reader struct{ own []compiled }

// NewReader returns a Reader that tries the CLI's own patterns before the
// general ones. It panics on a pattern that does not compile.
func NewReader(own []Pattern) Reader { return Reader{compile(own)} }

// Text classifies one text that the CLI itself printed.
func (r Reader) Text(text string) Class {
	if c, ok := match(r.own, text); ok {
		return c
	}
	if c, ok := match(causes(), text); ok {
		return c
	}
	c, _ := match(generals(), text)
	if m := statusRE().FindStringSubmatch(text); m != nil {
		if status := statusClass(m[1]); status != Unknown && (status != ServerError || c != Overloaded) {
			return status
		}
	}
	return c
}

// maxShort is the length of the longest error for InsteadOfAnswer, in bytes.
const maxShort = 1 << 10

// InsteadOfAnswer classifies plain output that may be an error instead of an
// answer: a single line that matches one of the CLI's own patterns, names a limit,
// or starts with "error". Unknown means that it is an answer.
func (r Reader) InsteadOfAnswer(text string) Class {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "\n") || len(text) > maxShort {
		return Unknown
	}
	if class, ok := match(r.own, text); ok {
		return class
	}
	class := r.Text(text)
	start := strings.ToLower(text[:min(len(text), 12)])
	switch {
	case strings.Contains(start, "error"), strings.HasPrefix(start, "fatal"):
	case class == UsageLimit, class == SpendLimit, class == DisabledByAdmin, class == NoCredit:
	default:
		return Unknown
	}
	return class
}

// Report has everything that a CLI prints about its failure.
type Report struct {
	Codes  []string // machine-readable names and HTTP statuses
	Errors []string // texts of error records, the newest last
	Lines  []string // lines printed outside the records, in order
	// Fatal allows a fatal class that only Lines show.
	Fatal bool
}

// Cause returns the cause of a failure and the text that shows it, which may be
// empty. It looks at exact codes first, then at texts, other codes and lines.
func (r Reader) Cause(p Report) (Class, string) {
	evidence := ""
	if len(p.Errors) > 0 {
		evidence = p.Errors[len(p.Errors)-1]
	}
	var byCode Class
	for _, c := range p.Codes {
		byCode = moreExact(byCode, codeClass(c))
	}
	byText := r.lastError(p.Errors)
	switch {
	case exact(byCode):
		return byCode, evidence
	case exact(byText) || byText != Unknown && (byCode == Unknown || byCode == ServerError && byText == Overloaded):
		return byText, evidence
	case byCode != Unknown:
		return byCode, evidence
	}
	if class, line := r.lines(p.Lines, p.Fatal); class != Unknown {
		return class, line
	}
	return Unknown, evidence
}

// lastError returns the class of the newest error text that has one.
func (r Reader) lastError(errors []string) Class {
	for _, e := range slices.Backward(errors) {
		if c := r.Text(e); c != Unknown {
			return c
		}
	}
	return Unknown
}

// lines classifies lines outside the records. Help text means a bad command line.
// Else the last line counts, unless another one is more exact. Lines about MCP
// servers and warnings do not count: the CLI continues after them.
func (r Reader) lines(lines []string, fatal bool) (class Class, line string) {
	lines = slices.DeleteFunc(slices.Clone(lines), besideRE().MatchString)
	if i := slices.IndexFunc(lines, helpRE().MatchString); i >= 0 && fatal {
		return BadFlag, lines[i]
	}
	for _, l := range slices.Backward(lines) {
		if c := r.Text(l); (fatal || !c.Fatal()) && moreExact(class, c) != class {
			class, line = c, l
		}
	}
	return class, line
}

// exact reports whether a class is exact enough to outrank an HTTP status.
func exact(c Class) bool {
	switch c {
	case Unknown, Auth, BadModel, RateLimited, Overloaded, Network, ServerError, KilledBySignal:
		return false
	}
	return true
}

// moreExact returns the more exact class, such as "overloaded" instead of the
// "server error" in the same report.
func moreExact(a, b Class) Class {
	if a == Unknown || b != Unknown && (exact(b) && !exact(a) || a == ServerError) {
		return b
	}
	return a
}

// OfSignal classifies the signal that ended a CLI: KilledBySignal if somebody sent
// it, Crash if the CLI is broken, else Unknown.
func OfSignal(sig syscall.Signal) Class {
	switch sig {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGPIPE:
		return KilledBySignal
	case syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE,
		syscall.SIGTRAP, syscall.SIGSYS:
		return Crash
	}
	return Unknown
}

// Signal returns the signal that ended a CLI or, by its exit code, its child; 0: none.
func Signal(code int, sig syscall.Signal) syscall.Signal {
	if child := syscall.Signal(code - 128); sig == 0 && OfSignal(child) != Unknown {
		return child
	}
	return sig
}

// WaitsForLogin returns the line with which a CLI says that it waits until a person has logged in, if
// nothing but an address or a code follows it. In a line above others it is a tip, and explains no silence.
func WaitsForLogin(lines []string) (string, bool) {
	for i, line := range slices.Backward(lines) {
		if loginRE().MatchString(line) && !besideRE().MatchString(line) && !tipRE().MatchString(line) {
			return line, i >= len(lines)-loginTail
		}
	}
	return "", false
}

// loginTail is the greatest number of lines of a request to log in.
const loginTail = 4

// LimitName guesses the usage window that a limit text is about.
func LimitName(text string) string {
	text = strings.ToLower(text)
	for _, k := range [...][2]string{{"week", "seven_day"}, {"seven_day", "seven_day"}, {"周", "seven_day"}, {"5-hour", "five_hour"},
		{"5 hour", "five_hour"}, {"five_hour", "five_hour"}, {"5 小时", "five_hour"}, {"5小时", "five_hour"},
		{"session", "five_hour"}, {"month", "month"}, {"每月", "month"}, {"daily", "day"}, {"per-day", "day"},
		{"per day", "day"}, {"每日", "day"}, {"每天", "day"}, {"spend", "spend"}} {
		if strings.Contains(text, k[0]) {
			return k[1]
		}
	}
	return "usage"
}

// LastWords are the exit code of a program that failed and what it printed last: the
// newest line that reads like an error, else the last one, if there is any.
func LastWords(code int, lines []string) string {
	last := ""
	for _, line := range slices.Backward(lines[max(0, len(lines)-lastLines):]) {
		if line = strings.TrimSpace(line); LooksLikeError(line) {
			last = line
			break
		}
		last = cmp.Or(last, line)
	}
	return strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", code, last), ": ")
}

// lastLines bounds how far an error may stand above the end.
const lastLines = 10

// LooksLikeError reports whether a line outside the records reads like an error.
func LooksLikeError(line string) bool {
	line = strings.ToLower(line)
	for _, word := range [...]string{"error", "fatal", "failed", "limit", "denied", "exceeded", "invalid",
		"unknown", "not found", "not logged in", "cannot be used"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
