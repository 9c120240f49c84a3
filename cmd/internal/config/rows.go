package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/state/option"
)

// listed is a row of a list in a config.yaml.
type listed[T any] struct {
	row      T
	source   Source
	replaced Source // of the row that it stands in for; zero: none
}

// put overlays a row: one of a stronger file replaces another that is the same. what is the row, for people.
func put[T any](rows []listed[T], next listed[T], what string, same func(T) bool) ([]listed[T], []Warning, error) {
	i := slices.IndexFunc(rows, func(r listed[T]) bool { return same(r.row) })
	if i < 0 {
		return append(rows, next), nil, nil
	}
	old := rows[i].source
	if old.Kind == next.source.Kind {
		return rows, nil, &UsageError{next.source.Where, what + " is also in " + old.Where}
	}
	next.replaced = old
	rows[i] = next
	return rows, []Warning{warn(next.source.Where, "%s replaces the one in %s", what, old.Where)}, nil
}

// values are the rows without their sources.
func values[T any](rows []listed[T]) (all []T) {
	for _, r := range rows {
		all = append(all, r.row)
	}
	return all
}

// row reads one row of a list into the fields of its keys and returns the first key, where the row stands.
func (r *yamlReader) row(list string, fields []option.Row, node ast.Node) (ast.Node, error) {
	var paths, keys []string
	for _, f := range fields {
		paths, keys = append(paths, f.YAML), append(keys, strings.TrimPrefix(f.YAML, list+"."))
	}
	m, ok := node.(*ast.MappingNode)
	if !ok || len(m.Values) == 0 {
		return nil, r.refuse(node, list+" must hold for each "+strings.TrimSuffix(list, "s")+" the keys "+
			strings.Join(keys, ", ")+", not "+describe(node))
	}
	seen := map[string]bool{}
	for _, pair := range m.Values {
		key, err := r.key(pair.Key, seen)
		if err != nil {
			return nil, err
		}
		path := list + "." + key
		i := slices.IndexFunc(fields, func(f option.Row) bool { return f.YAML == path || slices.Contains(f.YAMLAliases, path) })
		if i < 0 {
			_, err := unknown(r.where(pair.Key), path, option.Nearest(path, paths)) // never a warning: it is inside a protection
			return nil, err
		}
		name := fields[i].YAML
		if seen[name] { // as one of its aliases
			return nil, r.refuse(pair.Key, strings.TrimPrefix(name, list+".")+" is written twice, in two spellings")
		}
		seen[name] = true
		if err := r.field(fields[i], path, pair.Value); err != nil {
			return nil, err
		}
	}
	return m.Values[0].Key, nil
}

func (r *yamlReader) field(f option.Row, path string, node ast.Node) error {
	text, set, err := r.text(f, node)
	if err != nil || !set {
		return err
	}
	value, ok := f.Parse(text)
	if !ok {
		return r.refuse(node, path+": "+quote(text)+" is not "+f.Allowed())
	}
	option.Store(f.Field, value)
	globs, _ := value.([]string)
	if at := slices.IndexFunc(globs, neverMatches); at >= 0 && f.Kind == option.List {
		return r.refuse(node, path+": "+quote(globs[at])+
			" can match nothing: a glob is relative to the project, and only *, ?, [...] and ** stand for something")
	}
	return nil
}

// neverMatches finds globs of other tools, which would keep a row from ever
// running.
func neverMatches(glob string) bool {
	return strings.ContainsAny(glob, "{}") || slices.ContainsFunc([]string{"!", "/", "../", "~"},
		func(p string) bool { return strings.HasPrefix(glob, p) })
}

// each reads the rows of a list.
func (r *yamlReader) each(key string, node ast.Node, read func(ast.Node) error) error {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		for _, item := range n.Values {
			if err := read(item); err != nil {
				return err
			}
		}
		return nil
	}
	return r.refuse(node, key+" must be a list, not "+describe(node))
}
