package projectfs

// This file reads YAML that an agent or a stranger may have written. The library expands aliases without a bound,
// and needs time and memory with the square of the depth: a file of 400 bytes fills the memory.

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

const (
	maxSize   = 256 << 10 // bytes
	maxDepth  = 100       // of [ and {
	maxColumn = 300       // of - and ?, which nest on one line
)

// UnmarshalYAML is that of the library, for YAML within bounds and without aliases.
func UnmarshalYAML(data []byte, v any, options ...yaml.DecodeOption) error {
	if len(data) > maxSize {
		return fmt.Errorf("larger than %d KiB", maxSize>>10)
	}
	depth := 0
	for _, t := range lexer.Tokenize(string(data)) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.AliasType:
			return fmt.Errorf("line %d: aliases are not allowed", t.Position.Line)
		}
		nests := t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType
		if depth > maxDepth || nests && t.Position.Column > maxColumn {
			return fmt.Errorf("line %d: nested too deeply", t.Position.Line)
		}
	}
	return yaml.UnmarshalWithOptions(data, v, options...)
}
