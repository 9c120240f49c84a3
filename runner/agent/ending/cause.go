package ending

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ralph/logs/lazy"
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
		if status := codeClass(m[1]); status != Unknown && (status != ServerError || c != Overloaded) {
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
	return !slices.Contains([]Class{Unknown, Auth, BadModel, RateLimited, Overloaded, Network, ServerError, KilledBySignal}, c)
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

var (
	// retryRE matches a line with which a CLI announces that it tries again.
	retryRE = lazy.Regexp(`(?i)^\W*(re-?connecting|re-?trying|` +
		`(attempt|request) \d.{0,60}\b(re-?trying|retry in))\b`)
	unauthorizedRE = lazy.Regexp(`(?i)\b401\b|\bunauthorized\b`)
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
		class = codeClass(m[1])
	}
	if class.Transient() || class == UsageLimit || class == SpendLimit {
		return class
	}
	if class == Auth && unauthorizedRE().MatchString(strings.Join(append(codes, text), " ")) {
		return Auth // unlike a 403, which a proxy may answer for a while
	}
	return Unknown
}

// Pattern maps a wording of a CLI's own error text to a class. Match is a
// case-insensitive regular expression. It is never applied to the words of the
// model, of tools or of the prompt.
type Pattern struct {
	Class Class  `json:"class,omitempty"`
	Match string `json:"match,omitempty"`
}

// codes are the machine-readable codes and HTTP statuses of each class.
var codes = [...]struct {
	class Class
	codes string
}{
	{UsageLimit, "usage_limit_reached usage_limit_exceeded"},
	{NoCredit, "billing_error insufficient_quota payment_required 402"},
	{ContextTooLong, "prompt_too_long model_context_window_exceeded context_length_exceeded blocking_limit 413"},
	{Auth, "authentication_failed authentication_error invalid_api_key unauthenticated permission_error " +
		"oauth_org_not_allowed 401 403"},
	{Overloaded, "overloaded overloaded_error 529"},
	{Network, "connection_failed timeout_error 408"},
	{RateLimited, "rate_limit rate_limit_error rate_limit_exceeded resource_exhausted 429"},
	{BadModel, "model_not_found not_found_error 404"},
	{MaxTurns, "error_max_turns max_turns max_output_tokens fatalturnlimitederror"},
	{MaxBudget, "error_max_budget_usd max_budget max_budget_usd budget_exceeded"},
	{Refusal, "refusal"},
	{KilledBySignal, "aborted_streaming aborted_tools aborted"},
	{ServerError, "server_error api_error_500 internal_server_error"},
}

// codeClass classifies a machine-readable code, or an HTTP status in decimal: 400 can mean anything.
func codeClass(code string) Class {
	for _, row := range codes {
		if slices.Contains(strings.Fields(row.codes), strings.ToLower(code)) {
			return row.class
		}
	}
	if n, err := strconv.Atoi(code); err == nil && n >= 500 && n <= 599 {
		return ServerError
	}
	return Unknown
}

// causePatterns are more exact than an HTTP status. The first match wins.
var causePatterns = [...]Pattern{
	{RateLimited, `not your usage limit|throttl|\bper[ -](minute|min|second|sec)\b|` +
		`quota exceeded for metric.{0,120}\blimit: [1-9]|每(分钟|秒)|(请求|调用|访问).{0,8}(频繁|频率|速率)|并发`},
	{StaleSession, `no conversation found|session\b.{0,80}\bnot found|no rollout found|invalid session identifier|` +
		`no such session|no (saved )?session found|no saved session|thread\b.{0,60}\bnot found|` +
		`valid (session|thread) id`},
	{DisabledByAdmin, `disabled by (your |the |an? )?(admin|org)|(admin|organi[sz]ation)\w* has (been )?disabled`},
	{SpendLimit, `spend(ing)?[ -](limit|cap)|budget limit reached|\bspecified (workspace )?api usage limit`},
	{UsageLimit, `\bhit (your|the) .*\blimit|\busage limit|` +
		`\b(session|hour|hourly|day|daily|week|weekly|month|monthly|opus|sonnet|plan) limit\b.{0,20}(reached|` +
		`exceeded|exhausted)|(reached|exceeded) your .{0,30}(usage|plan|hour|session|daily|weekly|monthly) (limit|` +
		`quota)|out of extra usage|exhausted your .*quota|\bdaily (free )?(quota|allocation)|` +
		`\b(limit|quota|exceeded)\b.{0,140}\bper[ -](day|week|month)\b|` +
		`\bper[ -](day|week|month)\b.{0,40}\b(limit|quota|exceeded)\b|exceeded for \w+ByDay\b|` +
		`(达到|超出|超过|用完|用尽|耗尽).{0,30}(上限|限额|额度|配额|用量限制|使用限制)|(上限|限额|额度|配额|用量).{0,12}(达到|超出|超过|用完|用尽|耗尽)`},
	{NoCredit, `credit balance|insufficient[ _](credit|fund|balance|quota)|plan and billing|billing details|` +
		`payment required|out of credits|no credits|余额不足|欠费`},
	{ContextTooLong, `prompt is too long|input is too long|context[ _](window|length)|ran out of room|` +
		`maximum context|too many (input )?tokens|request_too_large|exceed.{0,30}context|` +
		`token count.{0,20}exceeds|maximum prompt length|model token limit|` +
		`reduce the length of the (messages|prompt)|request more than max tokens`},
	{EmptyOutput, `empty response|no visible output|without (any )?(text|content|output)`},
	{Refusal, `violate.{0,30}usage policy|unable to respond to this request|safety (policy|filter)`},
	{BadModel, `(^|\berror: )model: \S+$|issue with the selected model|unknown model|invalid model|` +
		`model\b.{0,80}\b(not found|not exist|does not exist|not available|not supported|is not a valid)`},
}

