package config

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/state/option"
)

// yamlReader turns a config.yaml into settings.
type yamlReader struct {
	file     string // name in messages
	kind     string // of the sources
	dir      string // base of relative programs
	env      map[string]string
	paths    map[string]option.Row
	settings []setting
	warnings []Warning
}

// yaml reads the text of a config.yaml. A key without a value counts as not
// set. Errors are *UsageError.
func (l Loader) yaml(file, kind, text string) ([]setting, []Warning, error) {
	r := &yamlReader{file: file, kind: kind, dir: l.Dir, env: l.envMap(), paths: map[string]option.Row{}}
	for _, o := range Table() {
		for _, path := range append([]string{o.YAML}, o.YAMLAliases...) {
			r.paths[path] = o
		}
	}
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, nil, r.syntaxError(err)
	}
	for i, doc := range tree.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType {
			continue
		}
		if i > 0 {
			return nil, nil, r.refuse(doc.Body, "only one document is allowed")
		}
		if err := r.mapping("", doc.Body); err != nil {
			return nil, nil, err
		}
	}
	return byRank(r.settings), r.warnings, nil
}

func (r *yamlReader) syntaxError(err error) error {
	y, is := errors.AsType[yaml.Error](err)
	if !is {
		return &UsageError{r.file, "is not valid YAML: " + termtext.FirstLine(err.Error())}
	}
	where := r.file
	if token := y.GetToken(); token != nil && token.Position != nil {
		where = lineOf(r.file, token.Position.Line)
	}
	return &UsageError{where, "is not valid YAML: " + termtext.FirstLine(y.GetMessage())}
}

func (r *yamlReader) where(node ast.Node) string {
	if token := node.GetToken(); token != nil && token.Position != nil {
		return lineOf(r.file, token.Position.Line)
	}
	return r.file
}

func (r *yamlReader) refuse(node ast.Node, problem string) error {
	return &UsageError{r.where(node), problem}
}

// mapping reads the node under the given path, which must be a mapping.
func (r *yamlReader) mapping(path string, node ast.Node) error {
	m, ok := node.(*ast.MappingNode)
	if !ok {
		if path == "" {
			return r.refuse(node, "must hold keys and values, such as limits: {calls_per_hour: 50}")
		}
		return r.refuse(node, path+" must hold the keys "+strings.Join(r.keysUnder(path), ", ")+", not "+describe(node))
	}
	keys := map[string]bool{}
	for _, pair := range m.Values {
		name, err := r.key(pair.Key, keys)
		if err != nil {
			return err
		}
		if path != "" {
			name = path + "." + name
		}
		if err := r.pair(name, pair); err != nil {
			return err
		}
	}
	return nil
}

// key is the name of a key that may be written as requireEvidence or require_evidence, but only once. seen has the
// keys of its mapping so far.
func (r *yamlReader) key(node ast.MapKeyNode, seen map[string]bool) (string, error) {
	if node.IsMergeKey() {
		return "", r.refuse(node, "merge keys are not allowed")
	}
	name := option.Snake(node.GetToken().Value)
	if seen[name] {
		return "", r.refuse(node, name+" is written twice, in two spellings")
	}
	seen[name] = true
	return name, nil
}

func (r *yamlReader) pair(path string, pair *ast.MappingValueNode) error {
	switch o, known := r.paths[path]; {
	case path == agentsKey:
		return r.agents(pair.Value)
	case path == checksKey:
		return r.each(checksKey, pair.Value, r.check)
	case path == judgesKey:
		return r.each(judgesKey, pair.Value, r.judge)
	case path == hooksKey:
		return r.hookRows(pair.Value)
	case path == baselineKey:
		return r.baseline(pair.Value)
	case known:
		return r.value(o, path, pair.Value)
	case len(r.keysUnder(path)) > 0:
		if pair.Value.Type() == ast.NullType {
			return nil
		}
		return r.mapping(path, pair.Value)
	}
	if pair.Value.Type() == ast.NullType { // the key is not set
		r.warnings = append(r.warnings, warnUnknown(r.where(pair.Key), path, suggestYAML(path)))
		return nil
	}
	warning, err := unknown(r.where(pair.Key), path, suggestYAML(path))
	if err == nil {
		r.warnings = append(r.warnings, warning)
	}
	return err
}

// keysUnder lists what may stand under a path that is not itself an option.
func (r *yamlReader) keysUnder(path string) []string {
	var keys []string
	for known := range r.paths {
		if key, ok := strings.CutPrefix(known, path+"."); ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// baseline accepts the one file that ralph uses: it is part of the state.
func (r *yamlReader) baseline(node ast.Node) error {
	const file = ".ralph/" + gate.BaselineFile
	if text, ok := scalar(node); node.Type() != ast.NullType && (!ok || text != "" && path.Clean(text) != file) {
		return r.refuse(node, baselineKey+" must be "+file+", not "+describe(node))
	}
	return nil
}

func (r *yamlReader) value(o option.Row, path string, node ast.Node) error {
	alias := path != o.YAML
	o.YAML = path // messages name the key as written
	text, set, err := r.text(o, node)
	if alias && text == "" {
		return err
	}
	if set {
		r.settings = append(r.settings, setting{option: o, name: path, text: text,
			source: Source{r.kind, r.where(node)}})
	}
	return err
}

// text is the text of a value; set is false when the key has none.
func (r *yamlReader) text(o option.Row, node ast.Node) (text string, set bool, err error) {
	quotes := ""
	if o.Kind == option.Env {
		quotes = "; an entry with ! needs quotes" // else it is a tag
	}
	switch n := node.(type) {
	case *ast.NullNode:
		return "", false, nil
	case *ast.SequenceNode:
		if o.Kind != option.List && o.Kind != option.Env && o.Kind != option.Lines {
			return "", false, r.refuse(node, o.YAML+" must be "+o.Allowed()+", not a list")
		}
		var items []string
		for _, item := range n.Values {
			text, ok := scalar(item)
			if !ok {
				return "", false, r.refuse(item, o.YAML+" must be a list of plain values, not of "+describe(item)+
					quotes)
			}
			items = append(items, text)
		}
		if o.Kind == option.Lines {
			return strings.Join(items, "\n"), true, nil
		}
		return strings.Join(items, ","), true, nil
	}
	text, ok := scalar(node)
	if !ok {
		return "", false, r.refuse(node, o.YAML+" must be "+o.Allowed()+", not "+describe(node)+quotes)
	}
	return text, true, nil
}

// scalar returns the text of a plain value as it was written.
func scalar(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

func describe(node ast.Node) string {
	switch node.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return "an anchor, alias or tag"
	}
	if text, ok := scalar(node); ok {
		return quote(text)
	}
	return "nothing"
}
