package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the hash of the modules into flake.nix")

// Nix builds only with modules whose hash it knows: that of the folder which go mod vendor makes.
func TestGenerated_hashOfTheModules_isThatOfTheFlake(t *testing.T) {
	if testing.Short() {
		t.Skip("long: reads all modules")
	}
	flake := filepath.Join(root, "flake.nix")
	text, err := os.ReadFile(flake)
	if err != nil {
		t.Fatal(err)
	}
	vendor := filepath.Join(t.TempDir(), "vendor")
	command(t, "go", "mod", "vendor", "-o", vendor)
	sum := sha256.New()
	archive(t, sum, "nix-archive-1")
	pack(t, sum, vendor)
	known := regexp.MustCompile(`vendorHash = "[^"]*"`)
	want := known.ReplaceAll(text, []byte(`vendorHash = "sha256-`+base64.StdEncoding.EncodeToString(sum.Sum(nil))+`"`))
	switch {
	case bytes.Equal(text, want):
	case *update:
		if err := os.WriteFile(flake, want, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("flake.nix does not know these modules; run: make generate\nwant %s", known.Find(want))
	}
}

// archive writes strings in the form of a Nix archive: length, bytes, zeros up to a multiple of eight.
func archive(t *testing.T, w io.Writer, parts ...string) {
	t.Helper()
	for _, s := range parts {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(s)))
		b = append(append(b, s...), make([]byte, (8-len(s)%8)%8)...)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
}

// pack writes a file or folder in the form of a Nix archive.
func pack(t *testing.T, w io.Writer, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	archive(t, w, "(", "type")
	if !info.IsDir() {
		archive(t, w, "regular")
		if info.Mode()&0o111 != 0 {
			archive(t, w, "executable", "")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archive(t, w, "contents", string(text), ")")
		return
	}
	archive(t, w, "directory")
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		archive(t, w, "entry", "(", "name", e.Name(), "node")
		pack(t, w, filepath.Join(path, e.Name()))
		archive(t, w, ")")
	}
	archive(t, w, ")")
}
