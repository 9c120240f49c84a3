package logs

import (
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

// shape is a kind of secret. Its rows decide both what logs and screens hide and what
// ralph does not commit.
type shape struct {
	name   string   // "a GitHub token"
	starts []string // texts with which it starts; one that starts with a letter or digit begins a word
	// hidden finds the part that Redact hides of a secret that starts at text[at]. It is broad,
	// because a false alarm costs little.
	hidden finder
	// refused finds what Secrets returns. It is exact, because a false alarm stops a
	// commit. nil: the shape is too common for that.
	refused finder
	inside  bool // it may start within a word
}

// finder returns where a secret is that starts at text[at].
type finder func(text string, at int) (from, to int, ok bool)

const (
	privateKeyStart = `-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----`
	privateKeyEnd   = `-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----`
	webToken        = `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`
	bearer          = `[Bb]earer ([A-Za-z0-9._~+/=-]{12,})`
	encodedKey      = `LS0tLS1CRUdJTi(?:BPUEVO|BSU0E|BQUklW|BFQy|BFTkNS|BEU0E|BQR1AgUFJJVk)[A-Za-z0-9+/=]*`
	blank           = `(?:[ \t]+|\\+t)` // perhaps within a JSON string
	gap             = `(?:\s|\\+[nrt])+`
	quote           = `\\*["']?`
	password        = `passw(?:or)?d`
	jarLine         = `(?:TRUE|FALSE)` + blank + `/[^\s\\]*` + blank + `(?:TRUE|FALSE)` + blank + `[0-9]+` + blank + `[^\s\\]+` +
		blank + `([\w.-]{16,}[^\x00-\x20\\"]*)`
	piped = `(?:echo|printf)(?: -n)? +(?:\\*["']%s\\*["'] +)?` + quote + `(?:[^\s"'\\:|]+:)?([^\s"'\\|]+)` + quote +
		` *\| *(?:sudo +)?(?:[^|\n]* --password-stdin|chpasswd)`
)

// shapes is the table: what gitleaks does not have, or finds only in a form that is too narrow for logs, and then its
// rules.
var shapes = sync.OnceValue(func() []shape { return slices.Concat(ownShapes(), commandShapes(), vendorShapes()) })

func ownShapes() []shape {
	return []shape{
		{"a private key", []string{"-----BEGIN "}, within(anyLength, privateKeyStart+`[\s\S]*?(?:`+privateKeyEnd+`|\z)`),
			within(anyLength, privateKeyStart+`(?:\s*\n|\\r|\\n)[\s\\nr]*[A-Za-z0-9+/=:]{4}`, example), false},
		vendor("an AWS access key", `A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}`, "AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
		vendor("an AWS secret key", `(?i)aws_?secret_?access_?key\\?["']?\s*[:=]\s*\\?["']?([A-Za-z0-9/+]{40})\b`,
			"aws_secret", "AWS_SECRET", "awsSecret", "AwsSecret", "awssecret", "aws_Secret"),
		vendor("a GitHub token", `gh[pousr]_[A-Za-z0-9]{20,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		vendor("a GitHub token", `github_pat_[A-Za-z0-9_]{20,}`, "github_pat_"),
		vendor("a GitLab token", `gl[a-z]+-[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,})?`, "glpat-", "gldt-", "glrt-",
			"glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"),
		hides("a Slack token", `x(?:ox[abceoprs]|app)[.-][A-Za-z0-9.-]{12,}`, "xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxe.",
			"xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
		vendor("a Slack token", `x(?:ox[abceoprs]|app)-[0-9A-Za-z-]{20,}`, "xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxo-",
			"xoxp-", "xoxr-", "xoxs-", "xapp-"),
		vendor("a Slack cookie", `xoxd-[A-Za-z0-9%+/=._~-]{20,}`, "xoxd-"),
		vendor("a Slack webhook", `://hooks\.slack\.com/services/(T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,})`,
			"://hooks.slack.com/services/"),
		vendor("a Discord webhook", `://discord(?:app)?\.com/api/webhooks/([0-9]{16,}/[A-Za-z0-9_-]{40,})`,
			"://discord.com/api/webhooks/", "://discordapp.com/api/webhooks/"),
		hides("a Stripe webhook", `whsec_[A-Za-z0-9+/=]{16,}`, "whsec_"),
		vendor("a Google API key", `AIza[A-Za-z0-9_-]{30,}`, "AIza"),
		hides("a Google token", `ya29\.[A-Za-z0-9_-]{20,}`, "ya29."),
		vendor("a Google client secret", `GOCSPX-[A-Za-z0-9_-]{28}\b`, "GOCSPX-"),
		vendor("an Anthropic key", `sk-ant-[A-Za-z0-9_-]{12,}`, "sk-ant-"),
		// Other vendors use this prefix, too.
		{"an OpenAI key", []string{"sk-"}, key(`sk-[A-Za-z0-9_-]{16,}`, hasNoDigit),
			key(`sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}|[A-Za-z0-9]{20,}[A-Za-z0-9_-]{12,})`, example), false},
		vendor("an OpenRouter key", `sk-or-v1-[0-9a-f]{64}\b`, "sk-or-v1-"),
		hides("an Amp key", `sgamp_[A-Za-z0-9_-]{16,}`, "sgamp_"),
		vendor("a Groq key", `gsk_[A-Za-z0-9]{30,}`, "gsk_"),
		vendor("an xAI key", `xai-[A-Za-z0-9]{30,}`, "xai-"),
		vendor("a Perplexity key", `pplx-[A-Za-z0-9]{30,}`, "pplx-"),
		vendor("a Cursor key", `(?:key|crsr)_[0-9a-f]{64}\b`, "key_", "crsr_"),
		vendor("a Replicate token", `r8_[A-Za-z0-9]{37}\b`, "r8_"),
		vendor("a Hugging Face token", `hf_[A-Za-z0-9]{30,}`, "hf_"),
		hides("a Twilio key", `SK[0-9a-f]{32}\b`, "SK"),
		vendor("a Resend key", `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b`, "re_"),
		vendor("a Tailscale key", `tskey-[a-z]+-[A-Za-z0-9-]{20,}`, "tskey-"),
		vendor("a CircleCI token", `CCIP(?:AT|RJ)_[A-Za-z0-9]{16,}_[0-9a-f]{40}\b`, "CCIPAT_", "CCIPRJ_"),
		vendor("a Buildkite token", `bk(?:ua|ct|aj|pi|pt)_[A-Za-z0-9]{32,}\b`, "bkua_", "bkct_", "bkaj_", "bkpi_", "bkpt_"),
		vendor("a SonarQube token", `sq[apu]_[0-9a-f]{40}\b`, "sqa_", "sqp_", "squ_"),
		vendor("a Netlify token", `nf[pcou]_[A-Za-z0-9]{36,}\b`, "nfp_", "nfc_", "nfo_", "nfu_"),
		vendor("a Render key", `rnd_[A-Za-z0-9]{32}\b`, "rnd_"),
		vendor("a NuGet key", `oy2[a-z0-9]{43}\b`, "oy2"),
		vendor("a Tencent Cloud key", `AKID[A-Za-z0-9]{32}\b`, "AKID"),
		vendor("a Swarm token", `SWMTKN-1-[a-z0-9]{40,}-[a-z0-9]{20,}`, "SWMTKN-1-"),
		vendor("a PostHog key", `ph[xs]_[A-Za-z0-9]{40,}\b`, "phx_", "phs_"),
		vendor("a LaunchDarkly key", `(?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "sdk-", "api-"),
		vendor("an Adafruit key", `aio_[A-Za-z0-9]{28}\b`, "aio_"),
		vendor("a LangSmith key", `lsv2_[ps][tk]_[0-9a-f]{32}_[0-9a-f]{10}\b`, "lsv2_"),
		vendor("a Langfuse key", `sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}\b`, "sk-lf-"),
		vendor("a Tavily key", `tvly-(?:[a-z]+-)?[A-Za-z0-9]{32}\b`, "tvly-"),
		vendor("a Firecrawl key", `fc-[0-9a-f]{32}\b`, "fc-"),
		vendor("an NVIDIA key", `nvapi-[A-Za-z0-9_-]{60,}`, "nvapi-"),
		vendor("a Pinecone key", `pcsk_[A-Za-z0-9]+_[A-Za-z0-9]{60,}\b`, "pcsk_"),
		vendor("an Aiven password", `AVNS_[A-Za-z0-9_-]{19}`, "AVNS_"),
		vendor("a Neon password", `npg_[A-Za-z0-9]{12,}\b`, "npg_"),
		vendor("a Sourcegraph token", `sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}\b`, "sgp_"),
		vendor("an Infisical token", `st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}\b`, "st."),
		vendor("a Dropbox token", `sl\.(?:u\.)?[A-Za-z0-9_-]{130,}`, "sl."),
		vendor("a Hugging Face organization token", `api_org_[A-Za-z0-9]{34}\b`, "api_org_"),
		vendor("a MaxMind key", `_mmk\b`, "_mmk").back(36, `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}`),
		vendor("a Mailchimp key", `-us[0-9]{1,2}\b`, "-us").back(32, `[0-9a-f]{32}`),
		vendor("a New Relic ingest key", `NRAL\b`, "NRAL").back(36, `[0-9a-f]{36}`),
		{"an Azure client secret", []string{"Q~"}, azureSecret, noExample(azureSecret), true},
		vendor("a PayPal token", `\$production\$[a-z0-9]{16}\$[0-9a-f]{32}\b`, "$production$"),
		vendor("an OpenShift token", `sha256~[A-Za-z0-9_-]{43}`, "sha256~"),
		vendor("a Google refresh token", `1//0[A-Za-z0-9_-]{60,}`, "1//"),
		vendor("a Vault token", `vault login (s\.[A-Za-z0-9]{24})\b`, "vault login "),
		hides("a session in a cookie jar", jarLine, "TRUE", "FALSE"),
		{"a Square token", []string{"EAAA"}, notBase64(word(`EAAA[\w-]{22,60}`, true, 4.2)), nil, false},
		{"a Facebook token", []string{"EAA"}, notBase64(word(`EAA[A-Z][A-Za-z0-9]{80,}`, true, 4.2)), nil, false},
		// It begins with the base64 of a number.
		{"a Discord token", strings.Fields("MT Mj Mz ND NT Nj Nz OD OT"),
			notBase64(word(`[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}`, true, 3.5)), nil, false},
		vendor("a private key in base64", encodedKey, "LS0tLS1CRUdJTi"),
		{"a PuTTY key", []string{"Private-Lines: "},
			within(anyLength, `Private-Lines: *[0-9]+(?:\s|\\+[nr])*([\s\S]*?(?:Private-MAC: [0-9a-f]+|\z))`), nil, false},
		hides("a Vault key", `Unseal Key [0-9]+:\s*([A-Za-z0-9+/]{40,}={0,2})`, "Unseal Key "),
		hides("a password hash", `:(\$(?:[1567y]|2[aby]|gy|argon2id?)\$[^\s:"'\\]{20,})`, ":$"),
		{"an npm login", []string{":_auth", ":_password"},
			key(`:_(?:auth(?:Token)?|password)[ =]\\*["']?([A-Za-z0-9+/=_-]{8,})`, isWord), nil, false},
		hides("a Teams webhook", `\.webhook\.office\.com/webhookb2/[0-9a-f@-]{73}/IncomingWebhook/([0-9a-f]{32})`,
			".webhook.office.com/"),
		{"a token as a user", []string{"://"}, inAddress(key(`://([A-Za-z0-9._-]{20,})@`, hasNoDigit)), nil, false},
		{"a Telegram bot token", []string{":AA"}, botToken, noExample(botToken), false},
		vendor("an npm token", `npm_[A-Za-z0-9]{30,}`, "npm_"),
		vendor("a PyPI token", `pypi-[A-Za-z0-9_-]{32,}`, "pypi-"),
		vendor("a Cargo token", `cio[A-Za-z0-9]{32}\b`, "cio"),
		vendor("a Docker token", `dckr_[op]at_[A-Za-z0-9_-]{27,}`, "dckr_"),
		vendor("a Heroku key", `HRKU-[A-Za-z0-9_-]{36,}`, "HRKU-"),
		vendor("a Square token", `sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}`, "sq0"),
		vendor("an Atlassian token", `AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{32,}`, "ATATT3", "ATCTT3", "ATBB"),
		vendor("a Linear key", `lin_(?:api|oauth)_[A-Za-z0-9]{32,}\b`, "lin_"),
		vendor("a Notion token", `(?:secret|ntn)_[A-Za-z0-9]{40,}\b`, "secret_", "ntn_"),
		vendor("a Figma token", `fig[dou]r?_[A-Za-z0-9_-]{40,}`, "figd_", "figo", "figu"),
		vendor("a New Relic key", `NRA[KA]-[A-Z0-9]{27}\b`, "NRAK-", "NRAA-"),
		vendor("a Supabase key", `sb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,})`, "sbp_", "sb_secret_"),
		vendor("a Doppler token", `dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}`, "dp."),
		vendor("a Vault token", `hv[sbr]\.[A-Za-z0-9_-]{24,}`, "hvs.", "hvb.", "hvr."),
		vendor("a Terraform token", `\.atlasv1\.[A-Za-z0-9_=-]{40,}`, ".atlasv1.").back(14, `[A-Za-z0-9]{14}`),
		vendor("a Sentry token", `sntry[su]_[A-Za-z0-9+/=_-]{40,}`, "sntrys_", "sntryu_"),
		vendor("a Fly.io token", `(?:fm[12][ar]?|fo1)_[A-Za-z0-9+/=_-]{40,}`, "fm1", "fm2", "fo1_"),
		vendor("a 1Password token", `ops_eyJ[A-Za-z0-9+/_=-]{80,}`, "ops_eyJ"),
		vendor("an Artifactory key", `AKCp[A-Za-z0-9]{60,}\b`, "AKCp"),
		vendor("a Mapbox token", `sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`, "sk.eyJ"),
		{"a JSON web token", []string{"eyJ"}, key(webToken), key(webToken, uselessToken), false},
		{"a password in an address", []string{"://"}, inAddress(addressPassword), inAddress(addressPassword), false},
		{"a bearer token", []string{"Bearer ", "bearer "}, key(bearer, hasNoDigit), key(bearer, notRandom), false},
		hides("a Copilot token", `tid=[0-9a-f]*;exp=[0-9]+;[^\s"'\\]*:([0-9a-f]{40,})`, "tid="),
		hides("a response to a login", `response=\\*"([0-9a-f]{32})\\*"`, "response="),
		hides("a SonarQube login", `login=([0-9a-f]{40})\b`, "login="),
		hides("a code in an address", `[?&]code=([A-Za-z0-9%_=-]{40,})`, "?code=", "&code="),
		{"a secret with its name", []string{"=", ":"}, assigned(false), assigned(true), false},
		{"a password in a pipe", []string{"echo ", "printf "}, key(piped, notArgument), nil, false},
		{"a password of a user", []string{"/user:"}, key(`/user:[^\s:]+ +([^\s"']{6,})`, isWord, hasNoDigit), nil, false},
		{"a password for Bundler", []string{"BUNDLE_"}, key(`BUNDLE_\w*__\w*`+quote+`\s*[:=]\s*`+quote+
			`[^\s:"'\\]+:([^\s"'\\]{6,})`, isWord, hasNoDigit), nil, false},
		{"a password in .netrc", []string{"machine"}, key(`machine`+gap+`\S+`+gap+`login`+gap+`[^\s\\,]+`+gap+password+gap+
			`([^\s"'\\]+)`, notArgument), nil, false},
		{"a password after a login", []string{"login", "account"}, key(`(?:login|account)`+gap+`[^\s\\,]+`+gap+password+
			gap+`([^\s"'\\]+)`, notArgument, hasNoDigit), nil, false},
		{"a password on its line", []string{"passw"}, onItsLine, nil, false},
		{"a password for PostgreSQL", strings.Fields(":* :1 :2 :3 :4 :5 :6 :7 :8 :9"), pgpass, nil, false},
		{"a secret in XML", []string{"</"}, element, nil, false},
		{"a password in escaped XML", []string{`password\`, `passwd\`},
			key(password+`\\+u003e([^<\s\\]{6,})\\+u003c/`, notArgument), nil, true},
		{"a setting in XML", []string{"key="}, setting, nil, false},
	}
}

// maxSecret limits how far a pattern looks, in bytes. The rest of a longer word is hidden, too.
const maxSecret = 4 << 10

// anyLength is for secrets of several lines.
const anyLength = 1 << 30

// key returns a finder for a pattern, unless what it finds is harmless. It finds the group of the pattern that
// matches or, without a group, everything except the first characters.
func key(pattern string, harmless ...func(value string) bool) finder {
	return within(maxSecret, pattern, harmless...)
}

// within is key for secrets of up to most bytes.
func within(most int, pattern string, harmless ...func(value string) bool) finder {
	compiled := lazy.Regexp(`^(?:` + pattern + `)`)
	return func(text string, at int) (from, to int, ok bool) {
		m := compiled().FindStringSubmatchIndex(text[at:min(len(text), at+most)])
		if m == nil {
			return 0, 0, false
		}
		value := m[:2]
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				value = m[i : i+2]
			}
		}
		for _, is := range harmless {
			if is(text[at+value[0] : at+value[1]]) {
				return 0, 0, false
			}
		}
		if from, to = at+value[0], at+value[1]; len(m) == 2 {
			from += min(shownOfKey, m[1])
		}
		for to == at+most && to < len(text) && isKeyByte(text[to]) {
			to++
		}
		return from, to, true
	}
}

// vendor returns a row for unmistakable keys: Secrets returns what Redact hides.
func vendor(name, pattern string, starts ...string) shape {
	return shape{name: name, starts: starts, hidden: key(pattern), refused: key(pattern, example)}
}

// hides returns a row for what may be committed.
func hides(name, pattern string, starts ...string) shape {
	return shape{name: name, starts: starts, hidden: key(pattern)}
}

// back also requires what is before the start of the key, in n bytes, and hides that, too.
func (s shape) back(n int, pattern string) shape {
	find := preceded(n, pattern, s.hidden)
	s.hidden = func(text string, at int) (from, to int, ok bool) {
		_, to, ok = find(text, at)
		return at - n + shownOfKey, to, ok
	}
	s.refused, s.inside = noExample(s.hidden), true
	return s
}

// preceded requires a pattern in the n bytes before the key.
func preceded(n int, pattern string, find finder) finder {
	before := lazy.Regexp(`^` + pattern + `$`)
	return func(text string, at int) (from, to int, ok bool) {
		if at < n || !before().MatchString(text[at-n:at]) {
			return 0, 0, false
		}
		return find(text, at)
	}
}

var botToken = preceded(6, `[0-9]{6}`, key(`:AA[A-Za-z0-9_-]{33}\b`))

// notBase64 is find for keys whose start is common in base64.
func notBase64(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		if at > 0 && (text[at-1] == '/' || text[at-1] == '+') {
			return 0, 0, false
		}
		return find(text, at)
	}
}

var azure = lazy.Regexp(`[A-Za-z0-9_~.]{3}[0-9]$`)

// azureSecret finds a secret of 37 to 40 bytes with Q~ after the fourth, at the Q~.
func azureSecret(text string, at int) (from, to int, ok bool) {
	const before, shortest = 4, 37
	from, to = at-before, at
	if from < 0 || !azure().MatchString(text[from:at]) || !startsWord(text, from) {
		return 0, 0, false
	}
	for to < len(text) && (isKeyByte(text[to]) || text[to] == '~') {
		to++
	}
	return from + shownOfKey, to, to-from >= shortest
}

var address = lazy.Regexp(`^://[A-Za-z0-9._~%+-]*:([A-Za-z0-9._~%!$&+;=,-]+)@(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])`)

// inAddress is find for addresses with a user. Most have none.
func inAddress(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		before, _, _ := strings.Cut(text[at+len("://"):min(len(text), at+maxSecret)], "/")
		if !strings.Contains(before, "@") {
			return 0, 0, false
		}
		return find(text, at)
	}
}

// addressPassword finds the password in an address, at the "://".
func addressPassword(text string, at int) (from, to int, ok bool) {
	m := address().FindStringSubmatchIndex(text[at:min(len(text), at+maxSecret)])
	if m == nil || uselessAddress(text[at:at+m[1]]) {
		return 0, 0, false
	}
	return at + m[2], at + m[3], true
}

// element is a finder for <NAME>value</NAME>, at the "</".
func element(text string, at int) (from, to int, ok bool) {
	name, _, _ := strings.Cut(text[at+2:min(len(text), at+2+maxName)], ">")
	if !mayBeNamed(name) || !IsSecretName(name) {
		return 0, 0, false
	}
	from = strings.LastIndexAny(text[:at], " \t\r\n<>") + 1
	value := text[from:at]
	return from, at, from > 0 && text[from-1] == '>' && len(value) >= minPassword && !hasNoDigit(value) && !notArgument(value)
}

var appSetting = lazy.Regexp(`^key=\\*["']([A-Za-z_.:-]+)\\*["']\s+value=\\*["']([^"'\\<>]{6,})`)

// setting finds the value in <add key="NAME" value="...">.
func setting(text string, at int) (from, to int, ok bool) {
	m := appSetting().FindStringSubmatchIndex(text[at:min(len(text), at+maxSecret)])
	if m == nil || !IsSecretName(text[at+m[2]:at+m[3]]) || notArgument(text[at+m[4]:at+m[5]]) {
		return 0, 0, false
	}
	return at + m[4], at + m[5], true
}

var ownLine = key(password+blank+`([^\s"'\\]{8,})[ \t]*(?:\\+[nr]|[\r\n]|$)`, notArgument, hasNoDigit)

// onItsLine finds the password in a line of .netrc. The line before it may have been another write.
func onItsLine(text string, at int) (from, to int, ok bool) {
	before := strings.TrimRight(text[max(0, at-maxCommand):at], " \t")
	if before != "" && !strings.HasSuffix(before, "\n") && !strings.HasSuffix(before, `\n`) {
		return 0, 0, false
	}
	from, to, ok = ownLine(text, at)
	return from, to, ok && strings.ContainsFunc(text[from:to], isLetter)
}

var passLine = key(`:(?:[0-9]{4,5}|\*):[\w*.-]+:[\w*@.-]+:([^\s:"'\\/]{6,})(?:\\+[nr"]|["'\s]|$)`, notArgument, hasNoDigit)

// pgpass is a finder for lines HOST:PORT:DATABASE:USER:PASSWORD, at the first colon.
func pgpass(text string, at int) (from, to int, ok bool) {
	if end := strings.IndexByte(text[at+1:min(len(text), at+7)], ':'); end != 1 && end < 4 {
		return 0, 0, false
	}
	host := strings.LastIndexAny(text[max(0, at-maxName):at], "\n\"'\\") + 1 + max(0, at-maxName)
	if host == at || strings.ContainsFunc(text[host:at], func(r rune) bool { return r != '*' && (r > 'z' || !isKeyByte(byte(r))) }) {
		return 0, 0, false
	}
	from, to, ok = passLine(text, at)
	return from, to, ok && strings.ContainsFunc(text[from:to], isLetter)
}
