package config

import (
	"fmt"
	"strings"
)

// Example returns a .ralphrc with every option commented out at its default.
func Example() string {
	var b strings.Builder
	b.WriteString("# ralph's settings for this project. Remove a # to change a default.\n" +
		"# This file is data: KEY=value with quotes, ${NAME} and ${NAME:-default}. ralph never executes it.\n")
	group := ""
	for _, o := range Table() {
		if o.Group != group {
			group = o.Group
			fmt.Fprintf(&b, "\n# --- %s ---\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n# %s=%s\n", o.Help, o.Key, rcQuote(o.Default))
	}
	return b.String()
}

// rcQuote writes a value the way that .ralphrc reads it back.
func rcQuote(value string) string {
	if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`
}
