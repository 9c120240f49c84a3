//go:build e2e && linux

package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

const axeVersion = "4.14.1"

// axe is the source of axe-core, from npm.
var axe = sync.OnceValues(func() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	cache := filepath.Join(here, "..", "..", "..", ".cache", "agents")
	dir := filepath.Join(cache, "axe-core-"+axeVersion)
	source := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if data, err := os.ReadFile(source); err == nil {
		return string(data), nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("axe-core %s is not in .cache and npm is not installed", axeVersion)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, "axe-core-*.part") // an install that breaks off must not look like a whole one
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	prefix := filepath.Join(tmp, "prefix")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", prefix, "--cache", filepath.Join(tmp, "npm-cache"), "--no-audit",
		"--no-fund", "--loglevel=error", "axe-core@"+axeVersion)
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "HOME="+tmp)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm cannot install axe-core@%s: %w\n%s", axeVersion, err, out)
	}
	if err := os.Rename(prefix, dir); err != nil {
		return "", err
	}
	data, err := os.ReadFile(source)
	return string(data), err
})

// violations lists what axe finds.
const violations = `axe.run().then(r => r.violations.map(v => v.id + ': ' + v.help + ': ' + v.nodes.map(n => n.html).slice(0, 3).join(' ')))`
