package turn

import (
	"reflect"
	"slices"
	"strings"

	"ralph/state"
)

// wordless are the fields of payloads without words: names from a set, ids, and paths, as which they are looked up again.
func wordless() []string {
	return strings.Fields("Action Agent By Changed Check Codes Completion Cut File Files Finding Host ID Instead Killed " +
		"Landed Merge Model Name OID Outcome Parent Plan Point Prompt RedBefore Rule Run Session Source State Status Sum Task Then " +
		"Ticked Unproven Verdict Version")
}

// redactPayload hides what hide finds in the words of an event, and also a key that zero bytes take apart: a terminal
// shows it whole.
func redactPayload(p state.Payload, hide func(string) string) state.Payload {
	v := reflect.New(reflect.TypeOf(p)).Elem()
	v.Set(reflect.ValueOf(p))
	redactWords(v, wordless(), func(text string) string { return hide(strings.ReplaceAll(text, "\x00", "")) })
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
