// Package demo has a complete run of ralph without an AI: a small shell project with a
// plan, and a scripted agent that completes it. The agent behaves like the Claude CLI in
// print mode: it edits files, runs tests, commits with git, and makes mistakes that ralph
// catches.
//
// It needs git and a POSIX shell, nothing else.
package demo

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed all:project
var project embed.FS

const projectRoot = "project"

// Create writes the demo project into dir, a new or empty folder, and makes it a git
// repository with one commit. It does not read the user's git configuration.
func Create(ctx context.Context, dir string) error {
	if err := writeProject(dir); err != nil {
		return fmt.Errorf("create demo project: %w", err)
	}
	const steps = "git -c init.defaultBranch=main init -q && git add -A && git commit -q -m 'A list of things to do'"
	if out, err := command(ctx, dir, "sh", "-c", steps).CombinedOutput(); err != nil {
		return fmt.Errorf("create demo repository: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func writeProject(dir string) error {
	return fs.WalkDir(project, projectRoot, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(projectRoot, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := project.ReadFile(name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		return os.WriteFile(to, data, mode) // file: a project of its own
	})
}

// command prepares a program of the demo. Its git uses only the demo's configuration,
// hooks and repository, and has an author.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env,
		"HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ralph Demo", "GIT_AUTHOR_EMAIL=demo@ralph.invalid",
		"GIT_COMMITTER_NAME=Ralph Demo", "GIT_COMMITTER_EMAIL=demo@ralph.invalid",
	)
	return cmd
}
