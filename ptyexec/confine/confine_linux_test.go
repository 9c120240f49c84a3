package confine

import "testing"

func TestConfig_olderKernel_refusesWhatItCannotDo(t *testing.T) {
	for version := range 12 {
		_, files := (&Limits{}).config(version)
		_, ports := (&Limits{Ports: []uint16{443}}).config(version)
		if (files == nil) != (version >= Min) || (ports == nil) != (version >= TCP) {
			t.Errorf("version %d: files %v, ports %v", version, files, ports)
		}
	}
}
