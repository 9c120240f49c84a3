package remote

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWire_pack_arrivesAsItWas(t *testing.T) {
	var pack strings.Builder
	for n := range 3 * chunk {
		pack.WriteByte(byte(n * 7 >> (n % 5)))
	}
	pack.WriteString("\x10n\x10p\r\n \x01{}\n")
	var sent bytes.Buffer
	if err := NewWriter(&sent).SendPack(pack.String()); err != nil {
		t.Fatal(err)
	}
	if most := pack.Len() * 103 / 100; sent.Len() > most {
		t.Errorf("%d bytes were sent for %d", sent.Len(), pack.Len())
	}
	var got strings.Builder
	for r := NewReader(&sent, MaxReply); ; {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := Collect(&got, l.Pack); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != pack.String() {
		t.Error("the pack is another one")
	}
}
