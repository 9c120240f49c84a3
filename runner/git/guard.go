package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// maxCommitted is the size, in bytes, above which ralph commits no file.
const maxCommitted = 1 << 20

// Refusal is a file that ralph does not commit, and why.
type Refusal struct{ File, Why string }

// secret is one shape of a key.
type secret struct {
	name    string
	pattern *regexp.Regexp
}

var secrets = sync.OnceValue(func() []secret {
	re := regexp.MustCompile
	return []secret{
		{"a private key", re(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s*\n|\\r|\\n)[\s\\nr]*[A-Za-z0-9+/=:]{4}`)},
		{"an AWS access key", re(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
		{"an AWS secret key", re(`(?i)aws_?secret_?access_?key["']?\s*[:=]\s*["']?[A-Za-z0-9/+]{40}\b`)},
		{"a GitHub token", re(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b`)},
		{"a GitLab token", re(`\bglpat-[A-Za-z0-9_-]{20,}`)},
		{"a Slack token", re(`\bxox[abeoprs]-[0-9A-Za-z-]{20,}`)},
		{"a Stripe key", re(`\b[rs]k_live_[0-9A-Za-z]{20,}\b`)},
		{"a Google API key", re(`\bAIza[0-9A-Za-z_-]{35}\b`)},
		{"an Anthropic key", re(`\bsk-ant-[A-Za-z0-9_-]{24,}`)},
		{"an OpenAI key", re(`\bsk-(?:proj-|svcacct-)?[A-Za-z0-9]{20,}[A-Za-z0-9_-]{12,}`)},
		{"an npm token", re(`\bnpm_[A-Za-z0-9]{36}\b`)},
		{"a PyPI token", re(`\bpypi-AgEIcHlwaS[A-Za-z0-9_-]{50,}`)},
		{"a Hugging Face token", re(`\bhf_[A-Za-z0-9]{34}\b`)},
	}
})

// placeholder finds in a key that it is an example.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)example|xxxx|0000000|1234567890abcdef`) })

// vendored are folders with the work of others. A folder counts when one of
// the files beside it exists; none: always.
var vendored = map[string][]string{
	"node_modules": nil, "bower_components": nil, ".venv": nil, "__pycache__": nil, ".tox": nil, ".gradle": nil,
	"venv":   {"venv/pyvenv.cfg"},
	"vendor": {"go.mod", "composer.json", "Gemfile", "Cargo.toml"},
	"target": {"Cargo.toml", "pom.xml", "build.sbt"},
	"dist":   {"package.json", "pyproject.toml", "setup.py"},
}

// Guard returns the files, by slash-separated paths relative to the root of the
// repository, that ralph must not commit: a key is in what was added, larger
// than 1 MiB, or in a folder of other people's work that HEAD does not have. It
// runs at most two git processes.
func Guard(ctx context.Context, dir string, files []string) ([]Refusal, error) {
	root, ok := Root(dir)
	if !ok {
		return nil, ErrNoRepository
	}
	known, err := knownFolders(ctx, root, files)
	if err != nil {
		return nil, fmt.Errorf("guard commit: %w", err)
	}
	var refused []Refusal
	var rest []string
	suspects := map[string][]string{} // keys by file
	for _, f := range files {
		if folder := vendoredFolder(root, f); folder != "" && !known[folder] {
			refused = append(refused, Refusal{f, fmt.Sprintf("is in %s, which is not in the repository: does it belong into .gitignore?", folder)})
			continue
		}
		if strings.HasSuffix(f, "/") {
			refused = append(refused, Refusal{f, "is a repository of its own"})
			continue
		}
		keys, why := suspect(filepath.Join(root, filepath.FromSlash(f)), path.Base(f))
		switch {
		case why != "":
			refused = append(refused, Refusal{f, why})
		case len(keys) > 0:
			suspects[f] = keys
			rest = append(rest, f)
		}
	}
	if len(rest) == 0 {
		return refused, nil
	}
	committed, err := blobs(ctx, root, "HEAD", rest)
	if err != nil {
		return nil, fmt.Errorf("guard commit: %w", err)
	}
	for _, f := range rest {
		for _, key := range suspects[f] {
			name, text, _ := strings.Cut(key, "\x00")
			if !strings.Contains(committed[f], text) {
				refused = append(refused, Refusal{f, "holds what looks like " + name})
				break
			}
		}
	}
	return refused, nil
}

// suspect looks into a file: the keys in it, each as name, NUL, text, and why
// it is refused whatever HEAD has.
func suspect(file, name string) (keys []string, why string) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, ""
	}
	if info.Size() > maxCommitted {
		return nil, fmt.Sprintf("is larger than 1 MiB: %d bytes", info.Size())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	if name == ".env" && strings.Contains(string(data), "=") {
		return []string{"settings with passwords\x00" + string(data)}, ""
	}
	for _, s := range secrets() {
		for _, text := range s.pattern.FindAllString(string(data), -1) {
			if !placeholder().MatchString(text) {
				keys = append(keys, s.name+"\x00"+text)
			}
		}
	}
	return keys, ""
}

// vendoredFolder is the outermost vendored folder that a file is in.
func vendoredFolder(root, file string) string {
	segments := strings.Split(file, "/")
	for i, name := range segments[:len(segments)-1] {
		beside, ok := vendored[name]
		if !ok {
			continue
		}
		parent := path.Join(segments[:i]...)
		for _, b := range beside {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(parent), b)); err == nil {
				return path.Join(parent, name)
			}
		}
		if beside == nil {
			return path.Join(parent, name)
		}
	}
	return ""
}

// knownFolders says which vendored folders HEAD has.
func knownFolders(ctx context.Context, root string, files []string) (map[string]bool, error) {
	known := map[string]bool{}
	args := []string{"ls-tree", "-d", "-z", "--name-only", "HEAD", "--"}
	least := len(args)
	asked := map[string]bool{}
	for _, f := range files {
		if folder := vendoredFolder(root, f); folder != "" && !asked[folder] {
			asked[folder] = true
			args = append(args, folder)
		}
	}
	if len(args) == least {
		return known, nil
	}
	if _, err := run(ctx, root, "rev-parse", "-q", "--verify", "HEAD"); err != nil {
		return known, ctx.Err() // no commit yet: it has nothing
	}
	out, err := run(ctx, root, args...)
	if err != nil {
		return nil, err
	}
	for folder := range strings.SplitSeq(out, "\x00") {
		known[folder] = true
	}
	return known, nil
}
