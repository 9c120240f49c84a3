package mutate

import (
	"strings"
	"testing"
)

func TestOf_changesOneLineOfAWantedFunction(t *testing.T) {
	for name, c := range map[string]struct{ path, text, want string }{
		"Go":                     {"a.go", "func Add(a, b int) int {\n\treturn a + b\n}\n", "return a - b"},
		"a method":               {"a.go", "func (c *Cart) Add(n int) bool {\n\tc.n *= 2\n\treturn n > 5\n}\n", "return n <= 5|c.n += 2|return n > 15"},
		"Python":                 {"a.py", "def Add(a, b):\n    return a + b\n\n\ndef other():\n    return 1\n", "return None|return a - b"},
		"an arrow":               {"a.js", "const Add = (a, b) => {\n  return a * b;\n}\n", "return undefined|return a + b;"},
		"Rust, not its tests":    {"a.rs", "pub fn Add(a: u8, b: u8) -> u8 {\n    a + b\n}\n#[cfg(test)]\nmod tests {\n    fn Add() {\n        a + b\n    }\n}\n", "a - b"},
		"shell":                  {"a.sh", "Add() {\n  echo $(($1 * 2))\n}\n", "echo $(($1 + 2))|echo $(($1 * 12))"},
		"a condition in Go":      {"a.go", "func Add(m map[int]int, a int) {\n\tif v, ok := m[a]; ok {\n\t\tm.Drop(v)\n\t}\n}\n", "|if v, ok := m[a]; !ok {"},
		"one in JavaScript":      {"a.js", "function Add(m) {\n  if (m.x) {\n    m.emit('x');\n  }\n}\n", "|if (!(m.x)) {|m.emit('xx');"},
		"one in Python":          {"a.py", "def Add(m):\n    if m.x:\n        raise ValueError(m)\n    m.drop()\n", "pass|pass|if not (m.x):"},
		"parameters in lines":    {"a.py", "def Add(\n    a=1,\n    b=True,\n):\n    return a\n", "return None"},
		"an arrow in brackets":   {"a.js", "const Add = (a, b) => (\n  a * b\n)\n", "a + b"},
		"weak ones last":         {"a.go", "func Add() *T {\n\tif x == 1 {\n\t\tgo1()\n\t}\n\treturn &T{\n\t\tn: 3,\n\t\tt: 30 * time.Second,\n\t}\n}\n", "if x != 1 {|if !(x == 1) {|t: 30 + time.Second,"},
		"logs":                   {"a.go", "func Add(a int) int {\n\tslog.Info(\"a\")\n\ts.log.Printf(\"b\")\n\treturn a\n}\n", ""},
		"what may never end":     {"a.go", "func Add(a int) int {\n\tfor a < 9 {\n\t\ta++\n\t}\n\treturn a\n}\n", ""},
		"what does something":    {"a.py", "def Add(a):\n    os.remove(a)\n    return a + 1\n", ""},
		"what calls a program":   {"a.sh", "Add() {\n  if [ $1 -gt 2 ]; then rm -rf $2; fi\n}\n", ""},
		"a function like others": {"a.py", "def Sub(a):\n    return a + 1\n", ""},
		"no code":                {"a.md", "def Add(a):\n    return a + 1\n", ""},
	} {
		var got []string
		for _, m := range Of(c.path, c.text, 3, func(name string) bool { return name == "Add" }) {
			got = append(got, m.Now)
			text, ok := m.In(c.text)
			if want := strings.Replace(c.text, m.Was, m.Now, 1); !ok || text != want {
				t.Errorf("%s: %v, %q, want %q", name, ok, text, want)
			}
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestIn_textWithAnotherNumberOfSuchLines_isLeftAlone(t *testing.T) {
	const text = "def a(x):\n    return x + 1\n\n\ndef b(x):\n    return x + 1\n"
	m := Of("a.py", text, 3, func(name string) bool { return name == "b" })[0]
	if got, ok := m.In(text); !ok || got != strings.TrimSuffix(text, "return x + 1\n")+"return None\n" {
		t.Errorf("%v, %q", ok, got)
	}
	for _, other := range []string{"", "def a(x):\n    return x\n", "def b(x):\n    return x + 1\n"} {
		if got, ok := m.In(other); ok || got != other {
			t.Errorf("%q: %q", other, got)
		}
	}
}

func TestPlanted_failsBehindTheFirstLineOfAScript(t *testing.T) {
	for name, want := range map[string]string{
		"a.sh": "#!/bin/sh\nexit 1\ntrue\n", "a.py": "#!/bin/sh\nassert False, 'planted'\ntrue\n", "a.txt": "",
		"a_test.go": "#!/bin/sh\ntrue\n\nfunc init() { panic(\"planted\") }\n",
	} {
		if got := Planted(name, "#!/bin/sh\ntrue\n"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
