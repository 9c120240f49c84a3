package turn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/logs"
)

func TestLog_promptAndOutput_areKeptWithoutSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	key := "ghp_" + strings.Repeat("a1", 18)
	for range 2 { // the second call is a retry
		l, err := OpenRawLog(dir, 3, "use "+key, logs.NewValues([]string{"swordfish9"}))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"it is sword", "fish9\nand " + key[:9], key[9:] + " with no end"} {
			if err := l.Write([]byte(p)); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil || l.Printed != 73 {
			t.Errorf("%v, %d bytes", err, l.Printed)
		}
	}
	const once = "it is ...(redacted)\nand ghp_a1...(redacted) with no end"
	for name, want := range map[string]string{"3.raw": once + once, "3.prompt.md": "use ghp_a1...(redacted)"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestLog_noDir_keepsNothing(t *testing.T) {
	l, err := OpenRawLog("", 1, "", logs.Values{})
	if err != nil || l.Write([]byte("x")) != nil || l.Close() != nil || l.Printed != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestLog_fileThatCannotBeWritten_isAnError(t *testing.T) {
	l, err := OpenRawLog(filepath.Join(t.TempDir(), "run"), 1, "", logs.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Write([]byte("a line\n")); !errors.Is(err, fs.ErrClosed) || l.Write(nil) == nil || l.Close() == nil {
		t.Errorf("%v", err)
	}
}
