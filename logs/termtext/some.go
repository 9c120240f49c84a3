package termtext

import (
	"fmt"
	"strings"
)

// maxName is the width of a name in Some.
const maxName = 200

// Some joins the first names for a line of text: "a, b, c and 2 more".
func Some(names []string, most int) string {
	shown := Each(names[:min(most, len(names))], func(name string) string { return Fit(name, maxName) })
	text := strings.Join(shown, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
