package unitfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStart_readsAsSystemdDoes(t *testing.T) {
	for _, test := range []struct {
		text string
		want Process // none: an error
	}{
		{"[Service]\nExecStart=/a b \\\n c\nWorkingDirectory=/d/\n", Process{Argv: []string{"/a", "b", "c"}, Dir: "/d"}},
		{"#x\n[Service]\nExecStart=/a \"b c\" 'd\"' \"\\\\\\\"\" %%h $$H \"\"\nWorkingDirectory=/a \"b\"%%\nEnvironment=\"A=1 2\" B=$x\n",
			Process{Argv: []string{"/a", "b c", `d"`, `\"`, "%h", "$H", ""}, Env: []string{"A=1 2", "B=$x"}, Dir: `/a "b"%`}},
		{"[Service]\nExecStart=/a %h\nWorkingDirectory=/d\n", Process{}},
		{"[Service]\nExecStart=/a $H\nWorkingDirectory=/d\n", Process{}},
		{"[Service]\nExecStart=/a \"b\nWorkingDirectory=/d\n", Process{}},
		{"[Service]\nExecStart=a\nWorkingDirectory=/d\n", Process{}},
		{"[Service]\nExecStart=\"/a\\\\b\"\nWorkingDirectory=/d\n", Process{}},
		{"[Service]\nExecStart=/a\nWorkingDirectory=/%d\n", Process{}},
		{"[Service]\nExecStart=/a\nExecStart=/b\nWorkingDirectory=/d\n", Process{}},
		{"ExecStart=/a\n", Process{}},
	} {
		u, err := Parse(test.text)
		var p Process
		if err == nil {
			p, err = u.Start()
		}
		if bad := test.want.Argv == nil; bad != (err != nil) || !bad && !cmp.Equal(p, test.want) {
			t.Errorf("%q:\n%+v, %v; want\n%+v", test.text, p, err, test.want)
		}
	}
}
