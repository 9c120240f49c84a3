package archtest

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkStartup finds what runs before main. A func literal runs later, so
// sync.OnceValue(func() ...) passes.
func checkStartup(t *tree) (found []violation) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					found = append(found, t.at(f, fn.Pos(), "func init runs at every start"))
				}
				if gen, ok := d.(*ast.GenDecl); ok {
					found = append(found, t.initialisers(f, gen)...)
				}
			}
		}
	}
	return found
}

func (t *tree) initialisers(f *file, gen *ast.GenDecl) (found []violation) {
	ast.Inspect(gen, func(n ast.Node) bool {
		if _, later := n.(*ast.FuncLit); later {
			return false
		}
		if calls(n, "regexp", "MustCompile", "Compile", "MustCompilePOSIX", "CompilePOSIX") {
			found = append(found, t.at(f, n.Pos(), "package-level regexp is compiled at every start; use sync.OnceValue"))
		}
		if calls(n, "template", "New", "ParseFS", "ParseFiles", "ParseGlob") {
			found = append(found, t.at(f, n.Pos(), "package-level template is parsed at every start; use sync.OnceValue"))
		}
		return true
	})
	return found
}

// checkSleep allows time.Sleep in a test only in a loop that polls, and in a
// synctest bubble, where it takes no time.
func checkSleep(t *tree) (found []violation) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if !f.test {
				continue
			}
			excused := t.linesWithReason(f, "sleep")
			withAncestors(f.ast, func(n ast.Node, ancestors []ast.Node) {
				if calls(n, "time", "Sleep") && !polls(ancestors) && !excused[t.fset.Position(n.Pos()).Line] {
					found = append(found, t.at(f, n.Pos(), "time.Sleep in a test, outside of a polling loop"))
				}
			})
		}
	}
	return found
}

// checkGlob allows filepath.Glob only for patterns that begin with a folder of the system.
func checkGlob(t *tree) (found []violation) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if f.test {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if calls(n, "filepath", "Glob") && !beginsWith(n.(*ast.CallExpr).Args[0], `"/proc/`) {
					found = append(found, t.at(f, n.Pos(), "filepath.Glob below a folder of the user"))
				}
				return true
			})
		}
	}
	return found
}

// checkFiles allows the functions of package os that open a file only where the line says why.
func checkFiles(t *tree) (found []violation) {
	for _, p := range t.packages {
		top, _, _ := strings.Cut(p.path, "/")
		if !slices.Contains([]string{"runner", "state", "monitor", "cmd", "logs"}, top) ||
			p.path == "state/projectfs" {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			excused := t.linesWithReason(f, "file")
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if calls(n, "os", "WriteFile", "OpenFile", "Create", "Open", "ReadFile") && !excused[t.fset.Position(n.Pos()).Line] {
					found = append(found, t.at(f, n.Pos(), "opens a file itself"))
				}
				return true
			})
		}
	}
	return found
}

// beginsWith reports whether the first text of a concatenation is such a literal.
func beginsWith(e ast.Expr, text string) bool {
	for {
		sum, ok := e.(*ast.BinaryExpr)
		if !ok {
			break
		}
		e = sum.X
	}
	literal, ok := e.(*ast.BasicLit)
	return ok && strings.HasPrefix(literal.Value, text)
}

// withAncestors calls fn for each node under root with the nodes around it,
// the outermost first.
func withAncestors(root ast.Node, fn func(n ast.Node, ancestors []ast.Node)) {
	var stack []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		fn(n, stack)
		stack = append(stack, n)
		return true
	})
}

// polls reports whether a call with these ancestors waits between two looks:
// it is in a loop, of its own function, that ends when something is seen.
func polls(ancestors []ast.Node) bool {
	sameFunc := true
	for _, n := range slices.Backward(ancestors) {
		switch n := n.(type) {
		case *ast.ForStmt:
			if sameFunc {
				return true
			}
		case *ast.RangeStmt:
			if sameFunc && endsEarly(n.Body) {
				return true
			}
		case *ast.FuncLit:
			sameFunc = false
		case *ast.CallExpr:
			if calls(n, "synctest", "Test") {
				return true
			}
		}
	}
	return false
}

func endsEarly(body ast.Node) (ends bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			ends = true
		case *ast.BranchStmt:
			ends = ends || n.Tok == token.BREAK
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return ends
}

// linesWithReason returns the lines with a comment `// key: reason`.
func (t *tree) linesWithReason(f *file, key string) map[int]bool {
	lines := map[int]bool{}
	for _, g := range f.ast.Comments {
		if reason(key, g) {
			lines[t.fset.Position(g.Pos()).Line] = true
		}
	}
	return lines
}

func checkFormat(t *tree) (found []violation) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if formatted, err := format.Source(f.src); err != nil || !bytes.Equal(formatted, f.src) {
				found = append(found, violation{f.path, 0, "not formatted; run gofmt -w"})
			}
		}
	}
	return found
}

// workplace is cut in two so that this file does not contain it.
const workplace = "/wo" + "rk/"

// checkWorkplace reads every text file, not only Go.
func checkWorkplace(t *tree) (found []violation) {
	skip := []string{".git", ".cache", "bin", "dist"}
	err := filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skip, rel) {
			return filepath.SkipDir
		}
		if rel == ".git" { // of a worktree: a file that names the repository
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(src, 0) >= 0 { // vanished, or not text
			return nil
		}
		for i, line := range strings.Split(string(src), "\n") {
			if hasAbsolute(line, workplace) {
				found = append(found, violation{filepath.ToSlash(rel), i + 1, "names a path of one machine: " + workplace})
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, violation{".", 0, "walk tree: " + err.Error()})
	}
	return found
}

// hasAbsolute reports whether line contains dir as the beginning of a path.
func hasAbsolute(line, dir string) bool {
	for {
		i := strings.Index(line, dir)
		if i < 0 {
			return false
		}
		if i == 0 || !isPathByte(line[i-1]) {
			return true
		}
		line = line[i+1:]
	}
}

func isPathByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c == '~' || c == '}' || c == '*' ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
