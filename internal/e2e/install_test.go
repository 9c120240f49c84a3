//go:build e2e && linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// installed is one CLI in the module's .cache, or why it is not there.
type installed struct {
	bin string // the folder of the program
	err error
}

// installs are the CLIs, installed side by side when the first is asked for.
var installs = sync.OnceValue(func() map[string]installed {
	all := map[string]installed{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, a := range agents() {
		wg.Go(func() {
			bin, err := a.fetch()
			mu.Lock()
			defer mu.Unlock()
			all[a.name] = installed{bin, err}
		})
	}
	wg.Wait()
	return all
})

// install returns the folder of the CLI's program. The test is skipped where
// npm cannot install it.
func (a agentCLI) install(t testing.TB) string {
	t.Helper()
	in := installs()[a.name]
	needs(t, in.err)
	return in.bin
}

// needs skips a test that cannot have what it needs.
func needs(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("RALPH_REQUIRE") == "all":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

func (a agentCLI) fetch() (bin string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache := filepath.Join(root, ".cache", "agents")
	dir := filepath.Join(cache, a.name+"-"+a.version)
	bin = filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, a.name)); err == nil {
		return bin, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("%s %s is not in .cache and npm is not installed", a.name, a.version)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	// Beside the place it is for: an install that breaks off must not look like
	// a whole one, and npm's own cache is not kept.
	tmp, err := os.MkdirTemp(cache, a.name+"-*.part")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	prefix := filepath.Join(tmp, "prefix")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args := append([]string{"install", "--prefix", prefix, "--cache", filepath.Join(tmp, "npm-cache"),
		"--no-audit", "--no-fund", "--loglevel=error"}, a.npm...)
	cmd := exec.CommandContext(ctx, npm, append(args, a.pkg+"@"+a.version)...)
	cmd.Dir = tmp
	cmd.Env = append(inherited("PATH", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
		"HOME="+tmp)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: npm cannot install %s@%s: %w\n%s", a.name, a.pkg, a.version, err, out)
	}
	return bin, os.Rename(prefix, dir)
}

// inherited returns those variables of the environment that are set.
func inherited(names ...string) []string {
	var env []string
	for _, n := range names {
		if v, ok := os.LookupEnv(n); ok {
			env = append(env, n+"="+v)
		}
	}
	return env
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	return filepath.Dir(filepath.Dir(dir)), err
}

func TestInstall_packageThatCannotBeInstalled_isReportedByName(t *testing.T) {
	t.Parallel()
	a := agentCLI{name: "nosuch", pkg: "@ralph-e2e/no-such-package", version: "0.0.1"}
	if bin, err := a.fetch(); err == nil || !strings.Contains(err.Error(), a.name) || !strings.Contains(err.Error(), a.version) {
		t.Errorf("%q, %v", bin, err)
	}
}
