package logs

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// shape is a kind of secret. Its rows decide both what logs and screens hide and what
// ralph does not commit.
type shape struct {
	name string // "a GitHub token"
	// starts are the texts with which it starts: one of signs with what follows, or
	// three bytes or more of a long word.
	starts []string
	// hidden finds the part that Redact hides of a secret that starts at text[at]. It is broad,
	// because a false alarm costs little.
	hidden finder
	// refused finds what Secrets returns. It is exact, because a false alarm stops a
	// commit. nil: the shape is too common for that.
	refused finder
}

// finder returns where a secret is that starts at text[at].
type finder func(text string, at int) (from, to int, ok bool)

const (
	privateKeyStart = `-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----`
	privateKeyEnd   = `-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----`
	webToken        = `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`
	address         = `://[A-Za-z0-9._~%+-]*:([A-Za-z0-9._~%!$&+;=,-]+)@(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])`
	awsSecret       = `(?i)aws_?secret_?access_?key\\?["']?\s*[:=]\s*\\?["']?([A-Za-z0-9/+]{40})\b`
	bearer          = `earer ([A-Za-z0-9._~+/=-]{12,})`
)

// shapes is the table: what gitleaks does not have, or finds only in a form that is too narrow for logs, and then its
// rules.
var shapes = sync.OnceValue(func() []shape { return append(ownShapes(), vendorShapes()...) })

