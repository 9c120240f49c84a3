package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "ralph"

// tree is the module's source, as every rule sees it.
type tree struct {
	root     string
	fset     *token.FileSet
	packages []*pkg
}

type pkg struct {
	path  string // in the module: "runner/agent"
	name  string
	deps  []string // import paths of all that its code without tests needs, also indirectly
	files []*file
}

type file struct {
	path  string // in the module: "runner/agent/specs.go"
	test  bool
	built bool // into the package, by this run's tags and system, without its tests
	src   []byte
	ast   *ast.File
}

// violation is one line for the reader; line 0 means the whole file or package.
type violation struct {
	path string
	line int
	text string
}

func (v violation) String() string {
	if v.line == 0 {
		return v.path + ": " + v.text
	}
	return fmt.Sprintf("%s:%d: %s", v.path, v.line, v.text)
}

func (t *tree) at(f *file, pos token.Pos, format string, args ...any) violation {
	return violation{f.path, t.fset.Position(pos).Line, fmt.Sprintf(format, args...)}
}

// load reads every package that `go list` names. Files that the tags or the
// system of this run leave out belong to the tree too.
func load(root string) (*tree, error) {
	cmd := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,Name,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles,Deps", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, stderr.String())
	}
	t := &tree{root: root, fset: token.NewFileSet()}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var listed struct {
			Dir, ImportPath, Name                                              string
			GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles, Deps []string
		}
		if err := dec.Decode(&listed); errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		p := &pkg{path: inModule(listed.ImportPath), name: listed.Name, deps: listed.Deps}
		for _, name := range slices.Concat(listed.GoFiles, listed.CgoFiles, listed.IgnoredGoFiles, listed.TestGoFiles, listed.XTestGoFiles) {
			f, err := t.parse(filepath.Join(listed.Dir, name))
			if err != nil {
				return nil, err
			}
			f.built = slices.Contains(listed.GoFiles, name)
			p.files = append(p.files, f)
		}
		t.packages = append(t.packages, p)
	}
}

func (t *tree) parse(path string) (*file, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(t.root, path)
	if err != nil {
		return nil, err
	}
	f := &file{path: filepath.ToSlash(rel), test: strings.HasSuffix(path, "_test.go"), src: src}
	f.ast, err = parser.ParseFile(t.fset, rel, src, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

// inModule removes the module's name from an import path; "": it is not in the module.
func inModule(path string) string {
	if path == module {
		return "."
	}
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	return rest
}

// calls reports whether n is a call of one of the package's functions, by name.
// It goes by the package's usual name: nobody here renames an import.
func calls(n ast.Node, pkg string, names ...string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg && slices.Contains(names, sel.Sel.Name)
}

// reason reports whether a comment holds a line `// key: reason`.
func reason(key string, groups ...*ast.CommentGroup) bool {
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			if why, ok := strings.CutPrefix(c.Text, "// "+key+": "); ok && strings.TrimSpace(why) != "" {
				return true
			}
		}
	}
	return false
}
