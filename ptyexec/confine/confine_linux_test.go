package confine

import (
	"encoding/json"
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

func TestEncode_noPorts_isNotTheSameAsEveryPort(t *testing.T) {
	for _, l := range []Limits{{}, {Ports: []uint16{}}, {Ports: []uint16{443}}} {
		var got Limits
		if err := json.Unmarshal([]byte(l.Encode()), &got); err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%+v became %+v, %v", l, got, err)
		}
	}
	if err := Apply(`{"Read":["/"`); err == nil {
		t.Error("torn limits are applied")
	}
}