func ownShapes() []shape {
	return []shape{
		{"a private key", []string{"-----BEGIN "}, whole(privateKeyStart + `[\s\S]*?(?:` + privateKeyEnd + `|\z)`),
			whole(privateKeyStart+`(?:\s*\n|\\r|\\n)[\s\\nr]*[A-Za-z0-9+/=:]{4}`, example)},
		{"an AWS access key", []string{"AKIA", "ASIA"}, key(`A[KS]IA[A-Z0-9]{16}`),
			key(`A[KS]IA[0-9A-Z]{16}\b`, example)},
		{"an AWS secret key", []string{"aws_secret", "AWS_SECRET", "awsSecret", "AwsSecret", "awssecret", "aws_Secret"},
			key(awsSecret, example), key(awsSecret, example)},
		{"a GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
			key(`gh[pousr]_[A-Za-z0-9]{20,}`), key(`gh[pousr]_[A-Za-z0-9]{36,}\b`, example)},
		{"a GitHub token", []string{"github_pat_"}, key(`github_pat_[A-Za-z0-9_]{20,}`),
			key(`github_pat_[A-Za-z0-9_]{50,}\b`, example)},
		{"a GitLab token", []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-",
			"glsoat-", "glffct-"},
			key(`gl[a-z]+-[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,})?`),
			key(`gl[a-z]+-[A-Za-z0-9_-]{20,}`, example)},
		{"a Slack token", []string{"xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"},
			key(`x(?:ox[abceoprs]|app)[.-][A-Za-z0-9.-]{12,}`),
			key(`x(?:ox[abceoprs]|app)[.-][0-9A-Za-z-]{20,}`, example)},
		vendor("a Slack cookie", `xoxd-[A-Za-z0-9%+/=._~-]{20,}`, "xoxd-"),
		{"a Slack webhook", []string{"://hooks.slack.com/services/"},
			key(`://hooks\.slack\.com/services/(T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,})`),
			key(`://hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{24}\b`, example)},
		{"a Discord webhook", []string{"://discord.com/api/webhooks/", "://discordapp.com/api/webhooks/"},
			key(`://discord(?:app)?\.com/api/webhooks/([0-9]{16,}/[A-Za-z0-9_-]{40,})`),
			key(`://discord(?:app)?\.com/api/webhooks/[0-9]{16,}/[A-Za-z0-9_-]{60,}`, example)},
		{"a Stripe key", []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"},
			key(`(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}`), key(`[rs]k_live_[0-9A-Za-z]{20,}\b`, example)},
		{"a Google API key", []string{"AIza"}, key(`AIza[A-Za-z0-9_-]{30,}`), key(`AIza[0-9A-Za-z_-]{35}\b`, example)},
		{"a Google token", []string{"ya29."}, key(`ya29\.[A-Za-z0-9_-]{20,}`), nil},
		vendor("a Google client secret", `GOCSPX-[A-Za-z0-9_-]{28}\b`, "GOCSPX-"),
		{"an Anthropic key", []string{"sk-ant-"}, key(`sk-ant-[A-Za-z0-9_-]{12,}`),
			key(`sk-ant-[A-Za-z0-9_-]{24,}`, example)},
		// Other vendors use this prefix, too.
		{"an OpenAI key", []string{"sk-"}, key(`sk-[A-Za-z0-9_-]{16,}`, hasNoDigit),
			key(`sk-(?:proj-|svcacct-)?[A-Za-z0-9]{20,}[A-Za-z0-9_-]{12,}`, example)},
		vendor("an OpenRouter key", `sk-or-v1-[0-9a-f]{64}\b`, "sk-or-v1-"),
		{"an Amp key", []string{"sgamp_"}, key(`sgamp_[A-Za-z0-9_-]{16,}`), nil},
		{"a Groq key", []string{"gsk_"}, key(`gsk_[A-Za-z0-9]{30,}`), key(`gsk_[A-Za-z0-9]{52}\b`, example)},
		{"an xAI key", []string{"xai-"}, key(`xai-[A-Za-z0-9]{30,}`), key(`xai-[A-Za-z0-9]{80}\b`, example)},
		{"a Perplexity key", []string{"pplx-"}, key(`pplx-[A-Za-z0-9]{30,}`), key(`pplx-[A-Za-z0-9]{48}\b`, example)},
		{"a Cursor key", []string{"key_", "crsr_"}, key(`(?:key|crsr)_[0-9a-f]{64}\b`),
			key(`(?:key|crsr)_[0-9a-f]{64}\b`, example)},
		vendor("a Replicate token", `r8_[A-Za-z0-9]{37}\b`, "r8_"),
		{"a Hugging Face token", []string{"hf_"}, key(`hf_[A-Za-z0-9]{30,}`), key(`hf_[A-Za-z0-9]{34}\b`, example)},
		{"a SendGrid key", []string{"SG."}, key(`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
			key(`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b`, example)},
		{"a Twilio key", strings.Fields("SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf"),
			key(`SK[0-9a-f]{32}\b`), nil},
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
		{"an Azure client secret", []string{"~"}, azureSecret, noExample(azureSecret)},
		vendor("a PayPal token", `\$production\$[a-z0-9]{16}\$[0-9a-f]{32}\b`, "$production$"),
		vendor("an OpenShift token", `sha256~[A-Za-z0-9_-]{43}`, "sha256~"),
		vendor("a Google refresh token", `1//0[A-Za-z0-9_-]{60,}`, "1//"),
		vendor("a Vault token", `vault login (s\.[A-Za-z0-9]{24})\b`, "vault login "),
		{"a session in a cookie jar", []string{"TRUE\t", "TRUE ", `TRUE\`, "FALSE\t", "FALSE ", `FALSE\`}, cookieJar, nil},
		{"a Square token", []string{"EAAA"}, notBase64(word(`EAAA[\w-]{22,60}`, true, 4.2)), nil},
		{"a Facebook token", []string{"EAA"}, notBase64(word(`EAA[A-Z][A-Za-z0-9]{80,}`, true, 4.2)), nil},
		{"a Discord token", discordStarts(), notBase64(word(`[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}`, true, 3.5)), nil},
		{"a private key in base64", []string{"LS0tLS1CRUdJTi"}, encodedKey, encodedKey},
		{"a Vault key", []string{": "}, unseal, nil},
		{"a password hash", []string{":$"}, key(`:(\$(?:[1567y]|2[aby]|gy|argon2id?)\$[^\s:"'\\]{20,})`), nil},
		{"an npm login", []string{":_auth", ":_password"}, key(`:_(?:auth(?:Token)?|password)[ =]\\*["']?([A-Za-z0-9+/=_-]{8,})`, isWord), nil},
		{"a Teams webhook", []string{".webhook.office.com/"},
			key(`\.webhook\.office\.com/webhookb2/[0-9a-f@-]{73}/IncomingWebhook/([0-9a-f]{32})`), nil},
		{"a token as a user", []string{"://"}, tokenAsUser, nil},
		vendor("a Telegram bot token", `:AA[A-Za-z0-9_-]{33}\b`, ":AA").after(`[0-9]{6}`, 6),
		{"an npm token", []string{"npm_"}, key(`npm_[A-Za-z0-9]{30,}`), key(`npm_[A-Za-z0-9]{36}\b`, example)},
		{"a PyPI token", []string{"pypi-"}, key(`pypi-[A-Za-z0-9_-]{32,}`),
			key(`pypi-AgEIcHlwaS[A-Za-z0-9_-]{50,}`, example)},
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
		{"a JSON web token", []string{"eyJ"}, key(webToken), key(webToken, uselessToken)},
		{"a password in an address", []string{"://"}, inAddress(key(address, uselessAddress)),
			inAddress(key(address, uselessAddress))},
		{"a bearer token", []string{"earer "}, key(bearer, hasNoDigit), key(bearer, notRandom)},
		{"a secret with its name", []string{"=", ":"}, assigned(false), assigned(true)},
		{"a secret in a command", flagStarts(), inCommand, nil},
		{"a password after a login", []string{"passwo", "passwd"}, afterLogin, nil},
		{"a password for PostgreSQL", strings.Fields(":* :1 :2 :3 :4 :5 :6 :7 :8 :9"), pgpass, nil},
		{"a secret in XML", []string{"</"}, element, nil},
	}
}

// maxSecret limits how far a pattern looks, in bytes. The rest of a longer word is hidden, too.
const maxSecret = 4 << 10

// key returns a finder for a pattern, unless the match is harmless. It finds the group of the pattern or, without a
// group, everything except the first characters. Inlined, the program would contain it twice for each row.
//
//go:noinline
func key(pattern string, harmless ...func(match string) bool) finder {
	compiled := re(`^(?:` + pattern + `)`)
	return func(text string, at int) (from, to int, ok bool) {
		window := text[at:min(len(text), at+maxSecret)]
		m := compiled().FindStringSubmatchIndex(window)
		if m == nil {
			return 0, 0, false
		}
		for _, is := range harmless {
			if is(window[:m[1]]) {
				return 0, 0, false
			}
		}
		if from, to = at+min(shownOfKey, m[1]), at+m[1]; len(m) > 2 {
			from, to = at+m[2], at+m[3]
		}
		for to == at+maxSecret && to < len(text) && isKeyByte(text[to]) {
			to++
		}
		return from, to, true
	}
}

var azure = re(`[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]*$`)

// azureSecret finds a secret of 37 to 40 bytes with Q~ after the fourth, at a ~ before a long word.
func azureSecret(text string, at int) (from, to int, ok bool) {
	const longest, shortest = 40, 37
	m := azure().FindStringIndex(text[max(0, at-longest) : at+1])
	if m == nil {
		return 0, 0, false
	}
	from = max(0, at-longest) + m[0]
	for to = at + 1; to < len(text) && (isKeyByte(text[to]) || text[to] == '~'); {
		to++
	}
	return min(from+shownOfKey, to), to, to-from >= shortest && startsWord(text, from)
}

// tokenAsUser finds the user in an address without a password, if it looks like a key.
func tokenAsUser(text string, at int) (from, to int, ok bool) {
	const shortest = 20
	from = at + len("://")
	for to = from; to < len(text) && isKeyByte(text[to]) && to-from < maxSecret; {
		to++
	}
	return from, to, to-from >= shortest && to < len(text) && text[to] == '@' && !hasNoDigit(text[from:to])
}

// inAddress is find for addresses with a user and a password. Most have none.
func inAddress(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		colon := false
		for i := at + len("://"); i < len(text) && i < at+maxSecret; i++ {
			switch c := text[i]; {
			case c == ':':
				colon = true
			case c == '@' && colon:
				return find(text, at)
			case c >= 0x80 || !isKeyByte(c) && strings.IndexByte("~%+!$&;=,", c) < 0:
				return 0, 0, false
			}
		}
		return 0, 0, false
	}
}

// whole returns a finder for a pattern that may be long.
func whole(pattern string, harmless ...func(match string) bool) finder {
	compiled := re(`^(?:` + pattern + `)`)
	return func(text string, at int) (from, to int, ok bool) {
		end := compiled().FindStringIndex(text[at:])
		if end == nil || len(harmless) > 0 && harmless[0](text[at:at+end[1]]) {
			return 0, 0, false
		}
		return at + min(shownOfKey, end[1]), at + end[1], true
	}
}

// vendor returns a row for unmistakable keys: Secrets returns what Redact hides.
func vendor(name, pattern string, starts ...string) shape {
	return shape{name, starts, key(pattern), key(pattern, example)}
}

// back also requires what is before the start of the key, in n bytes, and hides that, too.
func (s shape) back(n int, pattern string) shape {
	before, find := re(`^`+pattern+`$`), s.hidden
	s.hidden = func(text string, at int) (from, to int, ok bool) {
		if from = at - n; from < 0 || !startsWord(text, from) || !before().MatchString(text[from:at]) {
			return 0, 0, false
		}
		_, to, ok = find(text, at)
		return from + min(shownOfKey, n), to, ok
	}
	s.refused = noExample(s.hidden)
	return s
}

// after requires n bytes before the start of the key.
func (s shape) after(pattern string, n int) shape {
	before := re(`^` + pattern + `$`)
	check := func(find finder) finder {
		return func(text string, at int) (from, to int, ok bool) {
			if at < n || !before().MatchString(text[at-n:at]) {
				return 0, 0, false
			}
			return find(text, at)
		}
	}
	s.hidden, s.refused = check(s.hidden), check(s.refused)
	return s
}

// notBase64 is find for keys whose start is common in base64.
func notBase64(find finder) finder {
	return func(text string, at int) (from, to int, ok bool) {
		if at > 0 && (text[at-1] == '/' || text[at-1] == '+') {
			return 0, 0, false
		}
		return find(text, at)
	}
}

// discordStarts returns the starts of Discord's tokens: base64 of the first digits of a number.
func discordStarts() []string {
	var starts []string
	for i := 10; i < 100; i++ {
		starts = append(starts, base64.StdEncoding.EncodeToString(strconv.AppendInt(nil, int64(i)*10, 10))[:3])
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}

const blank = `(?:\s+|\\+t)`

var jarLine = re(`^/[^\s\\]*` + blank + `(?:TRUE|FALSE)` + blank + `[0-9]+` + blank + `[^\s\\]+` + blank + `([\w.-]{16,}[^\x00-\x20\\"]*)`)

// cookieJar finds the value in a line of a file of cookies, at the TRUE or FALSE in its second column.
func cookieJar(text string, at int) (from, to int, ok bool) {
	path := afterBlanks(text, at+strings.IndexByte(text[at:], 'E')+1)
	if !strings.HasPrefix(text[path:], "/") {
		return 0, 0, false
	}
	m := jarLine().FindStringSubmatchIndex(text[path:min(len(text), path+maxSecret)])
	if m == nil {
		return 0, 0, false
	}
	from, to = path+m[2], path+m[3]
	return from, to, !hasNoDigit(text[from:to])
}

// re compiles a pattern on first use. Inlined, the program would contain it once for each row.
//
//go:noinline
func re(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
