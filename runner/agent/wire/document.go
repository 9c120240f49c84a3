package wire

import "strings"

// maxDocument is the most bytes of a Document.
const maxDocument = 1 << 20

// Document puts a JSON object together again that was printed indented, over
// many lines. The zero value is empty.
type Document struct {
	text  []byte
	depth int
}

// Open reports whether the document is not complete yet.
func (d *Document) Open() bool { return len(d.text) > 0 }

// Fits reports whether there is room for the line.
func (d *Document) Fits(line string) bool { return len(d.text)+len(line) < maxDocument }

// Add appends a line without blanks around it. It returns true when the line
// closes the document. The indentation is gone, so it counts the braces at the
// ends of lines.
func (d *Document) Add(line string) (complete bool) {
	if d.Open() {
		d.text = append(d.text, '\n')
	}
	d.text = append(d.text, line...)
	switch brace := strings.TrimRight(line, ","); {
	case strings.HasSuffix(brace, "{"):
		d.depth++
	case brace == "}":
		d.depth--
	}
	return line == "}" && d.depth <= 0
}

// Take empties the document and returns its lines.
func (d *Document) Take() string {
	text := string(d.text)
	*d = Document{}
	return text
}