// generalPatterns are for texts that match no cause pattern.
var generalPatterns = [...]Pattern{
	{Auth, `not logged in|please (run )?/?(log|sign) ?in|(log|sign) ?in again|missing environment variable|` +
		`\blogin (flow|required)|invalid (x-)?api[ -]?key|no api key|` +
		`api[_ -]key\b.{0,60}(invalid|missing|required|not found|not set)|must specify the \w*API_KEY|no auth type|set an auth method|` +
		`invalid auth|failed to authenticate|authentication (failed|error)|unauthori[sz]ed|unauthenticated|` +
		`token (has )?expired|not authenticated|(身份验证|认证|鉴权)失败|(密钥|令牌|api ?key).{0,12}(无效|错误|过期|不存在)|未登录|请先?登录`},
	{Overloaded, `overloaded|at capacity|high demand|over capacity|访问量过大|服务.{0,4}(繁忙|过载)`},
	{RateLimited, `rate.?limit|too many requests|limiting requests|resource.?exhausted|\bquota exceeded|速率限制|限流`},
	{MaxTurns, `output token max|max(imum)?[ _](number of |session )?(session )?turns|turn limit|loop detect|` +
		`max(imum)? (wall|tool)|(wall.?(clock|time)|tool.call)s? .{0,20}(budget|limit|exceeded)`},
	{MaxBudget, `exceeded .{0,20}budget`},
	{BadFlag, `unknown (option|argument|flag|command)|unexpected (argument|option)|` +
		`unrecogni[sz]ed (option|argument)|invalid (option|choice)|no (input|prompt) (was )?provided|` +
		`input must be provided|must provide a (message|prompt)|cannot be (used with root|launched inside)|` +
		`trusted (directory|folder|workspace)|requires --`},
	{KilledBySignal, `user cancell?ed|request interrupted|^execution error$|operation (was )?(aborted|cancell?ed)`},
	{Network, `connection (dropped|refused|error|reset|closed|failed|timed out|aborted)|unable to connect|` +
		`\bE(CONN\w+|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE|HOSTUNREACH|NETUNREACH)\b|UND_ERR|socket|fetch failed|` +
		`network error|\bterminated\b|timed? ?out\b|can't reach|` +
		`(stream|response|request) (was )?(disconnected|ended|closed|interrupted)|other side closed|` +
		`error sending request|getaddrinfo|certificate`},
	{ServerError, `server.?(side )?error|bad gateway|gateway time|service unavailable|mid-response|json parse|` +
		`unexpected (eof|end of|token)|incomplete json|invalid json|not valid json|malformed|no messages returned|` +
		`non-sse response|invalid (stream|response)`},
}

// helpText matches the answer of a CLI to a bad command line.
const helpText = `^(usage|options|positionals):|unknown (option|argument)|unexpected argument`

// beside matches lines about something else than the call to the model.
const beside = `mcp|^.{0,40}\bwarn(ing)?\b|⚠`

// login matches the request to log in now.
const login = `login flow|waiting for (you to )?(login|(log|sign)[ -]?in|authenti)|(log|sign) in (with|at|using|by) `

// httpStatus matches the status in an error text.
const httpStatus = `(?:\bstatus(?: code)?:? |\bapi error:? (?:\()?|rejected \(|"code":\s*|\bstatus(?:code)?"?:\s*|` +
	`\bhttp(?:/[\d.]+)? |^(?:error: )?)([45]\d\d)\b`

type compiled struct {
	class Class
	re    *regexp.Regexp
}

func compile(ps []Pattern) []compiled {
	out := make([]compiled, len(ps))
	for i, p := range ps {
		out[i] = compiled{p.Class, regexp.MustCompile(`(?im)` + p.Match)}
	}
	return out
}

var (
	causes   = sync.OnceValue(func() []compiled { return compile(causePatterns[:]) })
	generals = sync.OnceValue(func() []compiled { return compile(generalPatterns[:]) })
	helpRE   = lazy.Regexp(`(?im)` + helpText)
	besideRE = lazy.Regexp(`(?im)` + beside)
	tipRE    = lazy.Regexp(`(?i)^\W*(tips?|hint|note|info|did you know|you (can|may))\b`)
	loginRE  = lazy.Regexp(`(?im)` + login)
	statusRE = lazy.Regexp(`(?im)` + httpStatus)
)

func match(ps []compiled, text string) (Class, bool) {
	for _, p := range ps {
		if p.re.MatchString(text) {
			return p.class, true
		}
	}
	return Unknown, false
}
