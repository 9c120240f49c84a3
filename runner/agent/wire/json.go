// Package wire takes the output of agent CLIs apart: bytes into lines, lines
// into JSON values, values into short texts. What the values mean is up to
// package agent.
package wire

import (
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// Object holds the members of a JSON object, in their order.
type Object []member

type member struct{ key, raw string }

// Members takes an object apart in one pass. It is empty for any other value.
// Nested values are skipped, not parsed: most of a record is text that nobody
// reads, and gjson looks at each of its bytes once a level.
func Members(r gjson.Result) Object {
	if !r.IsObject() {
		return nil
	}
	o := make(Object, 0, 16)
	s := r.Raw
	for i := 1; i < len(s); {
		start := i + strings.IndexByte(s[i:], '"')
		if start < i {
			break
		}
		end := skipString(s, start)
		i = skipBlanks(s, end)
		if i >= len(s) || s[i] != ':' {
			break
		}
		i = skipBlanks(s, i+1)
		next := skipValue(s, i)
		o = append(o, member{s[start+1 : max(start+1, end-1)], s[i:next]})
		i = skipBlanks(s, next)
		if i >= len(s) || s[i] != ',' {
			break
		}
	}
	return o
}

// Get returns a member. The zero Result stands for one that is missing.
func (o Object) Get(key string) gjson.Result {
	for _, m := range o {
		if m.key == key {
			return value(m.raw)
		}
	}
	return gjson.Result{}
}

// Has reports whether there is such a member, even if it is null.
func (o Object) Has(key string) bool { return o.Get(key).Exists() }

// Members is the object in a member.
func (o Object) Members(key string) Object { return Members(o.Get(key)) }

// Text is a member as text: "" if it is missing, raw JSON of an object.
func (o Object) Text(key string) string { return o.Get(key).String() }

// Int is a member as a number, 0 if it is none.
func (o Object) Int(key string) int64 { return o.Get(key).Int() }

// Bool is a member as a boolean, false if it is none.
func (o Object) Bool(key string) bool { return o.Get(key).Bool() }

// All yields the members.
func (o Object) All() iter.Seq2[string, gjson.Result] {
	return func(yield func(string, gjson.Result) bool) {
		for _, m := range o {
			if !yield(m.key, value(m.raw)) {
				return
			}
		}
	}
}

// Elements yields the elements of an array, nothing for any other value.
func Elements(r gjson.Result) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		if !r.IsArray() {
			return
		}
		s := r.Raw
		for i := skipBlanks(s, 1); i < len(s) && s[i] != ']'; {
			next := skipValue(s, i)
			if next == i || !yield(value(s[i:next])) {
				return
			}
			if i = skipBlanks(s, next); i < len(s) && s[i] == ',' {
				i = skipBlanks(s, i+1)
			}
		}
	}
}

func value(raw string) gjson.Result {
	if raw != "" && (raw[0] == '{' || raw[0] == '[') {
		return gjson.Result{Type: gjson.JSON, Raw: raw}
	}
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && strings.IndexByte(raw, '\\') < 0 {
		return gjson.Result{Type: gjson.String, Raw: raw, Str: raw[1 : n-1]}
	}
	return gjson.Parse(raw)
}

// skipValue returns the index behind the value at s[i:], or len(s) when its end
// is missing. It works on broken JSON too, in linear time.
func skipValue(s string, i int) int {
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '"':
		return skipString(s, i)
	case '{', '[':
		return skipNested(s, i)
	}
	if n := strings.IndexAny(s[i:], ",]} \t\r\n"); n >= 0 {
		return i + n
	}
	return len(s)
}

func skipNested(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = skipString(s, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// skipString returns the index behind the string that begins at s[i]. It looks
// for quotes, not at every byte: nearly all of a long record is inside strings.
func skipString(s string, i int) int {
	for i++; i < len(s); i++ {
		quote := strings.IndexByte(s[i:], '"')
		if quote < 0 {
			break
		}
		i += quote
		backslashes := 0
		for s[i-1-backslashes] == '\\' { // ends at the opening quote at the latest
			backslashes++
		}
		if backslashes%2 == 0 {
			return i + 1
		}
	}
	return len(s)
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}
