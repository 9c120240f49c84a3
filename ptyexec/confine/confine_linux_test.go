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

func TestEncode_changesNothing(t *testing.T) {
	for _, l := range []Limits{{}, {Ports: []uint16{}}, {Ports: []uint16{443}}, {Write: []string{}},
		{Read: []string{"/a\xff"}, Write: []string{"/\xfe/\u00e9", "/b"}}} {
		if got, err := decode(l.Encode()); err != nil || !reflect.DeepEqual(*got, l) {
			t.Errorf("%+v became %+v, %v", l, got, err)
		}
	}
	if err := Apply(`{"Read":["/"`); err == nil {
		t.Error("torn limits are applied")
	}
}
