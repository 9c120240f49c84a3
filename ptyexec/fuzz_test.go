package ptyexec

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func FuzzReadSpec_anyBytes_areRefusedOrRoundTrip(f *testing.F) {
	whole := spec{path: "/bin/sh", dir: "/", args: []string{"sh", "-c", ""}, env: []string{"A=b"}, tty: true, prompt: true, grace: time.Second}.encode()
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 && binary.LittleEndian.Uint32(data) > 1<<20 {
			return // the length comes from ralph itself; here it would only cost memory
		}
		s, err := readSpec(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := readSpec(bytes.NewReader(s.encode()))
		if diff := cmp.Diff(s, again, cmp.AllowUnexported(spec{})); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func FuzzReadRecord_anyBytes_areRefusedOrRoundTrip(f *testing.F) {
	f.Add(record{recordExited, 9, -1}.encode())
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRecord(bytes.NewReader(data))
		if (err == nil) != (len(data) >= recordSize) {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if err == nil && !bytes.Equal(r.encode(), data[:recordSize]) {
			t.Errorf("%v became %v", data[:recordSize], r.encode())
		}
	})
}
