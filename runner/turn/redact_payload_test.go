package turn

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ralph/state"
)

const key = "KEY"

// fill puts the key into each text below v.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(key)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	}
}

// left lists the texts below v that still have the key.
func left(at string, v reflect.Value) (all []string) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), key) {
			all = append(all, at)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, left(at+"."+v.Type().Field(i).Name, v.Field(i))...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, left(at, v.Index(i))...)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			all = left(at, v.Elem())
		}
	}
	return all
}

func TestPayload_eachKind_hidesItsWords(t *testing.T) {
	for _, row := range state.Kinds() {
		v := reflect.New(reflect.TypeOf(row.Payload)).Elem()
		fill(v)
		withoutLists := reflect.New(v.Type()).Elem()
		withoutLists.Set(v)
		for i := range v.NumField() {
			if f := withoutLists.Field(i); f.Kind() == reflect.Slice {
				f.SetZero()
			} else if f.Type() == reflect.TypeFor[state.Tool]() {
				f.FieldByName("Asks").SetZero()
			}
		}
		for _, v := range []reflect.Value{v, withoutLists} {
			hidden := redactPayload(v.Interface().(state.Payload), func(text string) string { return strings.ReplaceAll(text, key, "***") })
			for _, field := range left(string(row.Kind), reflect.ValueOf(hidden)) {
				if !slices.Contains(wordless(), field[strings.LastIndex(field, ".")+1:]) {
					t.Errorf("%s is not hidden", field)
				}
			}
		}
	}
}
