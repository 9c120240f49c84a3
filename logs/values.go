package logs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
)

// Values are secrets with a known text, such as the values of variables
// that ralph withholds.
type Values struct{ texts []value }

type value struct {
	text string
	rare int // index of the byte that ordinary text has least of
}

const (
	minValue = 8 // a shorter text also occurs by chance
	minLine  = 16
)

// NewValues returns the values worth hiding: no short ones, paths, or common words. It
// adds what they look like in JSON, and the lines of longer ones.
func NewValues(values []string) Values {
	var v Values
	for _, value := range values {
		value = strings.TrimSpace(value)
		v.add(value, minValue)
		if strings.Contains(value, "\n") {
			for line := range strings.Lines(value) {
				v.add(strings.TrimSpace(line), minLine)
			}
		}
	}
	return v
}

func (v *Values) add(text string, least int) {
	if len(text) < least || strings.ContainsAny(text[:1], "/~.") || isWord(text) ||
		strings.Trim(text, "0123456789") == "" {
		return
	}
	forms := []string{text}
	quoted, err := json.Marshal(text)
	if inJSON := string(quoted[1 : len(quoted)-1]); err == nil && inJSON != text {
		// Most encoders escape less than Go's does.
		forms = append(forms, inJSON, strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(inJSON))
	}
	for _, form := range forms {
		one := value{text: form}
		for i := range len(form) {
			if rarity(form[i]) > rarity(form[one.rare]) {
				one.rare = i
			}
		}
		v.texts = append(v.texts, one)
	}
}

// in reports whether the value is in the text. strings.Contains looks for the first
// byte, which is much slower if that is a common one.
func (one value) in(text string) bool {
	for i := one.rare; i < len(text); i++ {
		next := strings.IndexByte(text[i:], one.text[one.rare])
		if next < 0 {
			return false
		}
		i += next
		if strings.HasPrefix(text[i-one.rare:], one.text) {
			return true
		}
	}
	return false
}

// Redact is the function Redact, and also hides the values.
func (v Values) Redact(text string) string {
	for _, one := range v.texts {
		if one.in(text) {
			text = strings.ReplaceAll(text, one.text, redacted)
		}
	}
	return Redact(text)
}

// longest returns the length of the longest value.
func (v Values) longest() int {
	longest := 0
	for _, one := range v.texts {
		longest = max(longest, len(one.text))
	}
	return longest
}

// Redactor passes text on without its secrets. How the bytes are
// split into writes does not matter: it holds back an unfinished line.
type Redactor struct {
	to     io.Writer
	values Values
	held   []byte
	keys   PrivateKeys
}

const (
	// maxHeld limits how much of an unfinished line is held back, in bytes.
	maxHeld = 64 << 10
	// maxPrivateKey is the length of the longest private key, in bytes.
	maxPrivateKey = 16 << 10
)

// privateKeys are the first and last texts of private keys with several lines.
var privateKeys = [...][2]string{{"-----BEGIN ", "-----END "}, {"Private-Lines: ", "Private-MAC: "}}

// NewRedactor returns a Redactor. Close it to write the rest.
func NewRedactor(to io.Writer, values Values) *Redactor { return &Redactor{to: to, values: values} }

// Write takes the next bytes. It returns the error of the writer below.
func (r *Redactor) Write(p []byte) (int, error) {
	var text strings.Builder
	end := bytes.LastIndexByte(p, '\n') + 1
	if end > 0 { // whole lines
		text.Grow(len(r.held) + end)
		text.Write(r.held)
		text.Write(p[:end])
		r.held = append(r.held[:0], p[end:]...)
	} else {
		r.held = append(r.held, p...)
		n := r.ready()
		text.Write(r.held[:n])
		r.held = append(r.held[:0], r.held[n:]...)
	}
	return len(p), r.pass(text.String())
}

// Close writes what is held back. It does not close the writer below.
func (r *Redactor) Close() error {
	text := string(r.held)
	r.held = nil
	return r.pass(text)
}

// ready returns how much of an unfinished line can be written: everything except what may be
// the beginning of a secret.
func (r *Redactor) ready() int {
	if len(r.held) < maxHeld {
		return 0
	}
	// A blank or a quote ends what may be a secret.
	half := r.held[:len(r.held)-min(len(r.held)/2, maxSecret+r.values.longest())]
	n := bytes.LastIndexAny(half, " \t\r\"'") + 1
	n = cmp.Or(n, len(half))
	for _, one := range r.values.texts {
		from := max(0, n-len(one.text)+1)
		if i := bytes.Index(r.held[from:min(len(r.held), n+len(one.text)-1)], []byte(one.text)); i >= 0 && from+i < n {
			n = from + i
		}
	}
	return n
}

// pass writes a text without its secrets.
func (r *Redactor) pass(text string) error {
	if text == "" {
		return nil
	}
	text = r.keys.Cut(text)
	_, err := io.WriteString(r.to, r.values.Redact(text))
	return err
}

// PrivateKeys removes the rest of a private key whose text comes in pieces, such as a line at a time. The zero
// value is ready to use.
type PrivateKeys struct {
	size int    // bytes so far of an unfinished key; 0: none
	end  string // the text that ends it
}

// Cut returns a piece without the rest of a key that began in an earlier one. What it has of a key that begins in it,
// Redact hides.
func (k *PrivateKeys) Cut(text string) string {
	text = k.after(text)
	for _, key := range privateKeys {
		if !strings.Contains(text, key[0]) {
			continue
		}
		i := strings.LastIndex(text, key[0])
		if !strings.Contains(text[i:], key[1]) && Redact(text[i:]) != text[i:] {
			k.size, k.end = len(text)-i, key[1]
		}
	}
	return text
}

func (k *PrivateKeys) after(text string) string {
	if k.size == 0 {
		return text
	}
	if i := strings.Index(text, k.end); i >= 0 {
		k.size = 0
		if k.end == "Private-MAC: " {
			i += len(k.end)
			return k.end + redacted + text[endOf(text, i, func(c byte) bool { return !isHex(c) }):]
		}
		return text[i:]
	}
	if k.size += len(text); k.size < maxPrivateKey {
		return ""
	}
	k.size = 0
	return text
}
