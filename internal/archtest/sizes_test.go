package archtest

import (
	"fmt"
	"go/ast"
)

const sizeKey = "size"

func checkSizes(t *tree) (found []violation) {
	for _, p := range t.packages {
		total, excused := 0, false
		for _, f := range p.files {
			head := heading(f.ast)
			if !f.test {
				total += f.lines()
				excused = excused || reason(sizeKey+" of package", head...)
			}
			if n := f.lines(); n >= t.limits.file && !reason(sizeKey, head...) {
				found = append(found, violation{f.path, 0, fmt.Sprintf("file of %d lines, not under %d", n, t.limits.file)})
			}
			found = append(found, t.functions(f)...)
			found = append(found, t.types(f)...)
		}
		if total >= t.limits.pkg && !excused {
			found = append(found, violation{p.path, 0, fmt.Sprintf("package of %d lines without tests, not under %d", total, t.limits.pkg)})
		}
	}
	return found
}

// heading returns the comments above the package clause.
func heading(f *ast.File) (groups []*ast.CommentGroup) {
	for _, g := range f.Comments {
		if g.Pos() < f.Package {
			groups = append(groups, g)
		}
	}
	return groups
}

func (t *tree) functions(f *file) (found []violation) {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || reason(sizeKey, fn.Doc) {
			continue
		}
		if n := t.fset.Position(fn.End()).Line - t.fset.Position(fn.Pos()).Line + 1; n >= t.limits.fn {
			found = append(found, t.at(f, fn.Pos(), "func %s of %d lines, not under %d", fn.Name.Name, n, t.limits.fn))
		}
		if n := fn.Type.Params.NumFields(); n > t.limits.params {
			found = append(found, t.at(f, fn.Pos(), "func %s with %d parameters, at most %d", fn.Name.Name, n, t.limits.params))
		}
	}
	return found
}

// types finds interfaces with too many methods and structs with too many fields. Structs whose fields
// mostly have tags are exempt: a file or a wire format sets their width.
func (t *tree) types(f *file) (found []violation) {
	for _, d := range f.ast.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range gen.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok || reason(sizeKey, gen.Doc, spec.Doc) {
				continue
			}
			switch it := spec.Type.(type) {
			case *ast.InterfaceType:
				if n := it.Methods.NumFields(); n > t.limits.methods {
					found = append(found, t.at(f, spec.Pos(), "interface %s with %d methods, at most %d",
						spec.Name.Name, n, t.limits.methods))
				}
			case *ast.StructType:
				if n := it.Fields.NumFields(); n > t.limits.fields && !payload(it) && !f.test {
					found = append(found, t.at(f, spec.Pos(), "struct %s with %d fields, at most %d",
						spec.Name.Name, n, t.limits.fields))
				}
			}
		}
	}
	return found
}

func payload(s *ast.StructType) bool {
	tagged := 0
	for _, f := range s.Fields.List {
		if f.Tag != nil {
			tagged += max(1, len(f.Names))
		}
	}
	return tagged > s.Fields.NumFields()/2
}
