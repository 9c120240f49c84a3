package logs

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRedact_assignments_onlyValuesOfSecretsAreHidden(t *testing.T) {
	for text, value := range map[string]string{
		"API_KEY=abc123def456":                                   "abc123def456",
		"export DB_PASSWORD=\"correct horse battery\"":           "correct horse battery",
		"docker run -e POSTGRES_PASSWORD=swordfish99 db":         "swordfish99",
		`{"text":"ran\nDB_PASSWORD=hunter2xyz\nthen"}`:           "hunter2xyz",
		`{"command":"TOKEN=\"a1b2c3d4e5\" make"}`:                "a1b2c3d4e5",
		"\x1b[31mJWT_KEY=aB3dE5fG7h\x1b[0m":                      "aB3dE5fG7h",
		`{"password": "hunter2xyz", "user": "ann"}`:              "hunter2xyz",
		"SECRET_KEY = 'django-insecure-8x7z6y5w'":                "django-insecure-8x7z6y5w",
		"https://x.example/cb?access_token=a1b2c3d4e5f6&state=1": "a1b2c3d4e5f6",
		"Authorization: Bearer abcdef.ghijkl":                    "abcdef.ghijkl",
		`-H "Authorization: Basic YW5uOmh1bnRlcjI="`:             "YW5uOmh1bnRlcjI=",
		`{"authorization":"token 0123456789abcdef0123"}`:         "0123456789abcdef0123",
		"got Bearer 0a1b2c3d4e5f6a7b8c9d back":                   "0a1b2c3d4e5f6a7b8c9d",
		"x-api-key: 0a1b2c3d4e5f6a7b8c9d0a1b":                    "0a1b2c3d4e5f6a7b8c9d0a1b",
		"APP_PWD=tr0ub4dor":                                      "tr0ub4dor",
		"AccountName=a;AccountKey=" + strings.Repeat("aB3+", 22): strings.Repeat("aB3+", 22),
		"SUPABASE_SERVICE_ROLE_KEY: 'sbx-0a1b2c3d4e5f'":          "sbx-0a1b2c3d4e5f",
		"redis://:f3b1c2d4@cache/0 and TOKEN=zZ9yY8xX7wW6":       "zZ9yY8xX7wW6",
	} {
		if got := Redact(text); got == text || strings.Contains(got, value) {
			t.Errorf("Redact(%q) = %q", text, got)
		}
		if got := Redact(Redact(text)); got != Redact(text) {
			t.Errorf("%q changes again: %q", Redact(text), got)
		}
	}
	for _, text := range []string{
		"API_KEY=$OTHER_KEY", "API_KEY=<your key>", "API_KEY=your-api-key-here", "TOKEN=${{ secrets.TOKEN }}", "PASSWORD=password",
		"SECRET=xxxxxxxxxxxx", "token := parser.next()", "token = nextToken(2)", "api_key=settings.API_KEY", "password: string;",
		"if token == expected2 {", "token => token1234", "PASSWORD_MIN_LENGTH=12345678", "max_tokens=200000", `"input_tokens":123456`,
		"missing ANTHROPIC_API_KEY: please set it", "GITHUB_TOKEN: 403 Forbidden", "STATUS: COMPLETE", "EXIT_SIGNAL: true",
		"SSH_KEY=/root/.ssh/id_ed25519", "DATABASE_URL=postgres://localhost/app", "the bearer authentication-required header",
		"Authorization: Bearer <token>", "PWD=/home/ann/project1", "KEY=value123456", "author: ann12345678901234567890",
		"let apiKey = process.env.API_KEY", "secrets: inherit", "ENV_EXCLUDE='!GITHUB_TOKEN'", "cache_key=0123456789abcdef",
		"risk-free-something-quite-long-2024", "mask-image-2x-retina-dark", "desk-0123456789abcdef", "precious0123456789abcdefghijklmnopq",
		"    --- PASS: TestAddress/ipv4-in-ipv6 (0.00s)", `{"Output":"    --- PASS: TestAddress/ipv4-in-ipv6 (0.00s)\n"}`,
		"openssl pkcs12 -in key.p12 -passin pass:notasecret -out key.pem", "export GCLOUD_TESTS_API_KEY=abcdefghijk123456789",
		`SECRET_MANAGER_PROJECT_ID="cloud-devrel-resources"`, "AZURE_TOKEN_CREDENTIALS=WorkloadIdentityCredential",
		`AZURE_CLIENT_SECRET="__CLIENT_SECRET__"`, "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE=urn:ietf:params:oauth:token-type:jwt",
		"\tCredentials: v4aCredentialProvider,", "token_proto_rawDesc = file_envoy_api_v2_auth_secret_proto_rawDesc",
		"docker build --secret id=deploy-key1,src=key1 .", `url = "https://example.com/?token=" + token2`, `"access_key=" + (data.Key2)`,
		`"token_expiry": "2018-12-02T04:08:13Z"`, "\tmachine  string\n\tlogin    string\n\tpassword string\n",
	} {
		if got := Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
}

// vendorKeys are made here, so that no file contains one.
func vendorKeys() []string {
	hex, mixed, upper := strings.Repeat("0a1b2c3d", 12), strings.Repeat("aB3dE5fG7h", 12), strings.Repeat("Q7Z3X9", 12)
	return []string{
		"GOCSPX-" + mixed[:28], "sk-or-v1-" + hex[:64], "gsk_" + mixed[:52], "xai-" + mixed[:80], "pplx-" + mixed[:48], "key_" + hex[:64],
		"r8_" + mixed[:37], "SG." + mixed[:22] + "." + mixed[:43], "SK" + hex[:32], "key-" + hex[:32], "xkeysib-" + hex[:64] + "-" + mixed[:16],
		"re_" + mixed[:8] + "_" + mixed[:24], "123456789:AA" + mixed[:33], "rubygems_" + hex[:48], "cio" + mixed[:32], "dckr_pat_" + mixed[:27],
		"dop_v1_" + hex[:64], "HRKU-" + mixed[:36], "dapi" + hex[:32], "shpat_" + hex[:32], "sq0atp-" + mixed[:22], "ATATT3" + mixed[:60],
		"lin_api_" + mixed[:40], "secret_" + mixed[:43], "ntn_" + mixed[:46], "figd_" + mixed[:40], "pat" + mixed[:14] + "." + hex[:64],
		"PMAK-" + hex[:24] + "-" + hex[:34], "sntrys_" + mixed[:60], "NRAK-" + upper[:27], "glsa_" + mixed[:32] + "_" + hex[:8],
		"pscale_tkn_" + mixed[:43], "sbp_" + hex[:40], "sb_secret_" + mixed[:31], "dp.pt." + mixed[:43], "hvs." + mixed[:90],
		mixed[:14] + ".atlasv1." + mixed[:60], "pul-" + hex[:40], "fo1_" + mixed[:43], "ops_eyJ" + mixed[:100], "AGE-SECRET-KEY-1" + upper[:58],
		"sk.eyJ" + mixed[:40] + "." + mixed[:22], "AKCp" + mixed[:69], "whsec_" + mixed[:32], "rk_live_" + mixed[:24], "xapp-1-" + upper[:11] + "-" + hex[:24],
		"https://hooks.slack.com/services/T01234567/B01234567/" + mixed[:24], "https://discord.com/api/webhooks/123456789012345678/" + mixed[:68],
	}
}

func TestRedact_keysOfVendors_areHiddenWhereverTheyStand(t *testing.T) {
	for _, key := range vendorKeys() {
		for _, place := range []string{"%s", "use %s now", `{"out":"x\n%s\n"}`, "key=%s&b=1", "\x1b[32m%s\x1b[0m", "%%3D%s", "(%s)"} {
			text := strings.ReplaceAll(strings.Replace(place, "%s", key, 1), "%%", "%")
			if got := Redact(text); strings.Contains(got, key[len(key)-12:]) {
				t.Errorf("Redact(%q) = %q", text, got)
			}
		}
	}
}

func TestSecrets_keysOfVendorsAndNamedKeys_areRefused(t *testing.T) {
	missed := 0
	for _, key := range append(vendorKeys(), "APP_TOKEN=q8Zt2LxV9mRb4KsW7nYc", `AUTH_SECRET="q8Zt2LxV9mRb4KsW7nYc"`, "Authorization: Bearer q8Zt2LxV9mRb4KsW7nYc") {
		if len(Secrets("a "+key+" b")) == 0 {
			missed++
			t.Logf("committed: %q", key)
		}
	}
	if missed > 2 { // a Twilio SID and a Stripe webhook look too common
		t.Errorf("%d keys are committed", missed)
	}
	for _, text := range []string{"APP_TOKEN=test-token-for-ci-only-1", "app_token=q8Zt2LxV9mRb4KsW7nYc", "SECRET_KEY=0123456789abcdef0123456789abcdef", "Bearer 0a1b2c3d4e5f6a7b8c9d"} {
		if found := Secrets(text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

func TestRedact_hashesAndPictures_stayTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var text strings.Builder
	for i := 0; i+40 < 1<<20; i += 40 {
		fmt.Fprintf(&text, "commit %x\n%x-%x-%x-%x-%x sha256:%x\n", noise[i:i+20], noise[i:i+4], noise[i+4:i+6], noise[i+6:i+8], noise[i+8:i+10], noise[i+10:i+16], noise[i:i+32])
	}
	for name, s := range map[string]string{"base64": base64.StdEncoding.EncodeToString(noise), "hashes": text.String(), "bytes": string(noise)} {
		if got := Redact(s); got != s {
			t.Errorf("%d bytes of %s: %d differ", len(s), name, len(s)-len(got))
		}
	}
}
