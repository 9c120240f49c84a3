package audit

import (
	"testing"

	"ralph/runner/task"
)

func TestCompare_stubs(t *testing.T) {
	for name, c := range map[string]struct{ path, after, want string }{
		"go, panic":                    {"a.go", "func Export() error {\n\tpanic(\"not implemented\")\n}\n", `"Export" is not written yet: panic("not implemented")`},
		"go, one line":                 {"a.go", "func (s *Store) Get() int { panic(\"TODO\") }\n", `"Get" is not written yet: panic("TODO")`},
		"go, comment behind":           {"a.go", "func Export() error {\n\treturn nil // TODO\n}\n", `"Export" is not written yet: return nil // TODO`},
		"go, comment above":            {"a.go", "func Export() (int, error) {\n\t// TODO: implement\n\treturn 0, nil\n}\n", `"Export" is not written yet: return 0, nil`},
		"go, parameters on lines":      {"a.go", "func Export(\n\tw io.Writer,\n) error {\n\treturn errors.New(\"not implemented yet\")\n}\n", `"Export" is not written yet: return errors.New("not implemented yet")`},
		"go, only a comment":           {"a.go", "func Export() {\n\t// TODO: write it\n}\n", `"Export" is not written yet: // TODO: write it`},
		"python, raise":                {"a.py", "def send(to):\n    \"\"\"Send it.\n\n    To one.\n    \"\"\"\n    raise NotImplementedError\n", `"send" is not written yet: raise NotImplementedError`},
		"python, pass":                 {"a.py", "async def send(to):\n    pass\n", `"send" is not written yet: pass`},
		"python, method of a class":    {"a.py", "class Mail:\n    def send(self, to):\n        pass\n", `"send" is not written yet: pass`},
		"python, one line":             {"a.py", "def send(to): ...\n", `"send" is not written yet: ...`},
		"python, return and TODO":      {"a.py", "def send(to):\n    return None  # TODO\n", `"send" is not written yet: return None  # TODO`},
		"python, prints":               {"a.py", "def send(to):\n    print(\"send: coming soon\")\n", `"send" is not written yet: print("send: coming soon")`},
		"js, function":                 {"a.js", "function send(to) {\n  throw new Error('Not implemented');\n}\n", `"send" is not written yet: throw new Error('Not implemented');`},
		"js, arrow":                    {"a.ts", "export const send = async (to: string) => {\n  throw new Error(\"TODO\");\n};\n", `"send" is not written yet: throw new Error("TODO");`},
		"js, arrow on a line":          {"a.js", "const send = () => null; // TODO\n", `"send" is not written yet: null; // TODO`},
		"ts, method":                   {"a.ts", "class Mail {\n  async send(to: string): Promise<void> {\n    throw new Error('Method not implemented.');\n  }\n}\n", `"send" is not written yet: throw new Error('Method not implemented.');`},
		"rust, with a message":         {"src/a.rs", "pub fn to_rpn(_text: &str) -> Result<String, String> {\n    unimplemented!(\"shunting yard\")\n}\n", `"to_rpn" is not written yet: unimplemented!("shunting yard")`},
		"rust, todo":                   {"src/a.rs", "pub fn send(to: &str) -> bool {\n    todo!()\n}\n", `"send" is not written yet: todo!()`},
		"rust, below the tests":        {"src/a.rs", "#[cfg(test)]\nmod tests {\n    fn fake() { unimplemented!() }\n}\n\npub fn satisfies(_v: &str) -> bool {\n    // TODO: implement in a follow-up\n    todo!()\n}\n", `"satisfies" is not written yet: todo!()`},
		"rust, one line":               {"src/a.rs", "fn send() { unimplemented!() }\n", `"send" is not written yet: unimplemented!()`},
		"java":                         {"A.java", "class A {\n    public int size(int a) {\n        throw new UnsupportedOperationException(\"Not implemented yet\");\n    }\n}\n", `"size" is not written yet: throw new UnsupportedOperationException("Not implemented yet");`},
		"shell":                        {"bin/a.sh", "delete_rest() {\n    # TODO: implement deletion\n    :\n}\n", `"delete_rest" is not written yet: :`},
		"honest: shell, a no-op":       {"bin/a.sh", "on_exit() {\n    :\n}\n", ""},
		"kotlin":                       {"a.kt", "fun size(a: Int): Int {\n    TODO()\n}\n", `"size" is not written yet: TODO()`},
		"ruby":                         {"a.rb", "def size\n  raise NotImplementedError\nend\n", `"size" is not written yet: raise NotImplementedError`},
		"c#":                           {"A.cs", "class A {\n    public int Size() {\n        throw new NotImplementedException();\n    }\n}\n", `"Size" is not written yet: throw new NotImplementedException();`},
		"honest: TODO, all is used":    {"a.py", "def read(path, mode=\"r\"):\n    # TODO: compressed files\n    return open(path, mode).read()\n", ""},
		"honest: no TODO":              {"a.go", "func handle(w http.ResponseWriter, r *http.Request) {\n\tw.WriteHeader(404)\n}\n", ""},
		"honest: only one for now":     {"a.py", "def read(b):\n    \"\"\"For now only UTF-8.\"\"\"\n    return b.decode()\n", ""},
		"honest: it is a placeholder":  {"a.py", "def hint(f):\n    \"\"\"The placeholder of a field.\"\"\"\n    return \"\"\n", ""},
		"honest: guard":                {"a.py", "def send(to):\n    if to is None:\n        raise NotImplementedError\n    return deliver(to)\n", ""},
		"honest: abstract":             {"a.py", "class Mail(ABC):\n    @abstractmethod\n    def send(self, to):\n        raise NotImplementedError\n", ""},
		"honest: extended in the file": {"a.js", "class Mail {\n  send(to) {\n    throw new Error('not implemented');\n  }\n}\nclass Smtp extends Mail {\n  send(to) { return deliver(to); }\n}\n", ""},
		"honest: overrides a hook":     {"a.py", "class Quiet(Handler):\n    def close(self):\n        pass\n", ""},
		"honest: protocol":             {"a.py", "class Writer(Protocol):\n    def write(self, text: str) -> None: ...\n", ""},
		"honest: exception":            {"a.py", "class Broken(Exception):\n    pass\n", ""},
		"honest: nothing to do":        {"a.go", "func (quiet) Close() error { return nil }\n\nfunc (quiet) Flush() {}\n", ""},
		"honest: TODO behind work":     {"a.go", "func Count(s string) int {\n\tn := len(s)\n\tif n == 0 {\n\t\treturn 0 // TODO: an error?\n\t}\n\treturn n\n}\n", ""},
		"honest: unreachable":          {"a.go", "func must() {\n\tpanic(\"unreachable\")\n}\n", ""},
		"honest: unsupported case":     {"src/a.rs", "fn f(e: E) -> u8 {\n    match e {\n        E::A => 1,\n        E::B => unimplemented!(\"B comes later\"),\n    }\n}\n", ""},
		"honest: a fake":               {"internal/fakes/store.go", "func (f *Fake) Get() int { panic(\"not implemented\") }\n", ""},
		"honest: a test":               {"test_a.py", "def helper():\n    raise NotImplementedError\n", ""},
		"honest: tests in the code":    {"src/a.rs", "#[cfg(test)]\nmod tests {\n    fn fake() { unimplemented!() }\n}\n", ""},
		"honest: text about it":        {"README.md", "raise NotImplementedError\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Files: []File{{Path: c.path, After: c.after, Exists: true}}, Task: "1",
				PlanBefore: []task.Task{{ID: "1", Title: "Send it"}}, PlanAfter: []task.Task{{ID: "1", Title: "Send it", State: task.Done}}}
			wantText(t, in, c.want)
			open := in
			open.PlanAfter = in.PlanBefore
			wantText(t, open, "") // work in progress
			old := in
			old.Files = []File{{Path: c.path, Before: c.after, After: c.after + "\n", Existed: true, Exists: true}}
			wantText(t, old, "") // it was there before
			asked := in
			asked.PlanBefore = []task.Task{{ID: "1", Title: "Write stubs of the functions"}}
			asked.PlanAfter = []task.Task{{ID: "1", Title: "Write stubs of the functions", State: task.Done}}
			wantText(t, asked, "")
		})
	}
}

// One case of several is enough in Rust: todo!() never belongs into finished work.
func TestCompare_todoInOneCase_isAStub(t *testing.T) {
	in := Input{Files: []File{{Path: "src/a.rs", After: "fn f(e: E) -> u8 {\n    match e {\n        E::A => 1,\n        E::B => todo!(\"later\"),\n    }\n}\n", Exists: true}},
		Task: "1", PlanBefore: []task.Task{{ID: "1", Title: "Send it"}}, PlanAfter: []task.Task{{ID: "1", Title: "Send it", State: task.Done}}}
	wantText(t, in, `"f" is not written yet: E::B => todo!("later"),`)
}
