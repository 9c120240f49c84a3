package cli

import (
	"strings"
	"testing"
)

func TestWSLAdvice_kernelAndPaths_nameWhatIsSlowOrWrong(t *testing.T) {
	const (
		wsl1 = "4.4.0-19041-Microsoft"
		old2 = "4.19.104-microsoft-standard"
		wsl2 = "5.15.153.1-microsoft-standard-WSL2"
	)
	for _, test := range []struct {
		kernel, dir, program string
		want                 []string
	}{
		{"6.8.0-45-generic", "/mnt/c/work", "/mnt/c/claude", nil},
		{wsl2, "/home/ann/shop", "/home/ann/.local/bin/claude", nil},
		{wsl2, "/mnt/data/shop", "", nil},
		{old2, "/mnt/c", "", []string{"/mnt/c is on a Windows drive"}},
		{wsl2, "/mnt/d/shop", "/mnt/c/Users/Ann B/AppData/Roaming/npm/claude", []string{"/mnt/d/shop is on a Windows drive", "npm/claude is a Windows program"}},
		{wsl1, "/home/ann/shop", "", []string{"this is WSL 1"}},
	} {
		got := wslAdvice(test.kernel, test.dir, test.program)
		if len(got) != len(test.want) {
			t.Errorf("%+v: %q", test, got)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(got[i], want) || strings.Contains(got[i], "\n") {
				t.Errorf("%+v: %q, want %q", test, got[i], want)
			}
		}
	}
}
