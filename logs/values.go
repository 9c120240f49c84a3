package logs

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Values are secrets that are known by their text, such as the values of variables
// that ralph withholds.
type Values struct{ texts []string }

const (
	leastValue = 8 // a shorter text is found where it means nothing
	leastLine  = 16
)

// NewValues returns the values worth hiding: no short ones, paths, or common words. It
// adds what they look like in JSON, and the lines of longer ones.
func NewValues(values []string) Values {
	var v Values
	for _, value := range values {
		value = strings.TrimSpace(value)
		v.add(value, leastValue)
		if strings.Contains(value, "\n") {
			for line := range strings.Lines(value) {
				v.add(strings.TrimSpace(line), leastLine)
			}
		}
	}
	return v
}

func (v *Values) add(text string, least int) {
	if len(text) < least || strings.ContainsAny(text[:1], "/~.") || isWord(text) || strings.Trim(text, "0123456789") == "" {
		return
	}
	v.texts = append(v.texts, text)
	quoted, err := json.Marshal(text)
	if inJSON := string(quoted[1 : len(quoted)-1]); err == nil && inJSON != text {
		v.texts = append(v.texts, inJSON)
		// Most encoders escape less than Go's does.
		v.texts = append(v.texts, strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(inJSON))
	}
}

// Redact is Redact, and hides the values.
func (v Values) Redact(text string) string {
	for _, value := range v.texts {
		if strings.Contains(text, value) {
			text = strings.ReplaceAll(text, value, redacted)
		}
	}
	return Redact(text)
}

// longest is the length of the longest value.
func (v Values) longest() int {
	longest := 0
	for _, value := range v.texts {
		longest = max(longest, len(value))
	}
	return longest
}

// Redactor writes to a file what is printed to it, without secrets. How the bytes are
// split into writes does not matter: it holds back what has not ended yet.
type Redactor struct {
	to     io.Writer
	values Values
	held   []byte
	inKey  int // bytes of a private key so far that continues; 0: in none
}

const (
	// heldMost is how much of a line without end is held back, in bytes.
	heldMost = 64 << 10
	// keyMost is the length of the longest private key, in bytes.
	keyMost = 16 << 10
	keyEnd  = "-----END "
)

// NewRedactor returns a Redactor. Close it to write the rest.
func NewRedactor(to io.Writer, values Values) *Redactor { return &Redactor{to: to, values: values} }

// Write takes the next bytes. It returns the error of the writer below.
func (r *Redactor) Write(p []byte) (int, error) {
	r.held = append(r.held, p...)
	return len(p), r.flush(r.whole())
}

// Close writes what is held back. It does not close the writer below.
func (r *Redactor) Close() error { return r.flush(len(r.held)) }

// whole returns how much of held can be written: whole lines, or of a line that does not
// end all but what may be the beginning of a secret.
func (r *Redactor) whole() int {
	if i := bytes.LastIndexByte(r.held, '\n'); i >= 0 {
		return i + 1
	}
	if len(r.held) < heldMost {
		return 0
	}
	// A blank or a quote ends what may be a secret.
	half := r.held[:len(r.held)-min(len(r.held)/2, maxSecret+r.values.longest())]
	n := bytes.LastIndexAny(half, " \t\r\"'") + 1
	if n == 0 {
		n = len(half)
	}
	for _, value := range r.values.texts {
		from := max(0, n-len(value)+1)
		if i := bytes.Index(r.held[from:min(len(r.held), n+len(value)-1)], []byte(value)); i >= 0 && from+i < n {
			n = from + i
		}
	}
	return n
}

func (r *Redactor) flush(n int) error {
	if n == 0 {
		return nil
	}
	text := r.afterKey(string(r.held[:n]))
	r.held = append(r.held[:0], r.held[n:]...)
	if strings.Contains(text, "-----BEGIN ") {
		i := strings.LastIndex(text, "-----BEGIN ")
		if !strings.Contains(text[i:], keyEnd) && Redact(text[i:]) != text[i:] {
			r.inKey = len(text) - i
		}
	}
	_, err := io.WriteString(r.to, r.values.Redact(text))
	return err
}

// afterKey removes the rest of a private key that began in an earlier write.
func (r *Redactor) afterKey(text string) string {
	if r.inKey == 0 {
		return text
	}
	if i := strings.Index(text, keyEnd); i >= 0 {
		r.inKey = 0
		return text[i:]
	}
	if r.inKey += len(text); r.inKey < keyMost {
		return ""
	}
	r.inKey = 0
	return text
}
