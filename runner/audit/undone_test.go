package audit

import (
	"slices"
	"testing"
)

func TestTraces_changeThatIsTakenBack_isUndone(t *testing.T) {
	file := func(path, before, after string) File {
		return File{Path: path, Before: before, After: after, Existed: before != "", Exists: after != ""}
	}
	const was, is = "class P:\n    def __init__(self):\n        self.n = 1\n", "class P:\n    def __init__(self):\n        if price < 0:\n            raise ValueError\n        self.n = 1\n"
	test := file("test_p.py", "def test_a(): pass\n", "def test_a(): pass\n\ndef test_b(): check()\n")
	for name, c := range map[string]struct {
		turn, now []File
		edited    []string
		want      bool
	}{
		"all is as before":          {[]File{file("p.py", was, is), test}, nil, nil, true},
		"other lines were added":    {[]File{file("p.py", was, is)}, []File{file("p.py", was, was+"\ndef load(): pass\n")}, nil, true},
		"later code took its place": {[]File{file("p.py", was, is), test}, []File{file("p.py", was, was+"\ndef load(): pass\n"), file("test_p.py", "def test_a(): pass\n", "def test_load(): load()\n\ndef test_a(): pass\n")}, nil, true},
		"the test is left":          {[]File{file("p.py", was, is), test}, []File{test}, nil, false},
		"it is still there":         {[]File{file("p.py", was, is)}, []File{file("p.py", was, is+"x = 1\n")}, nil, false},
		"it has moved":              {[]File{file("p.py", was, is)}, []File{file("q.py", "", "def check():\n    if price < 0:\n        raise ValueError\n")}, nil, false},
		"it was replaced":           {[]File{file("p.py", was, is)}, []File{file("p.py", was, "class P:\n    def __init__(self):\n        check(self)\n        self.n = 1\n")}, nil, false},
		"a new file is gone":        {[]File{file("new.py", "", "def load(): pass\n")}, nil, nil, true},
		"a new file was renamed":    {[]File{file("new.py", "", "def load(): pass\n")}, []File{file("other.py", "", "def load(): pass\n")}, nil, false},
		"a removal is back":         {[]File{file("p.py", is, was)}, nil, nil, true},
		"a removal stays":           {[]File{file("p.py", is, was)}, []File{file("p.py", is, was)}, nil, false},
		"a deleted file is back":    {[]File{file("old.py", "def f(): pass\n", "")}, nil, nil, true},
		"tests and most lines are gone": {[]File{file("p.py", was, is), file("test_q.py", "", "import p\n\ndef test_price(): pass\n")},
			[]File{file("p.py", was, "import math\n"+was), file("test_m.py", "", "import p\n\ndef test_m(): pass\n")}, nil, true},
		"tests are gone, the code is there": {[]File{file("p.py", was, is), file("test_q.py", "", "def test_price(): pass\n")},
			[]File{file("p.py", was, is)}, nil, false},
		"tests have moved, the code is new": {[]File{file("p.py", was, is), file("test_q.py", "", "def test_price(): pass\n")},
			[]File{file("p.py", was, was+"y = 2\n"), file("test_r.py", "", "def test_price(): pass\n")}, nil, false},
		"a person took it back": {[]File{file("p.py", was, is)}, nil, []string{"p.py"}, false},
	} {
		var all Traces
		all.Add(3, c.turn)
		if got := all.Undone(c.now, c.edited); slices.Contains(got, 3) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
