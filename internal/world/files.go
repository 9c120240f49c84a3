package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Project writes files and returns their folder; a name that ends with * is
// that of a program.
func Project(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if plain, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = plain, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
