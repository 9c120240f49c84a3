package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTrees_nestedAndAmbiguous_onlyTheOutermostCount(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "package.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := foreignTrees(root, []string{"src/a.js", "node_modules/a/node_modules/b/x.js", "node_modules/a/x.js", "dist/a.js", "lib/dist/a.js", "node_modules"})
	want := []foreignTree{{"node_modules/", "2 files, an installed tree"}, {"dist/", "1 file, a built tree"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
