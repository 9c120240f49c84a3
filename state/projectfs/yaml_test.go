package projectfs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestUnmarshal_bombs_areRefusedAtOnce(t *testing.T) {
	aliases := "a0: [x, x]\n"
	for i := range 30 {
		aliases += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9))
	}
	for name, text := range map[string]string{
		"aliases": aliases, "size": strings.Repeat("# x\n", 1<<20),
		"[": strings.Repeat("[", 100_000), "{": strings.Repeat("{a: ", 50_000), "-": strings.Repeat("- ", 100_000),
		"?": strings.Repeat("? ", 100_000),
	} {
		start := time.Now()
		var v any
		err := UnmarshalYAML([]byte(text), &v)
		if err == nil || time.Since(start) > 10*time.Second {
			t.Errorf("%s: %v after %s", name, err, time.Since(start))
		}
	}
}

func TestUnmarshal_usualText_isRead(t *testing.T) {
	for _, text := range []string{
		"", "a: 1", "a: [1, {b: [c]}]\n", "- a\n- b: {}\n", "a: |\n  * x\n  &y [[[\n", "a: '" + strings.Repeat("[", 1000) + "'\n", "a: &b 1\n",
		strings.Repeat("- a: [x]\n", 1000),
	} {
		var v any
		if err := UnmarshalYAML([]byte(text), &v); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}
