package logs

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

var update = flag.Bool("update", false, "write vendors.go")

// leftOut are rules of gitleaks that have no row in vendors.go.
var leftOut = map[string]string{
	"generic-api-key":                    "any name and any value: assigned.go has bounds for these",
	"hashicorp-tf-password":              "the same, for password only",
	"curl-auth-header":                   "Authorization headers are found everywhere",
	"curl-auth-user":                     "a row of commands.go",
	"nuget-config-password":              "config files are read by name",
	"kubernetes-secret-yaml":             "spans lines",
	"freemius-secret-key":                "for PHP files only, and found by its name",
	"private-key":                        "a row of shapes.go, which also hides a key that is cut off",
	"jwt":                                "a row of shapes.go",
	"sidekiq-sensitive-url":              "passwords in addresses are found everywhere",
	"azure-ad-client-secret":             "a row of shapes.go: it has no start",
	"maxmind-license-key":                "a row of shapes.go: it has no start",
	"hashicorp-tf-api-token":             "a row of shapes.go: it has no start",
	"facebook-access-token":              "numbers with a bar: it has no start",
	"microsoft-teams-webhook":            "a row of shapes.go that keeps the address readable",
	"slack-webhook-url":                  "a row of shapes.go that keeps the address readable",
	"gitlab-session-cookie":              "found by its name",
	"openshift-user-token":               "a row of shapes.go: its start is too short a word",
	"vault-service-token":                "a row of shapes.go; s. and 24 letters is code, too",
	"square-access-token":                "a row of shapes.go; EAAA is common in pictures",
	"twilio-api-key":                     "a row of shapes.go",
	"atlassian-api-token":                "a row of shapes.go: two shapes in one",
	"gocardless-api-token":               "live_ and 40 letters is a name, too; found by its own name",
	"huggingface-access-token":           "a row of shapes.go, which takes digits, too",
	"huggingface-organization-api-token": "the same",
	"slack-config-access-token":          "a row of shapes.go",
	"slack-config-refresh-token":         "a row of shapes.go",
	"slack-app-token":                    "a row of shapes.go",
	"slack-user-token":                   "a row of shapes.go",
	"authress-service-client-access-key": "sc_ and ext_ are common names; found by its own name",
	"sourcegraph-access-token":           "any 40 hexadecimal digits: a row of shapes.go for sgp_",
	"adobe-client-id":                    "not secret",
	"asana-client-id":                    "not secret",
	"bitbucket-client-id":                "not secret",
	"discord-client-id":                  "not secret",
	"looker-client-id":                   "not secret",
	"linkedin-client-id":                 "not secret",
	"messagebird-client-id":              "not secret",
	"plaid-client-id":                    "not secret",
	"sendbird-access-id":                 "not secret",
	"sumologic-access-id":                "not secret",
	"flutterwave-public-key":             "not secret",
	"lob-pub-api-key":                    "not secret",
	"mailgun-pub-key":                    "not secret",
	"mapbox-api-token":                   "not secret",
}

// ownRows are rules of gitleaks whose keys a row of shapes.go finds, too.
const ownRows = "anthropic-admin-api-key anthropic-api-key artifactory-api-key aws-access-token " +
	"doppler-api-token gcp-api-key github-app-token " +
	"github-fine-grained-pat github-oauth github-pat github-refresh-token " +
	"gitlab-cicd-job-token gitlab-deploy-token gitlab-feature-flag-client-token gitlab-feed-token " +
	"gitlab-incoming-mail-token gitlab-kubernetes-agent-token gitlab-oauth-app-secret gitlab-pat " +
	"gitlab-pat-routable gitlab-ptt gitlab-runner-authentication-token gitlab-runner-authentication-token-routable " +
	"gitlab-scim-token heroku-api-key-v2 linear-api-key notion-api-token " +
	"npm-access-token openai-api-key perplexity-api-key pypi-upload-token " +
	"sentry-org-token sentry-user-token slack-bot-token " +
	"slack-legacy-bot-token vault-batch-token " +
	"1password-service-account-token flyio-access-token"

const (
	beforeName = `[\w.-]{0,50}?`
	afterName  = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	operator   = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
)

var terminators = []string{"(?:[\\x60'\"\\s;]|\\\\[nr]|$)", "(?:[\\x60'\"\\s;]|\\\\[nr]|$|\\b)", `(?:[^a-zA-Z0-9+/]|\z)`, `\b`}

