package wire

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Records finds JSON objects in the lines of a CLI: one on a line, or several in an array.
type Records struct {
	Record func(gjson.Result) bool // takes an object; false: it is not a record of this format
	Other  func(line string)       // takes any other line, in order
	Torn   func()                  // called for a part of a record
}

// Line takes the next line, without escape sequences.
func (r Records) Line(line string) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	value := gjson.Result{Type: gjson.JSON, Raw: line}
	switch last := line[len(line)-1]; {
	case line[0] == '{' && last == '}' && r.Record(value):
	case line[0] == '[' && last == ']' && r.array(value):
	case torn(line):
		r.Torn()
	default:
		r.Other(line)
	}
}

// torn reports whether a line is a part of a record, cut off by the end of the CLI
// or by a line of its other stream.
func torn(line string) bool {
	return strings.Contains(line, `":`) && strings.Count(line, "{") != strings.Count(line, "}")
}

func (r Records) array(value gjson.Result) (known bool) {
	for e := range Elements(value) {
		known = e.IsObject() && r.Record(e) || known
	}
	return known
}
