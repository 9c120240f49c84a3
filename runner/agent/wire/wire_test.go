package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// anyJSON draws a value as encoding/json decodes it, without duplicate keys.
func anyJSON() *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `\`, `\\"`, `{"a":[`, "a\tb\n", "\u2028é"}))
	scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e6, 1e6).AsAny(), text.AsAny())
	return rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(scalar, scalar, rapid.SliceOfN(anyJSON(), 0, 3).AsAny(),
			rapid.MapOfN(rapid.StringMatching(`[a-z{}\[\]:, ]{0,4}`), anyJSON(), 0, 4).AsAny())
	})
}

func TestMembers_anyObject_readsWhatEncodingJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOfN(rapid.StringMatching(`[a-z_{}]{0,6}`), anyJSON(), 0, 20).Draw(t, "object")
		data, err := json.Marshal(want)
		if rapid.Bool().Draw(t, "indented") {
			data, err = json.MarshalIndent(want, "", "\t")
		}
		if err != nil {
			t.Fatal(err)
		}
		o := Members(gjson.Result{Type: gjson.JSON, Raw: string(data)})
		if len(o.at) != len(want) {
			t.Fatalf("%d members of %s", len(o.at), data)
		}
		got := map[string]any{}
		for key, v := range o.All() {
			got[key] = v.Value()
			var elements []any
			for e := range Elements(v) {
				elements = append(elements, e.Value())
			}
			if list, ok := got[key].([]any); ok && len(list)+len(elements) > 0 && !cmp.Equal(list, elements) {
				t.Fatalf("elements of %s: %v", v.Raw, elements)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %s", data, diff)
		}
	})
}

func TestMembers_ofNoObject_isEmpty(t *testing.T) {
	o := Members(gjson.Parse(`["a"]`))
	if len(o.at) != 0 || o.Has("a") || o.Text("a") != "" || o.Int("a") != 0 || o.Bool("a") || len(o.Members("a").at) != 0 {
		t.Errorf("%v", o)
	}
	for e := range Elements(gjson.Parse(`{"a":1}`)) {
		t.Errorf("element %v", e)
	}
}

func FuzzMembers_brokenJSON_doesNotPanic(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a`, `{"a":`, `{"a":"\`, `{"a":[{]`, `{"a":1,}`, `{,"a":1}`, `{"":""}`, `[1,[2],"x"`, `{"a":\"b"}`, `{:}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, v := range Members(gjson.Result{Type: gjson.JSON, Raw: raw}).All() {
			_ = v.String()
			_ = Argument(v)
		}
		for e := range Elements(gjson.Result{Type: gjson.JSON, Raw: raw}) {
			_ = BlockText(e, 10)
		}
	})
}

func TestLines_anyChunks_sameLines(t *testing.T) {
	const limit = 10
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,14}`), 1, 8).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		var want, got []string
		long, wantLong := 0, 0
		for i, l := range lines {
			if len(l) > limit {
				wantLong++
			} else if l != "" || i < len(lines)-1 {
				want = append(want, l)
			}
		}
		w := Lines{Max: limit, Line: func(line string) { got = append(got, line) }, Long: func() { long++ }}
		for text != "" {
			n := rapid.IntRange(1, len(text)).Draw(t, "chunk")
			if wrote, err := w.Write([]byte(text[:n])); wrote != n || err != nil {
				t.Fatal(wrote, err)
			}
			text = text[n:]
		}
		w.Close()
		if !slices.Equal(want, got) || long != wantLong {
			t.Fatalf("%q, want %q; %d long, want %d", got, want, long, wantLong)
		}
	})
}

func TestRecords_allForms_areFoundInOrder(t *testing.T) {
	var got []string
	r := Records{
		Record: func(rec gjson.Result) bool {
			known := Members(rec).Has("a")
			if known {
				got = append(got, "record "+strings.ReplaceAll(rec.Raw, "\n", " "))
			}
			return known
		},
		Other: func(line string) { got = append(got, "other "+line) },
		Torn:  func() { got = append(got, "torn") },
	}
	for line := range strings.Lines(`hello
{"a":1}
  {"b":1}
