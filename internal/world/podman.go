package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Docker returns a folder for PATH whose docker is podman, which answers to that name: Docker itself needs a service.
// Without podman, it is empty.
func Docker(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if podman, err := exec.LookPath("podman"); err == nil {
		if err := os.Symlink(podman, filepath.Join(dir, "docker")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
