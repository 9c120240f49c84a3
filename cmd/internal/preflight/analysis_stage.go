package preflight

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// waits is true if a check cannot run yet.
func (a analysisAnswer) waits() bool {
	return slices.ContainsFunc(a.Commands(), func(c namedAnalysis) bool { return !c.Ready && c.Reason != "" })
}

// sources are the extensions of files that are code.
var sources = []string{".c", ".cc", ".clj", ".cpp", ".cs", ".dart", ".erl", ".ex", ".exs", ".go", ".hs", ".java",
	".js", ".jsx", ".kt", ".lua", ".m", ".ml", ".php", ".pl", ".py", ".r", ".rb", ".rs", ".scala", ".sh", ".swift",
	".ts", ".tsx", ".zig"}

// stage says what there is already: code, tests, or neither.
func stage(dir string) string {
	code, tests, left := "", "", copyFiles
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		name := strings.ToLower(rel)
		switch left--; {
		case err != nil:
			return nil // what cannot be read is left out
		case left < 0 || code != "" && tests != "":
			return fs.SkipAll
		case d.IsDir() && path != dir && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(sources, filepath.Ext(name)) || slices.Contains(manifests, d.Name()):
		case strings.Contains(name, "test") || strings.Contains(name, "spec"):
			tests = "tests"
		default:
			code = "code"
		}
		return nil
	})
	return strings.TrimSpace(code + " " + tests)
}
