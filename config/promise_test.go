package config

import "testing"

func TestPromises_keysThatProtectOrBound(t *testing.T) {
	for key, want := range map[string]bool{
		"network": true, "read_only_paths": true, "verification": true, "linting": true, "checking": true, "sandboxing.strict": true,
		"budget": true, "READ_ONLY": true, "PROTECTED_PATHS": true, "theme": false, "only_warnings": false, "colour": false,
	} {
		if got := promises(key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}