func TestGenerated_vendors_areThoseOfGitleaks(t *testing.T) {
	var config struct {
		Rules []struct {
			ID, Regex string
			Entropy   float64
		}
	}
	if _, err := toml.DecodeFile("testdata/gitleaks/gitleaks.toml", &config); err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(ownRows) {
		leftOut[id] = "a row of shapes.go"
	}
	var keys, named []string
	for _, r := range config.Rules {
		if leftOut[r.ID] != "" || r.Regex == "" {
			delete(leftOut, r.ID)
			continue
		}
		name, pattern := "", r.Regex
		if head, value, ok := strings.Cut(pattern, operator); ok {
			fold := ""
			if head, ok = strings.CutPrefix(head, "(?i)"); ok {
				fold = "(?i)"
			} else { // the name alone is in any case
				head = strings.TrimSuffix(strings.TrimPrefix(head, beforeName+"(?i:"), ")")
			}
			name = strings.TrimSuffix(strings.TrimPrefix(head, beforeName), afterName)
			pattern = fold + value
		}
		pattern, ends := body(pattern)
		starts := startsOf(t, pattern)
		switch {
		case name != "" && (len(starts) == 0 || slices.ContainsFunc(starts, func(s string) bool { return len(s) < 4 })):
			name = plain(t, strings.ToLower(strings.ReplaceAll(name, "(?-i:", "(?:")))
			named = append(named, name)
		case len(starts) == 0:
			t.Errorf("%s has no start: give it a row of its own, and leave it out: %s", r.ID, pattern)
		default:
			keys = append(keys, fmt.Sprintf("%s\t%s\t%t\t%g\t%s", r.ID, strings.Join(starts, " "), ends, r.Entropy, plain(t, pattern)))
		}
	}
	for id := range leftOut {
		t.Errorf("gitleaks has no rule %q", id)
	}
	var text bytes.Buffer
	text.WriteString("// Code generated by TestGenerated_vendors_areThoseOfGitleaks; DO NOT EDIT.\n//\n" +
		"// Made from config/gitleaks.toml of gitleaks v8.30.1, Copyright (c) 2019 Zachary Rice, MIT License:\n" +
		"// testdata/gitleaks has both.\n\npackage logs\n\n" +
		"// ruleKeys has a line for each key that its start reveals: name, starts, whether it ends where the pattern ends,\n" +
		"// its least entropy in bits per byte, pattern.\nconst ruleKeys = \"\"")
	for _, line := range keys {
		fmt.Fprintf(&text, " +\n%q", line+"\n")
	}
	text.WriteString("\n\n// vendorNames matches names of variables, in lower case, whose values are keys of a vendor.\nconst vendorNames = \"\"")
	slices.Sort(named)
	between := ""
	for eight := range slices.Chunk(slices.Compact(named), 8) {
		fmt.Fprintf(&text, " +\n%q", between+strings.Join(eight, "|"))
		between = "|"
	}
	want, err := format.Source(append(text.Bytes(), '\n'))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("vendors.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile("vendors.go"); !bytes.Equal(got, want) {
		t.Error("vendors.go is stale: make generate")
	}
}

// body returns a pattern without what must be around the key, and whether the key must be a whole word.
func body(pattern string) (string, bool) {
	ends := false
	for _, end := range terminators {
		if rest, ok := strings.CutSuffix(pattern, end); ok {
			pattern, ends = rest, true
		}
	}
	fold := ""
	if rest, ok := strings.CutPrefix(pattern, "(?i)"); ok {
		pattern, fold = rest, "(?i)"
	}
	return fold + strings.TrimPrefix(pattern, `\b`), ends
}

// plain returns the pattern without groups that capture.
func plain(t *testing.T, pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("\u017f", "", "\u212a", "").Replace(uncaptured(re).String()) // s and K of other scripts
}

func uncaptured(re *syntax.Regexp) *syntax.Regexp {
	for i := range re.Sub {
		re.Sub[i] = uncaptured(re.Sub[i])
	}
	if re.Op == syntax.OpCapture {
		return re.Sub[0]
	}
	return re
}

// startsOf returns the texts with which all matches start, as the pattern has them; nil: there are none of three
// bytes or more.
func startsOf(t *testing.T, pattern string) []string {
	re, err := syntax.Parse(strings.NewReplacer("(?i)", "", "(?i:", "(?:").Replace(pattern), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	starts, _ := literals(uncaptured(re))
	for i, s := range starts {
		end := 0
		for end < len(s) && isKeyByte(s[end]) {
			end++
		}
		if starts[i] = s[:end]; end < 3 {
			return nil
		}
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}

// literals returns the texts with which all matches start, and whether these are whole matches.
func literals(re *syntax.Regexp) (texts []string, whole bool) {
	const most = 16
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if texts = append(texts, string(r)); len(texts) > most {
					return []string{""}, false
				}
			}
		}
		return texts, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, w := literals(sub)
			texts, whole = append(texts, more...), whole && w
		}
		return texts, whole
	case syntax.OpConcat:
		texts = []string{""}
		for _, sub := range re.Sub {
			more, w := literals(sub)
			if len(texts)*len(more) > most {
				return texts, false
			}
			var joined []string
			for _, a := range texts {
				for _, b := range more {
					joined = append(joined, a+b)
				}
			}
			if texts = joined; !w {
				return texts, false
			}
		}
		return texts, true
	}
	return []string{""}, false
}
