//go:build e2e && linux

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// agentCLI is an agent program from npm, pinned.
type agentCLI struct {
	name, pkg, version string
	// env makes it talk to a mock server, whose URL is given, with a dummy key.
	env func(mock string) []string
}

func claude() agentCLI {
	return agentCLI{
		name: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.328",
		env: func(mock string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + mock, "ANTHROPIC_API_KEY=sk-ant-dummy",
				// Without it the CLI looks for other hosts for some seconds before it begins.
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"CLAUDE_CODE_MAX_RETRIES=0",
			}
		},
	}
}

// subscription swaps the key for a subscriber's token: only then the CLI reads
// usage limits.
func subscription(env []string) []string {
	out := []string{"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy"}
	for _, kv := range env {
		if !strings.HasPrefix(kv, "ANTHROPIC_API_KEY=") {
			out = append(out, kv)
		}
	}
	return out
}

// install returns the folder of the CLI's program. It is kept in the module's
// .cache; the test is skipped where npm cannot install it.
func (a agentCLI) install(t *testing.T) string {
	t.Helper()
	cache := filepath.Join(moduleRoot(t), ".cache", "agents")
	dir := filepath.Join(cache, a.name+"-"+a.version)
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, a.name)); err == nil {
		return bin
	}
	missing := func(why string, args ...any) {
		t.Helper()
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatalf(why, args...)
		}
		t.Skipf(why, args...)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		missing("%s %s is not in .cache and npm is not installed", a.name, a.version)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	// Beside the place it is for: an install that breaks off must not look like
	// a whole one, and npm's own 170 MB are not kept.
	tmp, err := os.MkdirTemp(cache, a.name+"-*.part")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	prefix := filepath.Join(tmp, "prefix")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", prefix, "--cache", filepath.Join(tmp, "npm-cache"),
		"--no-audit", "--no-fund", "--loglevel=error", a.pkg+"@"+a.version)
	cmd.Dir = tmp
	cmd.Env = append(inherited("PATH", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
		"HOME="+tmp)
	if out, err := cmd.CombinedOutput(); err != nil {
		missing("npm cannot install %s@%s: %v\n%s", a.pkg, a.version, err, out)
	}
	if err := os.Rename(prefix, dir); err != nil {
		t.Fatal(err)
	}
	return bin
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

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}
