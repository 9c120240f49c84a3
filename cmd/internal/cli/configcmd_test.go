package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

func TestWrap_longValues_breakBehindACommaElseASpace(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"short", 10, "short"},
		{"Read,Bash(git add *),Edit", 12, "Read,|Bash(git |add *),Edit"},
		{"Bash(git status),Bash(git log)", 20, "Bash(git status),|Bash(git log)"},
		{"one two three", 8, "one two |three"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"äöüß,é", 5, "äöüß,|é"},
	} {
		if got := strings.Join(wrap(c.text, c.width), "|"); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestConfig_terminalOrPipe_fitsOrIsWhole(t *testing.T) {
	tools := "Read," + strings.Repeat("Bash(git status *),", 20) + "Edit"
	print := func(out io.Writer) {
		root := (&app{in: os.Stdin, out: out, err: io.Discard}).root()
		root.SetArgs([]string{"config", "--dir", t.TempDir(), "--allowed-tools", tools})
		if err := root.Execute(); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("HOME", t.TempDir())
	var pipe bytes.Buffer
	print(&pipe)
	if !strings.Contains(pipe.String(), tools) {
		t.Errorf("the value is cut in a pipe:\n%s", pipe.String())
	}
	for _, width := range []int{60, 80, 200} {
		master, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
			t.Fatal(err)
		}
		read := make(chan string)
		go func() { // ends with an error when nobody has the terminal open
			data, _ := io.ReadAll(master)
			read <- string(data)
		}()
		print(tty)
		_ = tty.Close()
		whole := ""
		for line := range strings.Lines(<-read) {
			line = strings.TrimRight(line, "\r\n")
			if utf8.RuneCountInString(line) > width {
				t.Errorf("at %d: %d characters in %q", width, utf8.RuneCountInString(line), line)
			}
			whole += strings.Join(strings.Fields(line), "")
		}
		_ = master.Close()
		if value := strings.ReplaceAll(tools, " ", ""); !strings.Contains(strings.Replace(whole, "--allowed-tools(flag)", "", 1), value) {
			t.Errorf("at %d something is lost:\n%s", width, whole)
		}
	}
}
