package logs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// corpus has the files of the corpus: the same ones on each machine that has the same version of Go, whatever else is
// in this folder or in the caches of Go.
func corpus(t *testing.T) []string {
	return []string{"../README.md", "../docs", "../runner/agent/testdata", filepath.Join(goEnv(t, "GOROOT"), "src")}
}

// realShapes are in lines of the corpus that have a secret by their shape, and should be hidden.
var realShapes = []string{
	`password: "secret of build1"`,               // docs/fleet.md shows where a password goes
	"/auth/cli-login?authToken=f0b33b9af19d1f7b", // a login link that is no longer valid, in a recording
}

// forTests reports whether a file of Go is for its tests, which have private keys, passwords and tokens that are made to
// look real. So are the folders testdata and test.
func forTests(path string) bool {
	return strings.HasSuffix(path, "_test.go") || filepath.Ext(path) == ".pem"
}

// TestRedact_ordinaryLogs_stayTheSame reads 40 MB of what agents print, and 2 MB with -short: documents and
// recordings of this repository, the source code of Go, and made-up logs.
func TestRedact_ordinaryLogs_stayTheSame(t *testing.T) {
	size := 40 << 20
	if testing.Short() {
		size = 2 << 20
	}
	looked, hidden := 0, 0
	look := func(name, text string) {
		looked += len(text)
		if Redact(text) == text {
			return
		}
		lines := 0
		for line := range strings.Lines(text) {
			got := Redact(line)
			if got != line {
				lines++
			}
			if got == line || slices.ContainsFunc(realShapes, func(known string) bool { return strings.Contains(line, known) }) {
				continue
			}
			if hidden++; hidden <= 400 {
				at := 0
				for at < len(got) && line[at] == got[at] {
					at++
				}
				t.Errorf("%s: ...%.160q becomes ...%.160q", name, line[max(0, at-60):], got[max(0, at-60):])
			}
		}
		if lines == 0 {
			t.Errorf("%s: something is hidden in several lines", name)
		}
	}
	for _, root := range corpus(t) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case looked > size*2/3:
				return fs.SkipAll
			case path != root && d.IsDir() && (d.Name() == "testdata" || d.Name() == "test"):
				return fs.SkipDir
			case d.IsDir() || forTests(path):
				return nil
			}
			data, err := os.ReadFile(path)
			if err == nil && utf8.Valid(data) {
				look(path, string(data))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := looked
	if read < size*2/3 {
		t.Errorf("only %d bytes are in files", read)
	}
	for r := rand.New(rand.NewPCG(36, 5)); looked < size || looked < read+size/3; {
		for name, line := range ordinaryLines(r) {
			look(name, line)
		}
	}
	t.Logf("%d texts hidden in %.1f MB, of which %.1f MB were made up", hidden, float64(looked)/1e6, float64(looked-read)/1e6)
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// ordinaryLines returns texts of what tools print, with their names.
func ordinaryLines(r *rand.Rand) map[string]string {
	hex := func(n int) string {
		return pick(r, "0123456789abcdef", n)
	}
	words := strings.Fields("token parser key secret path cache session author password login user value auth client main config " +
		"handler request response index module build test error warning password-reset access-control api-version")
	word := func() string { return words[r.IntN(len(words))] }
	uuid := func() string { return hex(8) + "-" + hex(4) + "-4" + hex(3) + "-a" + hex(3) + "-" + hex(12) }
	n := func(most int) int { return r.IntN(most) }
	image := make([]byte, 2000)
	for i := range image {
		if image[i] = byte(r.Uint32()); i%64 < 20 {
			image[i] = 0
		}
	}
	picture := base64.StdEncoding.EncodeToString(image)
	sri := base64.StdEncoding.EncodeToString(image[64*30:])[:43]
	js := fmt.Sprintf(`!function(e,t){var n=t.key,r=s.%s%d(e,%d),o={token:n,password:r.password%d,auth:e.auth,secret:!0,key:"%s"};return o.token===n&&a.b=c?t.d:e}(this,%d);`,
		word(), n(1000), n(1e6), n(10), word(), n(1e9))
	encoded, _ := json.Marshal(map[string]any{"type": "assistant", "session_id": uuid(), "uuid": uuid(), "message": map[string]any{
		"id": "msg_" + pick(r, "abcdefghijkABCDEFGHIJK0123456789", 24), "content": "Ran `go test ./...` on " + word() + ":\n" + js,
		"usage": map[string]int{"input_tokens": n(1e6), "cache_creation_input_tokens": n(1e6), "output_tokens": n(1e5)}},
		"tool_use_id": "toolu_" + pick(r, "abcdefghijkABCDEFGHIJK0123456789", 24)})
	lines := map[string]string{
		"go test": fmt.Sprintf("=== RUN   Test%s_%s_%s\n--- PASS: Test%s_%s_%s (%d.%02ds)\n    --- PASS: Test%s/%s_%d (0.00s)\nok  \tralph/%s/%s\t%d.%03ds\tcoverage: %d.%d%% of statements\n",
			word(), word(), word(), word(), word(), word(), n(9), n(99), word(), word(), n(99), word(), word(), n(9), n(999), n(99), n(9)),
		"go fail": fmt.Sprintf("    %s_test.go:%d: got %q, want %q\npanic: runtime error: index out of range [%d] with length %d\n\ngoroutine %d [running]:\nmain.(*%s).%s(0xc000%s, {0x%s, 0x%d})\n\t/home/ann/src/%s/%s.go:%d +0x%s\n",
			word(), n(4000), word()+fmt.Sprint(n(999)), word(), n(99), n(9), n(99), word(), word(), hex(6), hex(6), n(99), word(), word(), n(9999), hex(3)),
		"git log":  fmt.Sprintf("commit %s\nMerge: %s %s\nAuthor: Ann %s <ann%d@example.com>\nDate:   Mon Jan %d 12:%02d:07 2025 +0100\n\n    %s: use %s-%s for %s\n", hex(40), hex(8), hex(8), word(), n(99), n(28)+1, n(60), word(), word(), word(), word()),
		"git diff": fmt.Sprintf("diff --git a/%s.go b/%s.go\nindex %s..%s 100644\n--- a/%s.go\n+++ b/%s.go\n@@ -%d,%d +%d,%d @@ func %s(%s string)\n-\t%s := %s(%d)\n", word(), word(), hex(8), hex(8), word(), word(), n(999), n(9), n(999), n(9), word(), word(), word(), word(), n(99)),
		"npm": fmt.Sprintf("npm warn deprecated %s@%d.%d.%d: use %s-%s instead\nadded %d packages, and audited %d packages in %ds\n    \"integrity\": \"sha512-%s%s==\",\n    \"resolved\": \"https://registry.example.com/%s/-/%s-%d.%d.%d.tgz\"\n",
			word(), n(9), n(9), n(9), word(), word(), n(999), n(9999), n(99), sri, sri, word(), word(), n(9), n(9), n(9)),
		"yarn":    fmt.Sprintf("\"@%s/%s@npm:^%d.%d.%d\":\n  version: %d.%d.%d\n  checksum: 10c0/%s\n  resolution: \"@%s/%s@npm:%d.0.0\"\n", word(), word(), n(9), n(9), n(9), n(9), n(9), n(9), hex(128), word(), word(), n(9)),
		"cargo":   fmt.Sprintf("   Compiling %s-%s v%d.%d.%d\nwarning: unused variable: `%s`\n --> src/%s.rs:%d:%d\nname = \"%s\"\nchecksum = \"%s\"\n", word(), word(), n(9), n(9), n(9), word(), word(), n(999), n(80), word(), hex(64)),
		"go.sum":  fmt.Sprintf("github.com/%s/%s v1.%d.%d h1:%s=\ngithub.com/%s/%s v0.0.0-2024%04d-%s/go.mod h1:%s=\n", word(), word(), n(9), n(99), sri, word(), word(), n(9999), hex(12), sri),
		"uuid":    fmt.Sprintf("request_id=%s session=%s trace_id=%s span=%s key=%s\nsession_id: %s\n", uuid(), uuid(), hex(32), hex(16), word(), uuid()),
		"sums":    fmt.Sprintf("%s  %s.tar.gz\nsha256:%s: Pull complete\nDigest: sha256:%s\n%s *%s\nMD5 (%s) = %s\n", hex(64), word(), hex(64), hex(64), hex(40), word(), word(), hex(32)),
		"picture": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA" + picture + "\n" + picture[:76] + "\n",
		"json":    string(encoded) + "\n",
		"js":      js + "\n",
		"java":    fmt.Sprintf("java.lang.NullPointerException: Cannot invoke \"%s.%s()\" because \"this.%s\" is null\n\tat com.example.%s.%s.%s(%s.java:%d)\n\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:%d)\n", word(), word(), word(), word(), word(), word(), word(), n(999), n(200)),
		"python":  fmt.Sprintf("Traceback (most recent call last):\n  File \"/usr/lib/python3.12/%s/%s.py\", line %d, in %s\n    %s = self.%s(%s=%s, timeout=%d)\nKeyError: '%s'\n", word(), word(), n(999), word(), word(), word(), word(), word(), n(99), word()),
		"commands": fmt.Sprintf("$ mkdir -p build/%s%d && docker run -p 8080:80 -u %d:%d --rm -e MODE=%s app\n$ curl -sSL -o out%d.tgz https://example.com/%s?v=%d\n$ ssh -p 2222 ann@host%d ls\n$ mysql -u root -p shop\n$ psql -h db%d -U app -p 5432\n$ cp -a src dst && tar -xzf a-%d.tgz -C /tmp\n$ go test -run 'Test%s' -count=1 ./%s/...\n$ redis-cli -h cache -p 6379 ping\n",
			word(), n(99), n(2000), n(2000), word(), n(99), word(), n(99), n(9), n(9), n(9), word(), word()),
		"listing": fmt.Sprintf("-rw-r--r--  1 ann ann %d Jan %d 12:%02d %s.%s.go\ntotal %d\ndrwxr-xr-x 12 ann ann 4096 Feb  3 09:11 %s\n", n(1e6), n(28), n(60), word(), word(), n(999), word()),
		"grep":    fmt.Sprintf("%s/%s.go:%d:\t%s := %s.%s%d\nsrc/%s.ts:%d:%d:error:%s%d\n%s.yml:%d:image:%s:%d.%d\n", word(), word(), n(99999), word(), word(), word(), n(9), word(), n(9999), n(99), word(), n(99), word(), n(9999), word(), n(9), n(9)),
		"http":    fmt.Sprintf("10.0.%d.%d - - [12/Jan/2025:10:%02d:11 +0000] \"GET /%s/%s?page=%d&sort=%s HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\nCookie: theme=dark; lang=en\nETag: \"%s\"\nLocation: https://example.com/login?next=/%s\n", n(255), n(255), n(60), word(), word(), n(99), word(), n(99999), hex(32), word()),
		"docs":    fmt.Sprintf("The password is read from the file; --password takes a name, and -p a port. Set the %s token with `--token NAME`.\nEnter login and password to continue. password authentication%d failed for user %s\n<password>your-password</password> <key>%s</key> <token>%s</token>\n", word(), n(9), word(), word(), word()),
		"yaml":    fmt.Sprintf("%s:\n  password: string\n  passwordFile: /run/secrets/%s%d\n  token: ${TOKEN}\n  secretName: %s-%d\n  key: %s\n  hash: %s\n", word(), word(), n(9), word(), n(99), word(), hex(40)),
		"linear":  fmt.Sprintf("linear_key_%d: %s\nsentry-cli v2.%d.%d %s\ndatadog-agent: %s\ntwitter: @%s%d\n", n(9), word(), n(99), n(9), hex(7), hex(7), word(), n(99)),
	}
	return lines
}

func pick(r *rand.Rand, class string, n int) string {
	made := make([]byte, n)
	for i := range made {
		made[i] = class[r.IntN(len(class))]
	}
	return string(made)
}

func BenchmarkRedact_ordinaryLogs(b *testing.B) {
	r := rand.New(rand.NewPCG(36, 5))
	var all strings.Builder
	for all.Len() < 1<<20 {
		lines := ordinaryLines(r)
		for _, name := range slices.Sorted(maps.Keys(lines)) {
			all.WriteString(lines[name])
		}
	}
	text := all.String()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}
