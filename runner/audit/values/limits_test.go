package values

import (
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"numbers":         {"# agreed\nMIN_DOCUMENTED=100\nMAX_LINE=80\n", "# agreed\nMIN_DOCUMENTED=60\nMAX_LINE=160\n", "MIN_DOCUMENTED = 60 instead of 100; MAX_LINE = 160 instead of 80"},
		"beside a list":   {"max_lines = 20\nexclude = []\n", "max_lines = 25\n# long by nature\nexclude = [\"page.py\"]\n", "max_lines = 25 instead of 20"},
		"levels":          {"unused_must_use = \"deny\"\n", "unused_must_use = \"allow\"\n", `unused_must_use = "allow" instead of "deny"`},
		"JSON":            {"{\n  \"max-len\": 80\n}\n", "{\n  \"max-len\": 100,\n  \"semi\": true\n}\n", "max-len = 100 instead of 80"},
		"another line":    {"max_lines = 20\nplugins\n", "max_lines = 25\n", ""},
		"no limit":        {"port = 80\n", "port = 8080\n", ""},
		"a version":       {"min_sdk = \"1.2.3\"\n", "min_sdk = \"1.2.4\"\n", ""},
		"a dependency":    {"[dependencies]\nrand = \"0.8\"\n", "[dependencies]\nrand = \"0.9\"\n", ""},
		"nothing is gone": {"max_lines = 20\n", "max_lines = 20\nmin_cover = 80\n", ""},
	} {
		if got := strings.Join(Limits(c.before, c.after), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
