package logs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func FuzzTail_anyBytesInAnyPieces_givesTheLinesOfTheWhole(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"), uint8(2))
	f.Add([]byte("\n\n\r\n\x00\xff"), uint8(1))
	f.Add([]byte("no end"), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		path := filepath.Join(t.TempDir(), "log")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		tail := NewTail(path, -1)
		defer tail.Close()
		var got [][]byte
		for rest := data; ; {
			n := min(len(rest), int(piece)+1)
			if _, err := file.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			lines, err := tail.Poll()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines...)
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
		want := bytes.Split(data, []byte("\n"))
		want = want[:len(want)-1] // what follows the last line end is not a line yet
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for i := range want {
			if w := bytes.TrimSuffix(want[i], []byte("\r")); len(w) < maxTailLine && !bytes.Equal(got[i], w) {
				t.Errorf("line %d is %q, want %q", i, got[i], w)
			}
		}
	})
}
