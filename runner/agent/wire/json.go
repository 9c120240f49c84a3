// Package wire splits the output of agent CLIs: bytes into lines, lines into
// JSON values, values into short texts. Package agent knows what the values mean.
package wire

import (
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// Object holds the members of a JSON object, in their order.
type Object struct {
	json string
	at   []member
}

// member is where the parts of a member are. Without pointers, a flood of records costs the garbage collector half.
type member struct{ key, keyEnd, raw, rawEnd int32 }

// Members returns the members of an object, and nothing for any other value.
//
// It does not use gjson's ForEach, which decodes every string and halves the
// throughput of ralph: most of a record is text that nobody reads.
func Members(r gjson.Result) Object {
	if !r.IsObject() {
		return Object{}
	}
	o := Object{r.Raw, make([]member, 0, 12)}
	each(r.Raw, func(m member) bool {
		o.at = append(o.at, m)
		return true
	})
	return o
}

func (o Object) key(m member) string { return o.json[m.key:m.keyEnd] }
func (o Object) raw(m member) string { return o.json[m.raw:m.rawEnd] }

// Get returns a member. The zero Result stands for one that is missing.
func (o Object) Get(key string) gjson.Result {
	for _, m := range o.at {
		if o.key(m) == key {
			return value(o.raw(m))
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
		for _, m := range o.at {
			if !yield(o.key(m), value(o.raw(m))) {
				return
			}
		}
	}
}

// Elements yields the elements of an array, nothing for any other value.
func Elements(r gjson.Result) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		if r.IsArray() {
			each(r.Raw, func(m member) bool { return yield(value(r.Raw[m.raw:m.rawEnd])) })
		}
	}
}

// each yields the values in an object or an array; elements have no key. It
// stops at broken JSON.
func each(s string, yield func(member) bool) {
	object := s[0] == '{'
	for i := skipBlanks(s, 1); i < len(s) && s[i] != '}' && s[i] != ']'; i = skipBlanks(s, i+1) {
		var m member
		if object {
			if s[i] != '"' {
				return
			}
			end := skipString(s, i)
			m.key, m.keyEnd = int32(i+1), int32(max(i+1, end-1))
			if i = skipBlanks(s, end); i == len(s) || s[i] != ':' {
				return
			}
			i = skipBlanks(s, i+1)
		}
		next := skipValue(s, i)
		m.raw, m.rawEnd = int32(i), int32(next)
		if next == i || !yield(m) {
			return
		}
		if i = skipBlanks(s, next); i == len(s) || s[i] != ',' {
			return
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

// skipValue returns the index after the value at s[i:], or len(s) when its end
// is missing. It takes linear time, also for broken JSON.
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

// skipString returns the index after the string that begins at s[i]. It searches
// for quotes, because nearly all of a long record is inside strings.
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

// ByHook reports whether the tool result of a record says that a hook refused the call.
func ByHook(rec Object) bool {
	for meta := range Elements(rec.Get("tool_result_meta")) {
		d := Members(meta).Members("permission_decision")
		return d.Text("source") == "hook" && d.Text("decision") == "reject"
	}
	return false
}
