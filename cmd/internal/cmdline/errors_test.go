package cmdline

import "testing"

func TestSameTrouble_onlyTheFileDiffers(t *testing.T) {
	full := "write state: write a: no space left on device"
	for other, want := range map[string]bool{"write state: write b: no space left on device": true,
		"write state: write b: permission denied": false, "write plan: write b: no space left on device": false, "x": false} {
		if got := SameTrouble(full, other); got != want {
			t.Errorf("%s: %v", other, got)
		}
	}
}
