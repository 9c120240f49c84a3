package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"unicode/utf8"
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
				found = append(found, t.columns(f)...)
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

// columns finds lines that are too wide even without their texts and comments. Such a line can break at a comma or an
// operator; a text is found best in one piece, and a table of texts is read best in rows.
func (t *tree) columns(f *file) (found []violation) {
	var wide []int
	for line := range strings.Lines(string(f.src)) {
		wide = append(wide, columns(line))
	}
	leaveOut := func(at token.Pos, text string) {
		first := t.fset.Position(at).Line
		for i, line := range strings.Split(text, "\n") {
			wide[first-1+i] -= columns(line)
		}
	}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			leaveOut(c.Pos(), c.Text)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			leaveOut(text.Pos(), text.Value)
		}
		return true
	})
	for i, n := range wide {
		if n >= t.limits.columns {
			found = append(found, violation{f.path, i + 1,
				fmt.Sprintf("line of %d columns without its texts, not under %d", n, t.limits.columns)})
		}
	}
	return found
}

// columns returns the width of a line with a tab as 4 blanks.
func columns(line string) int {
	line = strings.TrimSuffix(line, "\n")
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
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
