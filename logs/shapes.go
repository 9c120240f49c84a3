package logs

import (
	"regexp"
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

// shapes is the table.
var shapes = sync.OnceValue(func() []shape {
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
		{"a GitLab token", []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"},
			key(`gl[a-z]+-[A-Za-z0-9_-]{16,}`), key(`gl[a-z]+-[A-Za-z0-9_-]{20,}`, example)},
		{"a Slack token", []string{"xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"},
			key(`x(?:ox[abeoprs]|app)[.-][A-Za-z0-9-]{12,}`),
			key(`x(?:ox[abeoprs]|app)[.-][0-9A-Za-z-]{20,}`, example)},
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
		vendor("a Mailgun key", `key-[0-9a-f]{32}\b`, "key-"),
		vendor("a Brevo key", `xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}\b`, "xkeysib-"),
		vendor("a Resend key", `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b`, "re_"),
		vendor("a Telegram bot token", `:AA[A-Za-z0-9_-]{33}\b`, ":AA"),
		{"an npm token", []string{"npm_"}, key(`npm_[A-Za-z0-9]{30,}`), key(`npm_[A-Za-z0-9]{36}\b`, example)},
		{"a PyPI token", []string{"pypi-"}, key(`pypi-[A-Za-z0-9_-]{32,}`),
			key(`pypi-AgEIcHlwaS[A-Za-z0-9_-]{50,}`, example)},
		vendor("a RubyGems key", `rubygems_[0-9a-f]{48}\b`, "rubygems_"),
		vendor("a Cargo token", `cio[A-Za-z0-9]{32}\b`, "cio"),
		vendor("a Docker token", `dckr_[op]at_[A-Za-z0-9_-]{27,}`, "dckr_"),
		vendor("a DigitalOcean token", `do[opr]_v1_[0-9a-f]{64}\b`, "doo_v1_", "dop_v1_", "dor_v1_"),
		vendor("a Heroku key", `HRKU-[A-Za-z0-9_-]{36,}`, "HRKU-"),
		vendor("a Databricks token", `dapi[0-9a-f]{32}\b`, "dapi"),
		vendor("a Shopify token", `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b`, "shpat_", "shpca_", "shppa_", "shpss_"),
		vendor("a Square token", `sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}`, "sq0"),
		vendor("an Atlassian token", `AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{32,}`, "ATATT3", "ATCTT3", "ATBB"),
		vendor("a Linear key", `lin_(?:api|oauth)_[A-Za-z0-9]{32,}\b`, "lin_"),
		vendor("a Notion token", `(?:secret|ntn)_[A-Za-z0-9]{40,}\b`, "secret_", "ntn_"),
		vendor("a Figma token", `fig[dou]r?_[A-Za-z0-9_-]{40,}`, "figd_", "figo", "figu"),
		vendor("an Airtable token", `pat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b`, "pat"),
		vendor("a Postman key", `PMAK-[0-9a-f]{24}-[0-9a-f]{34}\b`, "PMAK-"),
		vendor("a Sentry token", `sntry[su]_[A-Za-z0-9+/=_-]{40,}`, "sntrys_", "sntryu_"),
		vendor("a New Relic key", `NRA[KA]-[A-Z0-9]{27}\b`, "NRAK-", "NRAA-"),
		vendor("a Grafana token", `gl(?:sa_[A-Za-z0-9]{32}_[0-9a-f]{8}|c_[A-Za-z0-9+/=]{32,})`, "glsa_", "glc_"),
		vendor("a PlanetScale token", `pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}`, "pscale_"),
		vendor("a Supabase key", `sb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,})`, "sbp_", "sb_secret_"),
		vendor("a Doppler token", `dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}`, "dp."),
		vendor("a Vault token", `hv[sbr]\.[A-Za-z0-9_-]{24,}`, "hvs.", "hvb.", "hvr."),
		{"a Terraform token", []string{".atlasv1."}, key(`\.atlasv1\.([A-Za-z0-9_=-]{40,})`),
			key(`\.atlasv1\.([A-Za-z0-9_=-]{60,})`, example)},
		vendor("a Pulumi token", `pul-[0-9a-f]{40}\b`, "pul-"),
		vendor("a Fly.io token", `(?:fm[12][ar]?|fo1)_[A-Za-z0-9+/=_-]{40,}`, "fm1", "fm2", "fo1_"),
		vendor("a 1Password token", `ops_eyJ[A-Za-z0-9_=-]{80,}`, "ops_eyJ"),
		vendor("an age key", `AGE-SECRET-KEY-1[A-Z0-9]{58}\b`, "AGE-SECRET-KEY-1"),
		vendor("a Mapbox token", `sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`, "sk.eyJ"),
		vendor("an Artifactory key", `AKCp[A-Za-z0-9]{60,}\b`, "AKCp"),
		{"a JSON web token", []string{"eyJ"}, key(webToken), key(webToken, uselessToken)},
		{"a password in an address", []string{"://"}, inAddress(key(address, uselessAddress)),
			inAddress(key(address, uselessAddress))},
		{"a bearer token", []string{"earer "}, key(bearer, hasNoDigit), key(bearer, notRandom)},
		{"a secret with its name", []string{"=", ":"}, assigned(false), assigned(true)},
	}
})

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
		return at + shownOfKey, at + end[1], true
	}
}

// vendor returns a row for unmistakable keys: Secrets returns what Redact hides.
func vendor(name, pattern string, starts ...string) shape {
	return shape{name, starts, key(pattern), key(pattern, example)}
}

// re compiles a pattern on first use. Inlined, the program would contain it once for each row.
//
//go:noinline
func re(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
