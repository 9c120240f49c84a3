package git

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// token is a JSON web token, put together here so that no file holds one.
func token(header, claims, signature string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(header)) + "." + enc([]byte(claims)) + "." + enc([]byte(signature))
}

const hs256 = `{"alg":"HS256","typ":"JWT"}`

func TestKeysIn_corpus(t *testing.T) {
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
		if keys := keysIn(tc.text); (len(keys) > 0) != tc.is {
			t.Errorf("%q: a secret %t, want %t", tc.text, !tc.is, tc.is)
		}
	}
}

func (p project) refusals(files ...string) []Refusal {
	p.Helper()
	found, err := Guard(context.Background(), p.Dir, files)
	p.Do(err)
	return found
}

func TestGuard_tree_isOneLineWithItsFiles(t *testing.T) {
	p := newProject(t)
	p.Write("go.mod", "module x\n")
	var files []string
	add := func(names ...string) {
		for _, n := range names {
			p.Write(n, "x")
			files = append(files, n)
		}
	}
	for i := range 60 {
		add(fmt.Sprintf("vendor/dep/f%d.go", i))
	}
	for i := range 30 {
		add(fmt.Sprintf("sub/third_party/dep/f%d.c", i))
	}
	p.Write("web/package.json", "{}")
	p.Write("c/build/CMakeCache.txt", "x")
	add("web/build/main.js", "c/build/x.o", ".terraform/providers/x", "web/coverage/lcov.info", "web/coverage/a/b.html", ".idea/workspace.xml", "py/__pycache__/a.pyc")
	add("coverage/coverage.go", "build/ci.sh", "other/third_party/one.c", "shop/vendor/models.py") // the project's own
	want := []Refusal{
		{"vendor/", "60 files, a vendored tree"},
		{"sub/third_party/", "30 files, a vendored tree"},
		{"web/build/", "1 file, a built tree"},
		{"c/build/", "1 file, a built tree"},
		{".terraform/", "1 file, an installed tree"},
		{"web/coverage/", "2 files, a built tree"},
		{".idea/", "1 file, the settings of an editor"},
		{"py/__pycache__/", "1 file, a built tree"},
	}
	if d := cmp.Diff(want, p.refusals(files...)); d != "" {
		t.Error(d)
	}
	c := p.commitFiles(files...)
	if d := cmp.Diff([]string{"coverage/coverage.go", "build/ci.sh", "other/third_party/one.c", "shop/vendor/models.py"}, c.Files); d != "" {
		t.Error(d)
	}
	// Once it is in the repository it is the project's own.
	p.Commit("all the rest")
	add("vendor/dep/new.go")
	if got := p.refusals("vendor/dep/new.go"); len(got) > 0 {
		t.Error(got)
	}
}

func TestGuard_linkThatLeadsOut_isRefused(t *testing.T) {
	p := newProject(t)
	outside := t.TempDir()
	p.Do(os.Symlink(outside, p.Path("way-out")))
	p.Do(os.Mkdir(p.Path("sub/deep"), 0o755))
	refused := []string{"absolute", "up", "sub/deep/up", "missing", "over"}
	fine := []string{"beside", "sub/deep/inside", "own", "nowhere"}
	for name, target := range map[string]string{
		"absolute": outside, "up": "..", "sub/deep/up": "../../../x", "missing": "/no/such/file", "over": "way-out/x",
		"beside": "a.txt", "sub/deep/inside": "../../a.txt", "own": p.Path("a.txt"), "nowhere": "sub/gone",
	} {
		p.Do(os.Symlink(target, p.Path(name)))
	}
	p.Do(os.WriteFile(outside+"/x", nil, 0o600))
	var got []string
	for _, r := range p.refusals(slices.Concat(refused, fine)...) {
		got = append(got, r.File)
		if !strings.Contains(r.Why, "leads out of the repository") {
			t.Error(r)
		}
	}
	if d := cmp.Diff(refused, got); d != "" {
		t.Error(d)
	}
}

func TestTouched_filesOfTheUserThatChangedFurther_areNamed(t *testing.T) {
	p := newProject(t) // b.txt is changed, dirty.txt untracked
	p.Write("staged.txt", "staged\n")
	p.Write("same.txt", "same\n")
	p.Write(".ralph/fix_plan.md", "- [ ] one\n")
	p.Git("add", "staged.txt")
	start := p.observe()
	p.Write("a.txt", "the agent's\n")
	for _, name := range []string{"b.txt", "dirty.txt", "staged.txt", ".ralph/fix_plan.md"} {
		p.Write(name, "changed further\n")
	}
	if d := cmp.Diff([]string{".ralph/fix_plan.md", "b.txt", "dirty.txt", "staged.txt"}, p.observe().Touched(start)); d != "" {
		t.Error(d)
	}
	p.Commit("the agent's own")
	if got := p.observe().Touched(start); len(got) > 0 {
		t.Errorf("committed: %q", got)
	}
}
