package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ralph/state/option"
)

// rowTable says what a row in a list of config.yaml may hold.
type rowTable[T any] struct {
	key    string // of the list
	fields []rowField[T]
}

// rowField is one key of a row.
type rowField[T any] struct {
	option.Row
	into func(*T) any // pointer to where the value lives
}

// keys lists the keys of a row, without that of the list.
func (t rowTable[T]) keys() string {
	var keys []string
	for _, f := range t.fields {
		keys = append(keys, strings.TrimPrefix(f.YAML, t.key+"."))
	}
	return strings.Join(keys, ", ")
}

// read reads one row into d and returns its first key, where the row stands.
func (t rowTable[T]) read(r *yamlReader, node ast.Node, d *T) (ast.Node, error) {
	m, ok := node.(*ast.MappingNode)
	if !ok || len(m.Values) == 0 {
		return nil, r.refuse(node, t.key+" must hold for each "+strings.TrimSuffix(t.key,
			"s")+" the keys "+t.keys()+", not "+describe(node))
	}
	for _, pair := range m.Values {
		if err := t.field(r, d, pair); err != nil {
			return nil, err
		}
	}
	return m.Values[0].Key, nil
}

func (t rowTable[T]) field(r *yamlReader, d *T, pair *ast.MappingValueNode) error {
	if pair.Key.IsMergeKey() {
		return r.refuse(pair.Key, "merge keys are not allowed")
	}
	path := t.key + "." + pair.Key.GetToken().Value
	i := slices.IndexFunc(t.fields, func(f rowField[T]) bool { return f.YAML == path })
	if i < 0 {
		var paths []string
		for _, f := range t.fields {
			paths = append(paths, f.YAML)
		}
		_, err := unknown(r.where(pair.Key), path, nearest(path, paths)) // never a warning: it is inside a protection
		return err
	}
	f := t.fields[i]
	text, set, err := r.text(f.Row, pair.Value)
	if err != nil || !set {
		return err
	}
	value, ok := f.Parse(text)
	if !ok {
		return r.refuse(pair.Value, path+": "+quote(text)+" is not "+f.Allowed())
	}
	option.Store(f.into(d), value)
	globs, _ := value.([]string)
	if at := slices.IndexFunc(globs, neverMatches); at >= 0 {
		return r.refuse(pair.Value, path+": "+quote(globs[at])+
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
