package confine

import (
	"reflect"
	"testing"
)

func TestHandled_olderKernel_refusesWhatItCannotDo(t *testing.T) {
	for version := range 12 {
		_, files := (&Limits{}).handled(version)
		_, ports := (&Limits{Ports: []uint16{443}}).handled(version)
		if (files == nil) != (version >= Min) || (ports == nil) != (version >= TCP) {
			t.Errorf("version %d: files %v, ports %v", version, files, ports)
		}
	}
}

func TestDecode_isWhatWasEncoded(t *testing.T) {
	for _, l := range []Limits{
		{}, {Processes: 8192}, {Ports: []uint16{}}, {Ports: []uint16{0, 443, 65535}},
		{Processes: 1, Read: []string{"/", "/a b\nr/c", "/\xff"}, Write: []string{"/tmp", ""}, Ports: []uint16{80}},
	} {
		got, err := decode(l.Encode())
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%+v became %+v, %v", l, got, err)
		}
	}
	if got, err := decode((*Limits)(nil).Encode()); err != nil || !reflect.DeepEqual(got, Limits{}) {
		t.Errorf("nothing became %+v, %v", got, err)
	}
	for _, torn := range []string{"r/path", "x1\x00", "\x00", "n\x00", "n-1\x00", "t\x00p65536\x00"} {
		if got, err := decode(torn); err == nil {
			t.Errorf("%q became %+v", torn, got)
		}
	}
}
