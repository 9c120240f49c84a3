package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func kept(t *testing.T, l Loader) []KeptRun {
	t.Helper()
	runs, err := l.KeptRuns()
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestKeepRuns_areThoseOfThisProjectAndUser(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	if runs := kept(t, l); runs != nil {
		t.Errorf("%+v before the first run", runs)
	}
	for _, want := range [][]KeptRun{
		{{Run: "b", Flags: map[string]string{"MAX_CALLS_PER_HOUR": "1"}}, {Run: "a"}},
		{{Run: "b", Flags: map[string]string{"MAX_CALLS_PER_HOUR": "1", "MODEL": "a  b'\""}}},
	} {
		if err := l.KeepRuns(want...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, kept(t, l)); diff != "" {
			t.Error(diff)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.Dir, link); err != nil {
		t.Fatal(err)
	}
	if len(kept(t, Loader{Dir: link, Home: l.Home})) != 1 {
		t.Error("nothing is known through a symbolic link")
	}
	for _, other := range []Loader{{Dir: t.TempDir(), Home: l.Home}, {Dir: l.Dir, Home: t.TempDir()}} {
		if runs := kept(t, other); runs != nil {
			t.Errorf("%+v in another project, or of another user", runs)
		}
	}
	files, _ := filepath.Glob(filepath.Join(l.Home, ".local/state/ralph/runs/*"))
	if len(files) != 1 {
		t.Fatalf("%q, want one file", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestKeptRuns_whatCannotBeUsed_isAnError(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	if err := l.KeepRuns(KeptRun{Run: "a"}); err != nil {
		t.Fatal(err)
	}
	path, _ := l.keptPath()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := l.KeptRuns(); err == nil {
		t.Errorf("%+v of an empty file", runs)
	}
	l.Home = ""
	if err := l.KeepRuns(KeptRun{Run: "a"}); err == nil {
		t.Error("recorded nowhere")
	}
}
