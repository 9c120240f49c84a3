package wire

import (
	"strings"

	"github.com/tidwall/gjson"
)

// maxDocument is the size of the largest record on more than one line, in bytes.
const maxDocument = 1 << 20

// Records finds JSON objects in the lines of a CLI: one on a line, several in
// an array, or one printed indented over many lines. It is not safe for
// concurrent use.
type Records struct {
	Record func(gjson.Result) bool // takes an object; false: it is not a record of this format
	Other  func(line string)       // takes any other line, in order
	Torn   func()                  // called for a part of a record

	document []byte // an unfinished record, without its indentation
	depth    int    // braces that are open in it
}

// Line takes the next line, without escape sequences.
func (r *Records) Line(line string) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	whole := line[0] == '{' && line[len(line)-1] == '}' && len(line) > 1
	switch {
	case len(r.document) > 0 && (!whole || line == "{}"):
		r.extend(line)
	case line == "{":
		r.add(line)
	case whole && r.Record(gjson.Result{Type: gjson.JSON, Raw: line}):
	case line[0] == '[' && r.array(line):
	case torn(line):
		r.Torn()
	default:
		r.Other(line)
	}
}

// Close passes the lines of an unfinished record to Other.
func (r *Records) Close() { r.others(r.take()) }

// torn reports whether a line is a part of a record, cut off by the end of the CLI
// or by a line of its other stream.
func torn(line string) bool {
	return strings.Contains(line, `":`) && strings.Count(line, "{") != strings.Count(line, "}")
}

func (r *Records) array(line string) (known bool) {
	if line[len(line)-1] != ']' {
		return false
	}
	for e := range Elements(gjson.Result{Type: gjson.JSON, Raw: line}) {
		known = e.IsObject() && r.Record(e) || known
	}
	return known
}

func (r *Records) extend(line string) {
	if len(r.document)+len(line) >= maxDocument {
		r.Close()
		r.Other(line)
		return
	}
	if !r.add(line) {
		return
	}
	if text := r.take(); !r.Record(gjson.Result{Type: gjson.JSON, Raw: text}) {
		r.others(text)
	}
}

// add appends a line and reports whether it closes the record. It counts braces at
// the ends of lines, because indentation is stripped.
func (r *Records) add(line string) (complete bool) {
	if len(r.document) > 0 {
		r.document = append(r.document, '\n')
	}
	r.document = append(r.document, line...)
	switch brace := strings.TrimRight(line, ","); {
	case strings.HasSuffix(brace, "{"):
		r.depth++
	case brace == "}":
		r.depth--
	}
	return line == "}" && r.depth <= 0
}

func (r *Records) take() string {
	text := string(r.document)
	r.document, r.depth = nil, 0
	return text
}

func (r *Records) others(text string) {
	for line := range strings.Lines(text) {
		r.Other(strings.TrimSpace(line))
	}
}
