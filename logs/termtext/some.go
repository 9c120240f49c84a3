package termtext

import (
	"fmt"
	"strings"
)

// Some joins the first names for a line of text: "a, b, c and 2 more".
func Some(names []string, most int) string {
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
