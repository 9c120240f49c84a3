package archtest

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// results is the package whose values nobody changes, and its types. It makes new ones of them itself.
const results = "runner/turn"

var kept = []string{"Result", "Call", "Work", "Proof"}

// checkWritten finds code that changes a field of a Result, or of a part of one. It also refuses a pointer to one,
// through which others can.
func checkWritten(t *tree) (found []violation) {
	c := checker{tree: t, done: map[string]*types.Package{}}
	for _, p := range t.packages {
		if !slices.Contains(p.deps, module+"/"+results) {
			continue
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
		c.check(p, info)
		for _, f := range p.files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				for _, e := range written(n, info) {
					if field := ofResult(e, info); field != "" {
						found = append(found, t.at(f, e.Pos(), "changes %s", field))
					}
				}
				return true
			})
		}
	}
	return found
}

// checker finds the types of the module's own code. It takes all others for unknown, which is fast and needs no build.
type checker struct {
	tree *tree
	done map[string]*types.Package
}

// Import implements types.Importer.
func (c checker) Import(path string) (*types.Package, error) {
	if known := c.done[path]; known != nil {
		return known, nil
	}
	i := slices.IndexFunc(c.tree.packages, func(p *pkg) bool { return module+"/"+p.path == path })
	if i < 0 {
		return nil, errors.New("not of this module")
	}
	c.done[path] = c.check(c.tree.packages[i], nil)
	return c.done[path], nil
}

// check finds the types of a package; without info, only of its declarations.
func (c checker) check(p *pkg, info *types.Info) *types.Package {
	var files []*ast.File
	for _, f := range p.files {
		if f.built {
			files = append(files, f.ast)
		}
	}
	conf := types.Config{Importer: c, IgnoreFuncBodies: info == nil, Error: func(error) {}}
	got, _ := conf.Check(module+"/"+p.path, c.tree.fset, files, info) // errors: see checker
	return got
}

// written are the expressions whose values n changes, or lets others change.
func written(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.RangeStmt:
		return []ast.Expr{n.Key, n.Value}
	case *ast.SelectorExpr:
		if s := info.Selections[n]; s != nil && s.Kind() == types.MethodVal && takesAddress(s) {
			return []ast.Expr{n.X}
		}
	}
	return nil
}

// takesAddress reports whether a method gets a pointer to a value that is none.
func takesAddress(s *types.Selection) bool {
	_, isPointer := s.Recv().Underlying().(*types.Pointer)
	_, wants := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
	return wants && !isPointer
}

// ofResult is e if it is a field of a Result, or of a part of one, or lies in such a field; else empty.
func ofResult(e ast.Expr, info *types.Info) string {
	for whole := e; ; {
		switch at := e.(type) {
		case *ast.ParenExpr:
			e = at.X
		case *ast.StarExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.SelectorExpr:
			if s := info.Selections[at]; s != nil && s.Kind() == types.FieldVal && through(s) {
				return types.ExprString(whole)
			}
			e = at.X
		default:
			return ""
		}
	}
}

// through reports whether a selection leads into a Result. It may be embedded.
func through(s *types.Selection) bool {
	in := s.Recv()
	for _, i := range s.Index() {
		if p, ok := in.Underlying().(*types.Pointer); ok {
			in = p.Elem()
		}
		if of, ok := types.Unalias(in).(*types.Named); ok && of.Obj().Pkg() != nil &&
			of.Obj().Pkg().Path() == module+"/"+results && slices.Contains(kept, of.Obj().Name()) {
			return true
		}
		in = in.Underlying().(*types.Struct).Field(i).Type()
	}
	return false
}
