package runner

import (
	"fmt"
	"strings"

	"ralph/state"
)

func render(e state.Event) string { return fmt.Sprintf("%s %+v\n", e.Kind, e.Data) }

func toolText(t state.Tool) string {
	return strings.TrimSpace(t.Name + " " + strings.Join(strings.Fields(t.Arg), " "))
}
