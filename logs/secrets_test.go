package logs

import (
	"encoding/base64"
	"strings"
	"testing"
)

// token returns a JSON web token, built here so that no file contains one.
func token(header, claims, signature string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(header)) + "." + enc([]byte(claims)) + "." + enc([]byte(signature))
}

const hs256 = `{"alg":"HS256","typ":"JWT"}`

func TestSecrets_corpus(t *testing.T) {
	sign := strings.Repeat("\xf0\x9f\x01", 11)
	for _, tc := range []struct {
		text string
		is   bool
	}{
		{"TOKEN=" + token(hs256, `{"sub":"42","role":"admin"}`, sign), true},
		{`{"t":"` + token(hs256, `{"sub":"42","exp":4102444800}`, sign) + `"}`, true},
		{token(hs256, `{"sub":"42","exp":1300819380}`, sign), false}, // it has expired
		{token(hs256, `{"sub":"1234567890","name":"John Doe","iat":1516239022}`, sign), false},
		{"eyJhbGciOiJIUzI1NiIsInR5cCI6.eyJub3QganNvbiBhdCBhbGw.c2lnbmF0dXJlIG9mIG5vdGhpbmc", false},
		{"eyJhbGciOi...", false},

		{"DATABASE_URL=postgres://app:hZ8kQ2vPw1@db.internal:5432/app", true},
		{"DATABASE_URL=postgres://admin:hunter2@10.0.0.7/app", true},
		{`url = "https://deploy:s3cr3t-Tr0ub4dor@git.example.com/x.git"`, true},
		{"mongodb+srv://ann:p%40ssW0rd99@cluster0.abcde.mongodb.net/test", true},
		{"redis://:f3b1c2d4e5a69788@cache:6379/0", true},
		{"amqps://svc:Xk29_pqLm~8@mq.internal", true},
		{"https://oauth2:0123abcd4567ef89@gitlab.internal/x", true},

		{"postgres://postgres:postgres@localhost:5432/app", false},
		{"postgres://app:hZ8kQ2vPw1@localhost:5432/app", false}, // of no use elsewhere
		{"postgres://app:hZ8kQ2vPw1@127.0.0.1/app", false},
		{"redis://:hZ8kQ2vPw1@[::1]:6379", false},
		{"postgres://postgres:postgres@db:5432/app", false},
		{"postgres://myapp:myapp_password@db/app", false},
		{"postgres://app:${DB_PASSWORD}@db.internal/app", false},
		{"postgres://app:$DB_PASSWORD@db.internal/app", false},
		{"postgres://app:{{ .Password }}@db.internal/app", false},
		{"postgres://app:<password>@db.internal/app", false},
		{"postgres://app:%s@%s/app", false},
		{"postgres://app:%PASSWORD%@db.internal/app", false},
		{"postgres://USER:DB_PASSWORD@HOST/NAME", false},
		{"postgres://user:password@host/db", false},
		{"mysql://root:mysecretpassword@mysql/db", false},
		{"amqp://guest:guest@rabbitmq:5672/", false},
		{"http://user:pass@example.com/", false},
		{"http://proxyuser:proxypass@proxy.example.org:3128", false},
		{"https://user:****@example.com", false},
		{"https://user:xxxxxxxx@example.com", false},
		{"https://user:your-password-here@example.com", false},
		{"http://a:b@c", false},
		{"http://foo:bar@baz.com/", false},
		{"http://user:p%40ss@host:80/", false},
		{"https://x-access-token:${{ secrets.GITHUB_TOKEN }}@github.com/o/r", false},
		{"https://medium.com/@ann/a-title:with@signs", false},
		{"http://localhost:8080/@vite/client", false},
		{"ssh://git@github.com:22/o/r.git", false},
		{"https://cdn.jsdelivr.net/npm/pkg@1.2.3/x.js", false},
		{"r'^https?://([^:]+):([^@]+)@'", false},
	} {
		if keys := Secrets(tc.text); (len(keys) > 0) != tc.is {
			t.Errorf("%q: a secret %t, want %t", tc.text, !tc.is, tc.is)
		}
		if hidden := Redact(tc.text) != tc.text; tc.is && !hidden {
			t.Errorf("%q is not hidden", tc.text)
		}
	}
}
