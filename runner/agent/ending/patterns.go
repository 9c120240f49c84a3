package ending

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Pattern maps a wording of a CLI's own error text to a class. Match is a
// case-insensitive regular expression. It is never applied to the words of the
// model, of tools or of the prompt.
type Pattern struct {
	Class Class  `json:"class,omitempty"`
	Match string `json:"match,omitempty"`
}

// codeClass classifies a machine-readable code.
func codeClass(code string) Class {
	switch strings.ToLower(code) {
	case "usage_limit_reached", "usage_limit_exceeded":
		return UsageLimit
	case "billing_error", "insufficient_quota", "payment_required":
		return NoCredit
	case "prompt_too_long", "model_context_window_exceeded", "context_length_exceeded", "blocking_limit":
		return ContextTooLong
	case "authentication_failed", "authentication_error", "invalid_api_key", "unauthenticated", "permission_error",
		"oauth_org_not_allowed":
		return Auth
	case "overloaded", "overloaded_error":
		return Overloaded
	case "connection_failed", "timeout_error":
		return Network
	case "rate_limit", "rate_limit_error", "rate_limit_exceeded", "resource_exhausted":
		return RateLimited
	case "model_not_found", "not_found_error":
		return BadModel
	case "error_max_turns", "max_turns", "max_output_tokens", "fatalturnlimitederror":
		return MaxTurns
	case "error_max_budget_usd", "max_budget", "max_budget_usd", "budget_exceeded":
		return MaxBudget
	case "refusal":
		return Refusal
	case "aborted_streaming", "aborted_tools", "aborted":
		return KilledBySignal
	case "server_error", "api_error_500", "internal_server_error":
		return ServerError
	}
	return statusClass(code)
}

// statusClass classifies an HTTP status in decimal. 400 can mean anything.
func statusClass(code string) Class {
	n, err := strconv.Atoi(code)
	switch {
	case err != nil || n < 401 || n > 599:
		return Unknown
	case n == 401 || n == 403:
		return Auth
	case n == 402:
		return NoCredit
	case n == 404:
		return BadModel
	case n == 408:
		return Network
	case n == 413:
		return ContextTooLong
	case n == 429:
		return RateLimited
	case n == 529:
		return Overloaded
	case n >= 500:
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
	helpRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)` + helpText) })
	besideRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)` + beside) })
	tipRE    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(tips?|hint|note|info|did you know|you (can|may))\b`)
	})
	loginRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)` + login) })
	statusRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)` + httpStatus) })
)

func match(ps []compiled, text string) (Class, bool) {
	for _, p := range ps {
		if p.re.MatchString(text) {
			return p.class, true
		}
	}
	return Unknown, false
}
