package turn

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"ralph/state"
)

// wordless are the fields of payloads without words: names from a set, ids, and paths, as which they are looked up again.
var wordless = sync.OnceValue(func() []string {
	return strings.Fields("Action Agent By Changed Check Codes Completion Cut File Files Finding Host ID Instead Killed " +
		"Landed Merge Model Name OID Outcome Parent Plan Point Prompt RedBefore Rule Run Session Source State Status Sum Task Then " +
		"Ticked Unproven Verdict Version")
})

// redactPayload hides what hide finds in the words of an event, and also a key that zero bytes take apart: a terminal
// shows it whole.
func redactPayload(p state.Payload, hide func(string) string) state.Payload {
	clean := func(text string) string { return hide(strings.ReplaceAll(text, "\x00", "")) }
	switch d := p.(type) { // nearly all that an agent reports
	case state.Usage:
		return d
	case state.Text:
		d.Text = clean(d.Text)
		return d
	case state.Tool:
		if d.Asks == nil {
			d.Arg, d.Hunk = clean(d.Arg), clean(d.Hunk)
			return d
		}
	case state.ToolResult:
		if d.Tool.Asks == nil {
			d.Tool.Arg, d.Tool.Hunk, d.Text = clean(d.Tool.Arg), clean(d.Tool.Hunk), clean(d.Text)
			return d
		}
	}
	v := reflect.New(reflect.TypeOf(p)).Elem()
	v.Set(reflect.ValueOf(p))
	redactWords(v, wordless(), clean)
	return v.Interface().(state.Payload)
}

// redactWords changes a value in place, and copies what it points to.
func redactWords(v reflect.Value, skip []string, hide func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hide(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(skip, f.Name) {
				redactWords(v.Field(i), skip, hide)
			}
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		all := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(all, v)
		v.Set(all)
		for i := range all.Len() {
			redactWords(all.Index(i), skip, hide)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(v.Elem())
			v.Set(to)
			redactWords(to.Elem(), skip, hide)
		}
	}
}