[{"a":2},{"a":3},4]
[1, 2]
{"a":[{"b":1
{"a":5}
{
  "a": 4`) {
		r.Line(line)
	}
	want := []string{"other hello", `record {"a":1}`, `other {"b":1}`, `record {"a":2}`, `record {"a":3}`, "other [1, 2]",
		"torn", `record {"a":5}`, "other {", `other "a": 4`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStripTerminal(t *testing.T) {
	for line, want := range map[string]string{
		"plain":                     "plain",
		"\x1b[1mbold\x1b[0m":        "bold",
		"\x1b]0;title\a{}":          "{}",
		"\x1b]0;title\x1b\\{}":      "{}",
		"\x1b(Bx\x1b=y":             "xy",
		"^C^C{}":                    "{}",
		"^^":                        "^^",
		"spinner\rdone\r":           "done",
		"spinner\r{}\r\x1b[?25h":    "{}",
		"\x00\a\bx":                 "x",
		"cut off \x1b":              "cut off ",
		"cut off \x1b[3":            "cut off ",
		"one \x1b]title\x1b[0m two": "one title two",
	} {
		if got := StripTerminal(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestCut_keepsValidUTF8WithinTheLimit(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc …"}, {"éé", 3, "é …"}, {"a\xffb", 9, "a\uFFFDb"}, {"", 1, ""},
	} {
		if got := Cut(c.text, c.limit); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q to %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestArgument_severalArguments_returnsTheMainOne(t *testing.T) {
	for input, want := range map[string]string{
		`{"timeout":5,"command":"go\n test"}`:  "go test",
		`{"description":"d","path":"p"}`:       "p",
		`{"command":"","url":"u"}`:             "u",
		`{"x": 1}`:                             `{"x": 1}`,
		`{"path":"src","pattern":"func \\w+"}`: `func \w+ in src`,
		`{"pattern":"*.go"}`:                   "*.go",
		`{ }`:                                  "",
		`"text"`:                               "text",
		`null`:                                 "",
	} {
		if got := Argument(gjson.Parse(input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

func TestArguments_ofAnEdit_haveTheLinesThatChange(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"a","old_string":"one\ntwo\nthree","new_string":"one\n2\n2b\nthree"}`:   "- two\n+ 2\n+ 2b",
		`{"filePath":"a","oldString":"gone","newString":""}`:                                  "- gone",
		`{"file_path":"a","old_string":"","new_string":"new\nfile"}`:                          "+ new\n+ file",
		`{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`: "- a\n+ b\n- c\n+ d",
		`{"command":"ls"}`: "",
		`"text"`:           "",
	} {
		if got := Arguments(gjson.Parse(input)).Hunk; got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	for input, want := range map[string]bool{
		`{"file_path":"a/b.go","old_string":"x","new_string":"y"}`: true,
		`{"filePath":"Makefile"}`:                                  true,
		`{"path":"a/b.go","content":"x"}`:                          true,
		`{"path":"src"}`:                                           false, // a listing
		`{"path":".github"}`:                                       false,
		`{"pattern":"x","path":"a.go"}`:                            false, // a search
		`{"command":"cat a.go","file_path":"a.go"}`:                false,
		`"a.go"`: false,
	} {
		if got := Arguments(gjson.Parse(input)).File; got != want {
			t.Errorf("%s: a file: %v", input, got)
		}
	}
	long := strings.Repeat("x\\n", 50_000)
	if got := Arguments(gjson.Parse(`{"old_string":"` + long + `","new_string":"y"}`)).Hunk; len(got) > 3*maxHunk {
		t.Errorf("%d bytes", len(got))
	}
}
