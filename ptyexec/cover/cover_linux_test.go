package cover

import (
	"os"
	"path/filepath"
	"testing"
)

func places(dir string) Places {
	at := func(name string) string { return filepath.Join(dir, name) }
	return Places{Shared: []Place{{Path: at("folder"), Kind: Dir}, {Path: at("socket"), Kind: Socket}, {Path: at("folder/in"), Kind: Socket},
		{Path: at("file"), Text: "x"}}}
}

func hold(t *testing.T, p Places) *Lease {
	t.Helper()
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	h, err := Make(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func names(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestRelease_twoHolders_theLastOneRemoves(t *testing.T) {
	dir := t.TempDir()
	first, second := hold(t, places(dir)), hold(t, places(dir))
	first.Release()
	if n := names(t, dir); n != 3 {
		t.Errorf("%d places are left while they are held", n)
	}
	second.Release()
	second.Release()
	if n := names(t, dir); n != 0 {
		t.Errorf("%d places are left", n)
	}
}

func TestTidy_removesOnlyWhatNobodyHolds(t *testing.T) {
	dir := t.TempDir()
	held := hold(t, places(dir))
	places(dir).Tidy()
	if n := names(t, dir); n != 3 {
		t.Errorf("%d places are left while they are held", n)
	}
	for _, f := range held.locks { // as if the machine had gone down
		_ = f.Close()
	}
	if err := os.WriteFile(filepath.Join(dir, "folder", "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	places(dir).Tidy()
	if n := names(t, dir); n != 1 { // the folder, for what is in it
		t.Errorf("%d places are left", n)
	}
}
